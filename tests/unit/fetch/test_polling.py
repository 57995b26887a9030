"""A feed is asked no oftener than the server wants to be asked."""

from __future__ import annotations

from datetime import timedelta

from ghcrawl.values.outcome import Fetched, Throttled, Unchanged
from tests.support.builders import NOW, a_request
from tests.support.clock import FakeClock
from tests.unit.fetch.conftest import Start
from tests.unit.fetch.scripted import Scripted, a_stored, no, ok

FEED = "/orgs/acme/events?per_page=100"


async def test_a_feed_is_left_alone_for_as_long_as_it_says(start: Start, server: Scripted, clock: FakeClock) -> None:
    url = server.script(FEED, ok([], X_Poll_Interval="90"))
    fetcher = await start()
    request = a_request(type="events", url=url)

    assert isinstance(await fetcher.fetch(request, None), Fetched)
    clock.advance(89)
    told = await fetcher.fetch(request, None)
    assert told == Throttled(until=NOW + timedelta(seconds=90), reason="poll_interval")
    assert len(server.hits) == 1
    clock.advance(1)
    assert isinstance(await fetcher.fetch(request, None), Fetched)


async def test_feeds_that_may_be_asked_again_are_forgotten(start: Start, server: Scripted, clock: FakeClock) -> None:
    fetcher = await start()
    for number in range(5):
        url = server.script(f"/repos/acme/{number}/events", ok([], X_Poll_Interval="60"))
        await fetcher.fetch(a_request(type="events", url=url), None)
        clock.advance(61)
    assert len(fetcher._calls._polled) == 1


async def test_an_unchanged_feed_says_how_long_too(start: Start, server: Scripted, clock: FakeClock) -> None:
    url = server.script(FEED, ok([], ETag='"a"', X_Poll_Interval="60"), no(304, X_Poll_Interval="300"))
    fetcher = await start()
    request = a_request(type="events", url=url)
    first = await fetcher.fetch(request, None)
    assert isinstance(first, Fetched)
    clock.advance(60)
    stored = a_stored(url=url, validator=first.validator)

    assert isinstance(await fetcher.fetch(request, stored), Unchanged)
    clock.advance(299)
    assert isinstance(await fetcher.fetch(request, stored), Throttled)


async def test_refs_say_it_and_are_not_meant_and_nonsense_is_none(start: Start, server: Scripted) -> None:
    refs = server.script("/repos/acme/web/git/refs", ok([], X_Poll_Interval="300"))
    feed = server.script("/repos/acme/web/events", ok([], X_Poll_Interval="soon"))
    fetcher = await start()
    for url in (refs, feed):
        assert isinstance(await fetcher.fetch(a_request(url=url), None), Fetched)
        assert isinstance(await fetcher.fetch(a_request(url=url), None), Fetched)
