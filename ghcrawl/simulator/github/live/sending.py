"""Sends webhooks: signed as GitHub signs them, once, and remembered where the receiver failed."""

from __future__ import annotations

import hmac
import time
from collections import Counter, deque
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from hashlib import sha256
from random import Random
from typing import Final
from uuid import UUID

import aiohttp
from msgspec import Struct

from ghcrawl.simulator.github.live.hook import Hook
from ghcrawl.values.jsontext import dumps

TIMEOUT_S: Final = 10.0
"""How long GitHub waits for an answer."""
USER_AGENT: Final = "GitHub-Hookshot/5117671"
HOOK_ID: Final = 471_000_001


class Parcel(Struct, frozen=True, kw_only=True):
    """One delivery as bytes, and the headers that it goes with."""

    id: str
    event: str
    action: str | None
    body: bytes
    headers: Mapping[str, str]


def pack(hook: Hook, delivery_id: str, secret: str, *, target: int = 0) -> Parcel:
    """`hook` signed with `secret`. target: id of the repository or organisation that the webhook is of."""
    body = dumps(hook.payload)
    headers = {
        "Content-Type": "application/json",
        "User-Agent": USER_AGENT,
        "X-GitHub-Event": hook.event,
        "X-GitHub-Delivery": delivery_id,
        "X-GitHub-Hook-ID": str(HOOK_ID),
        "X-GitHub-Hook-Installation-Target-Type": "organization",
        "X-GitHub-Hook-Installation-Target-ID": str(target),
        "X-Hub-Signature-256": f"sha256={hmac.new(secret.encode(), body, sha256).hexdigest()}",
    }
    return Parcel(id=delivery_id, event=hook.event, action=hook.payload.get("action"), body=body, headers=headers)


@dataclass(slots=True)
class Sender:
    """Sends parcels to one URL. Like GitHub, it sends nothing again unless it is told to.

    told: of every parcel sent, the status that it was answered with and the seconds that took.
    """

    url: str
    secret: str
    rng: Random
    failed: deque[Parcel] = field(default_factory=lambda: deque(maxlen=10_000))
    answers: Counter[int] = field(default_factory=Counter)
    told: Callable[[Parcel, int, float], None] = lambda _parcel, _status, _seconds: None

    def pack(self, hook: Hook, *, target: int = 0) -> Parcel:
        """`hook` with an id of its own."""
        return pack(hook, str(UUID(int=self.rng.getrandbits(128), version=4)), self.secret, target=target)

    async def send(self, session: aiohttp.ClientSession, parcel: Parcel) -> int:
        """The status that it was answered with; 0 where there was none. Anything but 2xx has failed."""
        began = time.monotonic()
        try:
            async with session.post(
                self.url,
                data=parcel.body,
                headers=dict(parcel.headers),
                timeout=aiohttp.ClientTimeout(total=TIMEOUT_S),
                allow_redirects=False,
            ) as answer:
                status = answer.status
        except (aiohttp.ClientError, TimeoutError):
            status = 0
        self.answers[status] += 1
        self.told(parcel, status, time.monotonic() - began)
        if not 200 <= status < 300:
            self.failed.append(parcel)
        return status

    async def send_failed(self, session: aiohttp.ClientSession) -> int:
        """Send all failed ones once more, as a redelivery does. Returns how many failed again."""
        parcels, again = list(self.failed), 0
        self.failed.clear()
        for parcel in parcels:
            again += not 200 <= await self.send(session, parcel) < 300
        return again
