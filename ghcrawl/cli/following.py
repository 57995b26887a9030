"""What keeps a crawl going after it is complete: feeds are polled, and now and then every list is audited.

Feeds tell of what is new, hardly ever of what was edited, and never of what is gone; audits find that.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from typing import Final

from ghcrawl.model import Document, Push, Request
from ghcrawl.platform import Platform
from ghcrawl.ports import Clock, DocumentFilter, Queue, Store

POLL_EVERY: Final = timedelta(seconds=60)
AUDIT_EVERY: Final = timedelta(hours=24)
LOOK_EVERY: Final = timedelta(minutes=10)
"""How often to look which repositories are private: those are in no feed but their own."""


@dataclass(slots=True, kw_only=True)
class Follower:
    """Follows the things that `roots` name. Whoever holds it calls `attend` again and again."""

    platform: Platform
    queue: Queue
    store: Store
    clock: Clock
    roots: Sequence[Request]
    poll_every: timedelta = POLL_EVERY
    audit_every: timedelta = AUDIT_EVERY
    _next_poll: datetime | None = None
    _next_audit: datetime | None = None
    _next_look: datetime | None = None
    _private: tuple[Request, ...] = ()

    async def attend(self, *, complete: bool) -> None:
        """Queue whatever is due. complete: what was crawled is there, so that it can be audited. Raises QueueError."""
        now = self.clock.now()
        if self._next_poll is None or now >= self._next_poll:
            self._next_poll = now + self.poll_every
            await self._push(await self._feeds(now), now)
        if not complete:
            return
        if self._next_audit is None:
            self._next_audit = now + self.audit_every
        elif now >= self._next_audit:
            self._next_audit = now + self.audit_every
            await self._push([replace(root, policy=_audit(root.policy)) for root in self.roots], now)

    async def _push(self, requests: Sequence[Request], now: datetime) -> None:
        await self.queue.push([Push(request=replace(each, asked_at=now), queue="immediate") for each in requests])

    async def _feeds(self, now: datetime) -> list[Request]:
        """Of the roots, as whatever kind they turned out to be, and of what is private there."""
        feeds, known = [], []
        for root in self.roots:
            found = [each for each in await self.store.find(root.url) if each.deleted_at is None]
            found += [] if found else await self.store.find(_as_user(root.url))
            known += found
            places = [(each.type, each.url) for each in found] or [(root.type, root.url)]
            feeds += [feed for type, url in places if (feed := self.platform.feed(type, url)) is not None]
        if self._next_look is None or now >= self._next_look:
            self._next_look = now + LOOK_EVERY
            self._private = tuple([feed async for feed in self._private_feeds(known)])
        return [*feeds, *self._private]

    async def _private_feeds(self, known: Sequence[Document]) -> AsyncIterator[Request]:
        owners = {each.urn for each in known}
        async for each in self.store.list(DocumentFilter(types=("repo",), deleted=False)):
            theirs = any(link.href in owners for link in each.links.values()) and each.urn not in owners
            feed = self.platform.feed(each.type, each.url) if theirs and each.body.get("private") is True else None
            if feed is not None:
                yield feed


def _as_user(url: str) -> str:
    return url.replace("/orgs/", "/users/", 1)


def _audit(policy: str) -> str:
    """The same place in the visitor map, with every list read from end to end."""
    _, colon, position = policy.partition(":")
    return f"audit{colon}{position}"
