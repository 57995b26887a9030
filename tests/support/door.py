"""Where webhooks go in over HTTP, in this process; and where they are refused, if that is wished for."""

from __future__ import annotations

from collections import Counter
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field

from aiohttp import web
from aiohttp.test_utils import TestServer

from ghcrawl.admin.problems import Problem
from ghcrawl.admin.secret_lines import SecretLines
from ghcrawl.admin.webhook import SECRETS, Intake, Webhook
from tests.support.living import Living

SECRET = "webhook-secret"


@dataclass
class Door:
    """Where deliveries go in. open: else they are answered 503."""

    webhook: Webhook | None = None
    open: bool = True
    url: str = ""
    answers: Counter[int] = field(default_factory=Counter)

    async def handle(self, request: web.Request) -> web.StreamResponse:
        answer: web.StreamResponse = web.Response(status=202 if self.open else 503)
        if self.webhook is not None and self.open:
            try:
                answer = await self.webhook.handle(request)
            except Problem as problem:
                answer = problem.response()
        self.answers[answer.status] += 1
        return answer


@asynccontextmanager
async def standing(door: Door) -> AsyncIterator[Door]:
    app = web.Application(client_max_size=2**25)
    app.router.add_post("/webhook", door.handle)
    async with TestServer(app) as server:
        door.url = str(server.make_url("/webhook"))
        yield door


def webhook(it: Living) -> Webhook:
    backend = it.service.backend
    return Webhook(
        Intake(
            senders=[each.deliveries for each in it.service.platforms.values() if each.deliveries],
            inbox=backend.inbox,
            idempotency_keys=backend.idempotency_keys,
            clock=backend.clock,
            secrets=SecretLines(SECRET, "", SECRETS),
            count=lambda _event, _result: None,
        )
    )
