"""What is polled, and when everything is looked at again."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import ghcrawl.platforms.github
from ghcrawl.cli.following import Follower
from ghcrawl.schedule.asking import watch, watched
from ghcrawl.values.documents import Link
from ghcrawl.values.requests import Request
from ghcrawl.values.type_names import LEGACY_PLATFORM
from queues.memory import MemoryQueue
from stores.memory import MemoryStore
from stores.sources import MemorySources
from tests.support.builders import API, a_document
from tests.support.clock import FakeClock

PLATFORM = ghcrawl.platforms.github.platform()
ACME = Request(platform=LEGACY_PLATFORM, type="org", url=f"{API}/orgs/acme", policy="refresh:org")


class Bench:
    def __init__(self, *roots: Request) -> None:
        self.clock, self.store = FakeClock(), MemoryStore()
        self.queue, self.sources = MemoryQueue(self.clock), MemorySources()
        self.follower = Follower(
            platforms={"github": PLATFORM},
            queue=self.queue,
            store=self.store,
            sources=self.sources,
            clock=self.clock,
            roots=roots or (ACME,),
        )

    async def attend(self, *, complete: bool = True) -> Sequence[str]:
        """What is queued, as `type@url policy`."""
        await self.queue.purge("immediate")
        await self.follower.attend(complete=complete)
        return [f"{each.name} {each.policy}" for each in await self.queue.peek("immediate", limit=50)]

    async def keep(self, type: str, number: int, url: str, **over: Any) -> None:
        body = {"id": number, **over.pop("body", {})}
        await self.store.save(a_document(urn=f"urn:{type}:{number}", type=type, url=url, body=body, **over))


POLL = f"org@{ACME.url} storageOriginIfMissing+match:self"


async def test_the_feed_is_polled_at_once_and_then_every_minute():
    bench = Bench()

    assert await bench.attend(complete=False) == [POLL]
    bench.clock.advance(59)
    assert await bench.attend() == []
    bench.clock.advance(1)
    assert await bench.attend() == [POLL]
    (request,) = await bench.queue.peek("immediate", limit=1)
    assert request.asked_at == bench.clock.now()
    assert [deferred.type for deferred in request.context.then] == ["events"]


async def test_what_is_private_is_polled_by_itself_and_strangers_are_not():
    bench = Bench()
    ours = {"owner": Link(type="resource", href="urn:org:9")}
    theirs = {"owner": Link(type="resource", href="urn:org:8")}
    await bench.keep("org", 9, ACME.url)
    await bench.keep("repo", 1, f"{API}/repos/acme/secret", links=ours, body={"private": True})
    await bench.keep("repo", 2, f"{API}/repos/acme/open", links=ours, body={"private": False})
    await bench.keep("repo", 3, f"{API}/repos/globex/secret", links=theirs, body={"private": True})

    polled = await bench.attend()
    assert [each.partition(" ")[0] for each in polled] == [f"org@{ACME.url}", f"repo@{API}/repos/acme/secret"]


async def test_what_is_watched_is_left_to_the_schedule():
    bench = Bench()
    await watch(bench.sources, bench.store, {"github": PLATFORM.feed}, [watched("github", PLATFORM.feed, ACME)])

    assert await bench.attend() == []


async def test_a_name_that_turned_out_to_be_a_users_is_polled_as_a_user():
    bench = Bench()
    await bench.keep("user", 5, f"{API}/users/acme")

    assert [each.partition(" ")[0] for each in await bench.attend()] == [f"user@{API}/users/acme"]


async def test_once_a_day_after_all_is_there_every_list_is_audited():
    bench = Bench()
    await bench.attend(complete=False)
    bench.clock.advance(90_000)
    assert [each for each in await bench.attend() if "audit" in each] == []
    bench.clock.advance(86_399)
    assert [each for each in await bench.attend() if "audit" in each] == []
    bench.clock.advance(1)
    assert f"org@{ACME.url} audit:org" in await bench.attend()
