"""Webhooks as GitHub keeps them: the deliveries of each, their results, and redelivery on request.

GET /orgs/ORG/hooks; below each of them, and below /app/hook, GET /deliveries and POST /deliveries/ID/attempts. The same
for /repos/OWNER/NAME.
"""

from __future__ import annotations

import asyncio
import re
from collections import deque
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from http import HTTPStatus
from typing import Any, Final
from urllib.parse import urlencode

import aiohttp
from msgspec import Struct

from ghcrawl.ports.clock import Clock
from ghcrawl.simulator.answers import Answer, Refusal
from ghcrawl.simulator.github.live.sending import HOOK_ID, Parcel, Sender
from ghcrawl.simulator.github.moments import stamp
from ghcrawl.simulator.github.paging import per_page
from ghcrawl.simulator.github.refusals import not_found, refused

KEPT: Final = timedelta(days=3)
REMEMBERED: Final = 20_000
"""Of each webhook; a busy world forgets sooner than three days."""
FIRST_DELIVERY: Final = 12_077_000_001
NO_CONNECTION: Final = "failed to connect to host"
_CURSOR: Final = re.compile(r"v1_(\d{1,18})")
_ROUTE: Final = re.compile(
    r"/(?:(?P<app>app)/hook|(?P<owner>orgs/[^/]+|repos/[^/]+/[^/]+)/hooks(?:/(?P<hook>\d+))?)"
    r"(?P<deliveries>/deliveries(?:/(?P<delivery>\d+)/attempts)?)?"
)


class Sent(Struct, frozen=True, kw_only=True):
    """One try to hand over a parcel. status: 0 where there was no answer."""

    id: int
    parcel: Parcel
    at: datetime
    status: int
    seconds: float
    redelivery: bool

    def shape(self) -> Mapping[str, Any]:
        """As lists show it."""
        status, code = NO_CONNECTION, 502
        if self.status:
            status, code = "OK" if 200 <= self.status < 300 else HTTPStatus(self.status).phrase, self.status
        return {
            "id": self.id,
            "guid": self.parcel.id,
            "delivered_at": stamp(self.at),
            "redelivery": self.redelivery,
            "duration": round(self.seconds, 2),
            "status": status,
            "status_code": code,
            "event": self.parcel.event,
            "action": self.parcel.action,
            "installation_id": None,
            "repository_id": None,
            "throttled_at": None,
        }


@dataclass(slots=True, kw_only=True)
class Webhook:
    """One webhook of an App, an organisation or a repository. sent: oldest first."""

    id: int
    place: str
    sender: Sender
    sent: deque[Sent] = field(default_factory=lambda: deque(maxlen=REMEMBERED))
    guids: set[str] = field(default_factory=set)

    def shape(self, base: str) -> Mapping[str, Any]:
        """As lists show it."""
        url = f"{base}/{self.place}/hooks/{self.id}"
        return {
            "type": "Organization" if self.place.startswith("orgs/") else "Repository",
            "id": self.id,
            "name": "web",
            "active": True,
            "events": ["*"],
            "config": {
                "content_type": "json",
                "insecure_ssl": "0",
                "secret": "********",
                "url": self.sender.url,
            },
            "url": url,
            "ping_url": f"{url}/pings",
            "deliveries_url": f"{url}/deliveries",
        }


class Webhooks:
    """All webhooks of one GitHub. Places are `app`, `orgs/LOGIN` and `repos/OWNER/NAME`."""

    def __init__(self, base: str, clock: Clock) -> None:
        self._base = base
        self._clock = clock
        self._hooks: list[Webhook] = []
        self._next = FIRST_DELIVERY
        self._again: set[asyncio.Task[None]] = set()

    def add(self, place: str, sender: Sender) -> Webhook:
        """From now on everything that `sender` sends is kept as a delivery of a webhook of `place`."""
        hook = Webhook(id=HOOK_ID + len(self._hooks), place=place.lower(), sender=sender)
        self._hooks.append(hook)
        sender.told = lambda parcel, status, seconds: self._keep(hook, parcel, status, seconds)
        return hook

    async def close(self) -> None:
        """Nothing is being sent again any more."""
        for task in self._again:
            task.cancel()
        await asyncio.gather(*self._again, return_exceptions=True)

    def place_of(self, path: str) -> str | None:
        """Whose webhooks that path is about; None: it is not about webhooks."""
        found = _ROUTE.fullmatch(path)
        return None if found is None else (found["app"] or found["owner"]).lower()

    def answer(self, method: str, path: str, params: Mapping[str, str]) -> Answer:
        """The answer to an administrator of the place. Raises Refusal."""
        found = _ROUTE.fullmatch(path)
        assert found is not None, "whoever asks has asked for the place before"
        hooks = [hook for hook in self._hooks if hook.place == (found["app"] or found["owner"]).lower()]
        if found["owner"] and found["hook"] is None:
            return Answer(status=200, body=[hook.shape(self._base) for hook in hooks])
        hook = next((hook for hook in hooks if found["hook"] in (None, str(hook.id))), None)
        if hook is None or not found["deliveries"] or (method == "POST") != bool(found["delivery"]):
            raise not_found()
        if method == "POST":
            return self._send_again(hook, int(found["delivery"]))
        return self._page(hook, path, params)

    def _page(self, hook: Webhook, path: str, params: Mapping[str, str]) -> Answer:
        since, start = self._clock.now() - KEPT, _start(params.get("cursor", ""))
        size = per_page(params)
        kept = [sent for sent in reversed(hook.sent) if sent.at >= since and (start is None or sent.id <= start)]
        headers = {}
        if len(kept) > size:
            query = urlencode({"per_page": size, "cursor": f"v1_{kept[size].id}"})
            headers["Link"] = f'<{self._base}{path}?{query}>; rel="next"'
        return Answer(status=200, body=[sent.shape() for sent in kept[:size]], headers=headers)

    def _send_again(self, hook: Webhook, id: int) -> Answer:
        sent = next((sent for sent in hook.sent if sent.id == id), None)
        if sent is None or sent.at < self._clock.now() - KEPT:
            raise not_found()
        task = asyncio.create_task(_sent_by(hook.sender, sent.parcel), name="redelivery")
        self._again.add(task)
        task.add_done_callback(self._again.discard)
        return Answer(status=202, body={})

    def _keep(self, hook: Webhook, parcel: Parcel, status: int, seconds: float) -> None:
        sent = Sent(
            id=self._next,
            parcel=parcel,
            at=self._clock.now(),
            status=status,
            seconds=seconds,
            redelivery=parcel.id in hook.guids,
        )
        hook.sent.append(sent)
        hook.guids.add(parcel.id)
        self._next += 1


async def _sent_by(sender: Sender, parcel: Parcel) -> None:
    async with aiohttp.ClientSession() as session:
        await sender.send(session, parcel)


def _start(cursor: str) -> int | None:
    """The first delivery of a page. Raises Refusal (422)."""
    found = _CURSOR.fullmatch(cursor)
    if cursor and found is None:
        raise Refusal(refused(422, "The cursor is invalid"))
    return int(found[1]) if found else None
