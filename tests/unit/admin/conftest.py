"""A service on memory adapters, and somebody who asks it."""

from __future__ import annotations

import asyncio
import hmac
import json
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from hashlib import sha256
from itertools import count
from math import inf
from typing import Any

import pytest
from aiohttp import ClientResponse
from aiohttp.test_utils import TestClient, TestServer

from ghcrawl.admin.access import TOKENS, Access
from ghcrawl.admin.routing import Bounds
from ghcrawl.admin.secret_lines import SecretLines
from ghcrawl.admin.server import RUNNER, application
from ghcrawl.admin.sign_ins import SignIns
from ghcrawl.admin.site import Site, Workers
from ghcrawl.admin.webhook import SECRETS, Intake, Webhook
from ghcrawl.platforms.contract import Deliveries, Platform
from ghcrawl.platforms.kind import Thing
from ghcrawl.ports.deadletters import DeadletterFilter, Forgotten, Requeued
from ghcrawl.ports.source import BudgetView, PrincipalView
from ghcrawl.redelivery.sweep import Pace
from ghcrawl.redelivery.sweep_schedule import Redelivery
from ghcrawl.schedule.watching import WatchedHere
from ghcrawl.settings.live import Base, LiveSettings
from ghcrawl.telemetry.history import History
from ghcrawl.telemetry.instrumented import Turn
from ghcrawl.values.errors import SpecError
from ghcrawl.values.frozen import replace
from ghcrawl.values.jsontext import JsonObject
from ghcrawl.values.lanes import QueueName
from ghcrawl.values.requests import Payload, Request
from ghcrawl.values.type_names import LEGACY_PLATFORM
from ghcrawl.values.visitor_map import Scenarios
from ghcrawl.wiring import SETTINGS
from queues import codec
from queues.memory import MemoryQueue
from queues.memory_dedup import MemoryDedupMarkers
from stores.deadletters import TimeBudget, forget, requeue
from stores.idempotency_keys import MarkerIdempotencyKeys
from stores.inbox import SequentialInbox
from stores.memory import MemoryDeadletters, MemoryStore
from stores.sources import MemorySources
from tests.support.builders import API, NOW, a_request
from tests.support.clock import FakeClock
from tests.support.library import book
from tests.support.platforms import ApiSection, mounted, never_opened
from tests.support.tried import Tried

TOKEN = "operator-token"
READER = "reader-token"
SECRET = "webhook-secret"


def read_spec(typed: str, api_url: str, policy: str) -> Request:
    if " " in typed:
        raise SpecError(f"nobody can read {typed!r}")
    kind = "repo" if "/" in typed else "org"
    url = typed if typed.startswith("http") else f"{api_url}/{kind}s/{typed}"
    return Request(platform=LEGACY_PLATFORM, type=kind, url=url, policy=policy)


def delivered(event: str, delivery: str, body: JsonObject, received_at: datetime) -> Request:
    payload = Payload.of(body, origin="webhook", observed_at=received_at, delivery_id=delivery)
    return Request(
        platform=LEGACY_PLATFORM, type="event", url=f"{API}/{event}#{delivery}", policy="default", payload=payload
    )


KINDS = ("org", "repo", "issue", "event")
PLATFORM = Platform(
    name="github",
    kinds={name: Thing(processor=book, position=name) for name in KINDS},
    scenarios=Scenarios({"default": {name: {} for name in KINDS}}),
    read_spec=read_spec,
    open=never_opened,
    section=ApiSection,
    base="api_url",
    deliveries=Deliveries(
        request=delivered,
        event_header="X-GitHub-Event",
        delivery_header="X-GitHub-Delivery",
        signature_header="X-Hub-Signature-256",
        weak_signature_header="X-Hub-Signature",
        ping="ping",
        max_bytes=25 << 20,
        resent_for=timedelta(days=3),
    ),
)
PRINCIPAL = PrincipalView(
    id="p1",
    label="ghp_…1234",
    traits=("public",),
    budgets=(BudgetView(main=True, resource="core", limit=5000, remaining=4000, reset_at=NOW),),
)


async def at_once(_: float) -> None:
    """A delay that takes no time."""


@dataclass(kw_only=True)
class Rig:
    """One service. over: replaces parts of its site. pieces: how many pairs of deadletters an answer has time for."""

    clock: FakeClock = field(default_factory=FakeClock)
    tokens: str = f"{TOKEN};{READER}#read"
    lines: SecretLines | None = None
    secrets: str = SECRET
    bounds: Bounds = field(default_factory=Bounds)
    over: dict[str, Any] = field(default_factory=dict)
    platform: Platform = PLATFORM
    timeout_s: float = 5.0
    pieces: float = inf
    counted: list[tuple[str, str]] = field(default_factory=list)
    told: asyncio.Event = field(default_factory=asyncio.Event)
    used_tokens: list[str] = field(default_factory=list)
    applied: int = 0
    sign_ins: SignIns = field(default_factory=lambda: SignIns(sleep=at_once))

    def __post_init__(self) -> None:
        self.queue = MemoryQueue(self.clock)
        self.sources = MemorySources()
        self.store = MemoryStore()
        self.deadletters = MemoryDeadletters()
        self.idempotency_keys = MarkerIdempotencyKeys(MemoryDedupMarkers())
        self.live = LiveSettings(self.store, self.clock, Base(model=SETTINGS))
        self.history = History(self.store, self.clock, dict)
        self.tried = Tried(self.clock)
        self.redelivery = Redelivery(self.tried, self.store, self.clock, Pace(every_s=300, gap_s=0), worker="w1")
        self.workers = Workers(
            worker="w1",
            wanted=2,
            running=2,
            busy=1,
            paused=False,
            draining=False,
            restarts=0,
            doing=(Turn(loop="0", since=NOW, request=a_request(7), queue="normal"), Turn(loop="1", since=NOW)),
        )

    def site(self) -> Site:
        site = Site(
            queue=self.queue,
            store=self.store,
            deadletters=self.deadletters,
            idempotency_keys=self.idempotency_keys,
            clock=self.clock,
            mounts=mounted(self.platform),
            live=self.live,
            requeue=self._requeue,
            forget=self._forget,
            write=codec.encode,
            read=codec.decode,
            workers=lambda: self.workers,
            principals=lambda: [PRINCIPAL],
            use_tokens=self._use_tokens,
            figures=lambda: {"requests": {"done": 3}},
            rate=lambda _: 5,
            stored=lambda: self.over.get("store", self.store).counts(),
            buried=lambda: self.over.get("deadletters", self.deadletters).count(DeadletterFilter()),
            applied=self._applied,
            history=self.history.read,
            watching=WatchedHere(
                sources=self.sources,
                store=self.store,
                mounts=mounted(self.platform),
                clock=self.clock,
                policy="default",
            ),
            redelivery=self.redelivery,
        )
        return replace(site, **self.over)

    def intake(self) -> Intake:
        idempotency_keys = self.over.get("idempotency_keys", self.idempotency_keys)
        return Intake(
            senders=[self.platform.deliveries] if self.platform.deliveries else [],
            inbox=SequentialInbox(self.over.get("queue", self.queue), idempotency_keys, self.clock),
            idempotency_keys=idempotency_keys,
            clock=self.clock,
            secrets=SecretLines(self.secrets, "", SECRETS),
            count=self._count,
            timeout_s=self.timeout_s,
        )

    def _count(self, event: str, result: str) -> None:
        self.counted.append((event, result))
        self.told.set()

    async def _requeue(self, which: DeadletterFilter, to: QueueName | None) -> Requeued:
        now, time_budget = self.clock.now(), self._time_budget()
        return await requeue(self.deadletters, self.queue, which, now=now, to=to, time_budget=time_budget)

    async def _forget(self, which: DeadletterFilter) -> Forgotten:
        return await forget(self.deadletters, which, now=self.clock.now(), time_budget=self._time_budget())

    def _time_budget(self) -> TimeBudget:
        """Time for so many pieces of two deadletters each, whatever the machine does."""
        seconds = count()
        return TimeBudget(self.pieces, at_once=2, monotonic=lambda: next(seconds))

    async def _use_tokens(self, text: str) -> None:
        self.used_tokens.append(text)

    async def _applied(self) -> None:
        self.applied += 1

    @asynccontextmanager
    async def running(self, token: str = TOKEN) -> AsyncIterator[Asker]:
        lines = self.lines or SecretLines(self.tokens, "", TOKENS)
        app = application(self.site(), Access(lines, self.sign_ins), Webhook(self.intake()), self.bounds)
        server = TestServer(app)
        await server.start_server(**RUNNER)
        async with TestClient(server) as client:
            yield Asker(client, token)


@dataclass
class Asker:
    """Asks a running service, with a token."""

    client: TestClient[Any, Any]
    token: str = TOKEN

    async def ask(self, method: str, path: str, body: Any = None, **headers: str) -> Answered:
        sent = {"Authorization": f"Bearer {self.token}"} if self.token else {}
        sent |= {name.replace("_", "-"): value for name, value in headers.items()}
        data = None if body is None else json.dumps(body)
        if data is not None:
            sent.setdefault("Content-Type", "application/json")
        return await Answered.of(await self.client.request(method, path, data=data, headers=sent))

    async def get(self, path: str, **headers: str) -> Answered:
        return await self.ask("GET", path, **headers)

    async def post(self, path: str, body: Any = None, **headers: str) -> Answered:
        return await self.ask("POST", path, body, **headers)

    async def deliver(self, body: bytes, **over: str) -> Answered:
        """A delivery as GitHub makes it. A header that is given as empty is left out."""
        headers = {
            "X-GitHub-Event": "issues",
            "X-GitHub-Delivery": "5d3c1f80-0000-11ef-8000-000000000001",
            "Content-Type": "application/json",
            "X-Hub-Signature-256": signature(body),
        }
        headers |= {name.replace("_", "-"): value for name, value in over.items()}
        headers = {name: value for name, value in headers.items() if value}
        return await Answered.of(await self.client.post("/webhook", data=body, headers=headers))


@dataclass
class Answered:
    """An answer, read."""

    status: int
    headers: Mapping[str, str]
    text: str

    @classmethod
    async def of(cls, response: ClientResponse) -> Answered:
        async with response:
            return cls(response.status, response.headers, await response.text())

    @property
    def json(self) -> Any:
        return json.loads(self.text)


def signature(body: bytes, secret: str = SECRET) -> str:
    return f"sha256={hmac.new(secret.encode(), body, sha256).hexdigest()}"


@pytest.fixture
def rig() -> Rig:
    return Rig()


@pytest.fixture
async def asker(rig: Rig) -> AsyncIterator[Asker]:
    async with rig.running() as asker:
        yield asker


Peeked = Callable[[QueueName], Awaitable[Sequence[Request]]]


@pytest.fixture
def waiting(rig: Rig) -> Peeked:
    """What waits in a queue."""

    async def peek(queue: QueueName) -> Sequence[Request]:
        return await rig.queue.peek(queue, limit=1000)

    return peek
