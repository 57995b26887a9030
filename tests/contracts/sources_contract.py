"""What every store of sources does. Bind it by a class with a fixture `sources`."""

from __future__ import annotations

import asyncio

import pytest

from ghcrawl.ports.sources import Sources
from ghcrawl.values.frozen import replace
from ghcrawl.values.source import Estimate, Trace, WatchedSource, source_key

FULL = WatchedSource(
    key=source_key("web", "feed", "https://ü.example/\x00"),
    platform="web",
    type="feed",
    url="https://ü.example/",
    policy="event:feed",
    scope="acme/web",
    named_by="follow",
    estimate=Estimate(20_000.25, 1.5, 20.0, 0.25, 1.125),
    trace=Trace(20_000, bytes(range(30)), bytes(range(24)), tuple(slot / 4 for slot in range(24))),
    page=300,
    free=True,
    due=20_001.5,
    not_before=20_000.5,
    gap=60 / 86_400,
    weight=2.5,
    pin=0.5,
    asked=20_000.75,
    errors=3,
    calls=12,
    items=70_000,
    news=20_000.125,
)


def a_source(name: str, *, platform: str = "web", read: float | None = None, **fields: float) -> WatchedSource:
    key = source_key(platform, "feed", name)
    source = WatchedSource(
        key=key, platform=platform, type="feed", url=f"https://{name}.example/feed", due=fields.pop("due", 0.0)
    )
    return replace(source, estimate=Estimate(last=read))


def names(sources: object) -> list[str]:
    return [each.url.removeprefix("https://").removesuffix(".example/feed") for each in sources]  # type: ignore[attr-defined]


class SourcesContract:
    """Sources come back as they went in, in order of due, and a write that comes too late changes nothing."""

    async def test_a_source_comes_back_as_it_went_in(self, sources: Sources):
        assert await sources.get(FULL.key) is None
        assert await sources.add([FULL]) == 1
        assert await sources.get(FULL.key) == FULL
        new = a_source("new")
        await sources.add([new])
        assert await sources.get(new.key) == new

    async def test_what_is_there_is_not_added_again(self, sources: Sources):
        await sources.add([FULL])
        assert await sources.add([replace(FULL, weight=9.0), a_source("b")]) == 1
        assert await sources.get(FULL.key) == FULL

    async def test_of_two_writes_of_one_version_one_is_taken(self, sources: Sources):
        await sources.add([FULL])
        assert await sources.write([replace(FULL, due=1.0)]) == {FULL.key}
        assert await sources.write([replace(FULL, due=2.0)]) == frozenset()
        stored = await sources.get(FULL.key)
        assert stored == replace(FULL, due=1.0, version=1)
        assert stored is not None
        assert await sources.write([replace(stored, due=3.0)]) == {FULL.key}

    async def test_of_many_at_once_one_is_taken(self, sources: Sources):
        await sources.add([FULL])
        done = await asyncio.gather(*(sources.write([replace(FULL, due=float(n))]) for n in range(10)))
        assert sum(map(len, done)) == 1

    async def test_what_is_gone_is_not_written(self, sources: Sources):
        await sources.add([FULL, a_source("b")])
        assert await sources.remove([FULL.key, "none"]) == 1
        assert await sources.write([FULL]) == frozenset()
        assert await sources.get(FULL.key) is None
        assert await sources.remove([]) == 0

    async def test_those_due_first_come_first_by_platform(self, sources: Sources):
        await sources.add([a_source(str(n), due=float(n * 7 % 5)) for n in range(5)])
        await sources.add([a_source("other", platform="git", due=-1.0)])
        assert names(await sources.due("web", 3)) == ["0", "3", "1"]
        assert len(await sources.due("web", 100)) == 5
        assert await sources.due("web", 0) == []
        assert await sources.due("nowhere", 10) == []
        first, *_ = await sources.due("web", 1)
        await sources.write([replace(first, due=99.0)])
        assert names(await sources.due("web", 100))[-1] == "0"

    async def test_those_unread_longest_come_first_and_never_those_that_were_never_read(self, sources: Sources):
        await sources.add([a_source(str(n), read=float(n * 7 % 5)) for n in range(5)])
        await sources.add([a_source("new"), a_source("other", platform="git", read=0.0)])
        assert names(await sources.oldest("web", 9, before=3.0)) == ["0", "3", "1"]
        assert names(await sources.oldest("web", 2, before=3.0)) == ["0", "3"]

    async def test_keys_are_walked_in_order(self, sources: Sources):
        await sources.add([a_source(str(n)) for n in range(9)])
        await sources.add([a_source("other", platform="git")])
        seen: list[WatchedSource] = []
        while page := await sources.list(limit=4, after=seen[-1].key if seen else ""):
            seen += page
        assert [each.key for each in seen] == sorted(each.key for each in seen)
        assert len(seen) == 10
        assert len(await sources.list("git", limit=100)) == 1
        assert [await sources.count(platform) for platform in ("web", "git", "none")] == [9, 1, 0]

    async def test_nothing_is_there_at_first(self, sources: Sources):
        assert await sources.due("web", 5) == []
        assert await sources.oldest("web", 5, before=1e9) == []
        assert await sources.list(limit=5) == []
        assert await sources.count("web") == 0

    @pytest.mark.parametrize("count", [120])
    async def test_many_are_written_in_one_call(self, sources: Sources, count: int):
        many = [a_source(str(n)) for n in range(count)]
        assert await sources.add(many) == count
        assert len(await sources.write([replace(each, due=5.0) for each in many])) == count
