"""What keeps a crawl going after it is complete: feeds are polled, and now and then every list is audited.

Feeds tell of what is new, hardly ever of what was edited, and never of what is gone; audits find that.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Container, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Final

from ghcrawl.platforms.contract import Platform
from ghcrawl.platforms.kind import alternative
from ghcrawl.ports.clock import Clock
from ghcrawl.ports.queue import Queue
from ghcrawl.ports.sources import Sources
from ghcrawl.ports.store import DocumentFilter, Store
from ghcrawl.schedule.asking import answering
from ghcrawl.values.documents import Document
from ghcrawl.values.frozen import replace
from ghcrawl.values.policy import parse
from ghcrawl.values.requests import Push, Request
from ghcrawl.values.source import source_key
from ghcrawl.values.type_names import TypeName

POLL_EVERY: Final = timedelta(seconds=60)
AUDIT_EVERY: Final = timedelta(hours=24)
LOOK_EVERY: Final = timedelta(minutes=10)
"""How often to look for things that are in no feed but their own."""


@dataclass(slots=True, kw_only=True)
class Follower:
    """Follows the things that `roots` name. `attend` is called periodically."""

    platforms: Mapping[str, Platform]
    queue: Queue
    store: Store
    sources: Sources
    clock: Clock
    roots: Sequence[Request]
    poll_every: timedelta = POLL_EVERY
    audit_every: timedelta = AUDIT_EVERY
    _next_poll: datetime | None = None
    _next_audit: datetime | None = None
    _next_look: datetime | None = None
    _separate: tuple[Request, ...] = ()

    async def attend(self, *, complete: bool) -> None:
        """Queue what is due. complete: the first crawl is done, so that it can be audited. Raises QueueError."""
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
        """The roots, as the kinds they turned out to be, and the private things among them."""
        feeds, known = [], []
        for root in self.roots:
            found = [each for each in await self.store.find(root.url) if each.deleted_at is None]
            found += [] if found else await self._found_instead(root)
            known += found
            places = [(each.type, each.url) for each in found] or [(root.type, root.url)]
            asking = self.platforms[root.platform].feed
            feeds += [feed for type, url in places if asking and (feed := asking.request(type, url)) is not None]
        if self._next_look is None or now >= self._next_look:
            self._next_look = now + LOOK_EVERY
            owners = {each.urn for each in known}
            self._separate = tuple([feed async for feed in self._separate_feeds(owners)])
        return [feed for feed in (*feeds, *self._separate) if not await self._is_watched(feed)]

    async def _is_watched(self, feed: Request) -> bool:
        """Whether the schedule asks it anyway, as often as its news deserve."""
        return await self.sources.get(source_key(feed.platform, *answering(feed))) is not None

    async def _found_instead(self, root: Request) -> Sequence[Document]:
        """What was found where the URL of `root` did not exist."""
        instead = alternative(self.platforms[root.platform].kinds[root.type], root)
        return await self.store.find(instead.url) if instead is not None else ()

    async def _separate_feeds(self, owners: Container[str]) -> AsyncIterator[Request]:
        """Of things whose owner is followed, and whose feed says more than the owner's."""
        for platform, feed in [(name, each.feed) for name, each in self.platforms.items()]:
            if feed is None or not feed.separate:
                continue
            which = DocumentFilter(types=(TypeName(platform, feed.separate),), deleted=False)
            async for thing in self.store.list(which):
                theirs = any(link.href in owners for link in thing.links.values()) and thing.urn not in owners
                polled = feed.request(thing.type, thing.url) if theirs and feed.is_separate(thing) else None
                if polled is not None:
                    yield polled


def _audit(policy: str) -> str:
    """The same place in the visitor map, with every list read from end to end."""
    return parse(policy).named("audit").spec
