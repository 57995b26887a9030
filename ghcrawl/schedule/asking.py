"""Requests that ask watched sources, and what makes something a watched source."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final

from ghcrawl.platforms.contract import Feed
from ghcrawl.ports.sources import Sources
from ghcrawl.ports.store import Store
from ghcrawl.schedule.poolstate import from_json, state_name, to_json
from ghcrawl.values.frozen import replace
from ghcrawl.values.requests import Context, Request
from ghcrawl.values.source import DAY_S, WatchedSource, source_key

TICK_D: Final = 60.0 / DAY_S


def asking(platform: str, feed: Feed | None, source: WatchedSource) -> Request:
    """The request that asks `source`: for its feed where it has one, else for itself."""
    polled = feed.request(source.type, source.url) if feed else None
    if polled is not None:
        return polled
    context = Context(scope=source.scope)
    return Request(platform=platform, type=source.type, url=source.url, policy=source.policy, context=context)


def answering(request: Request) -> tuple[str, str]:
    """Type and URL of the request whose answer is the reading: its last deferred request, or itself."""
    if request.context.then:
        deferred = request.context.then[-1]
        return deferred.type, deferred.url
    return request.type, request.url


def watched(platform: str, feed: Feed | None, request: Request) -> WatchedSource:
    """The source that a person means who names `request`."""
    polled = feed.request(request.type, request.url) if feed else None
    type, url = answering(polled if polled is not None else request)
    return WatchedSource(
        key=source_key(platform, type, url),
        platform=platform,
        type=request.type,
        url=request.url,
        policy=str(request.policy),
        scope=request.context.scope,
        page=feed.page if feed and polled is not None else 100,
        gap=feed.gap.total_seconds() / DAY_S if feed and polled is not None else TICK_D,
    )


async def watch(
    sources: Sources, store: Store, feeds: Mapping[str, Feed | None], wanted: Sequence[WatchedSource]
) -> int:
    """Add sources, and let every replica know which answers to read. Returns how many are new. Raises StoreError."""
    added = await sources.add(wanted)
    for platform in {each.platform for each in wanted}:
        feed = feeds.get(platform)
        types = {answering(asking(platform, feed, each))[0] for each in wanted if each.platform == platform}
        while True:
            before = await store.read_state(state_name(platform))
            state = from_json(before)
            if types <= state.types:
                break
            after = to_json(replace(state, types=state.types | types))
            if await store.swap_state(state_name(platform), before, after):
                break
    return added
