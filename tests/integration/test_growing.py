"""Relations that grow at their end: what is new costs what is new, and what is gone shows where it can."""

from __future__ import annotations

from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from pathlib import Path

from ghcrawl.simulator.github import changes
from ghcrawl.simulator.github.changes.change import Change
from ghcrawl.simulator.github.generation.size import TINY
from ghcrawl.simulator.github.live.payloads import hooks
from ghcrawl.simulator.github.people import User
from ghcrawl.simulator.github.records import Star
from ghcrawl.values.frozen import replace
from ghcrawl.values.requests import Push
from tests.support.living import Living, living

ONLY = "default__only__stargazers/"


@asynccontextmanager
async def starred(folder: Path, stars: int) -> AsyncIterator[tuple[Living, list[User]]]:
    """A repository with so many stars that was crawled, and users who have not starred it."""
    size = replace(TINY, users=stars + 120, stars=0, quirks=False, issues=1, commits=1)
    async with living(folder, size, rate=600) as it:
        world, repo = it.stage.world, it.stage.repo
        users = [one for one in world.accounts.values() if isinstance(one, User)]
        for number, user in enumerate(users[:stars]):
            repo.records.stars[user.id] = Star(
                user=user, starred_at=f"2012-01-01T00:{number // 60:02}:{number % 60:02}Z"
            )
        await crawl(it, "default")
        assert await named(it) == truth(it)
        it.stage.server.journal.clear()
        yield it, users[stars:]


async def crawl(it: Living, policy: str) -> None:
    spec, now = f"acme/{it.stage.repo.name}", it.clock.now()
    root = it.service.platforms["github"].read_spec(spec, it.stage.server.url, f"{policy}:{ONLY}")
    await it.service.backend.queue.push([Push(request=replace(root, asked_at=now), queue="immediate")])
    await it.settle()


async def told(it: Living, happened: Sequence[Change]) -> None:
    """As webhooks tell it."""
    for change in happened:
        await it.deliver(hooks(it.life.site, it.stage.world, change))
    await it.settle()


async def named(it: Living) -> list[int]:
    """Who starred it, as the pages of the relation have it."""
    found = await it.documents()
    pages = [one for (kind, _), one in found.items() if kind == "stargazers"]
    return sorted(star["user"]["id"] for page in pages for star in page.body["elements"])


def truth(it: Living) -> list[int]:
    return sorted(it.stage.repo.records.stars)


def asked_for(it: Living) -> int:
    """Charged calls for pages of stargazers."""
    calls = it.stage.server.journal.calls
    return sum("/stargazers" in call.target and call.status == 200 for call in calls)


def star(it: Living, user: User) -> Change:
    return changes.star(it.stage.world, it.stage.repo, by=user)


def unstar_first(it: Living) -> Change:
    first = min(it.stage.repo.records.stars.values(), key=lambda each: each.starred_at)
    return changes.unstar(it.stage.world, it.stage.repo, by=first.user)


async def test_a_burst_of_stars_costs_one_call_for_the_last_page(tmp_path: Path):
    async with starred(tmp_path, 1001) as (it, users):
        await told(it, [star(it, user) for user in users[:20]])

        assert await named(it) == truth(it)
        assert asked_for(it) == 1
        assert await it.deadletters() == []


async def test_stars_that_fill_the_last_page_are_followed_to_the_next(tmp_path: Path):
    async with starred(tmp_path, 1095) as (it, users):
        await told(it, [star(it, user) for user in users[:10]])
        assert await named(it) == truth(it)
        assert asked_for(it) == 2

        await told(it, [star(it, users[10])])
        assert await named(it) == truth(it)
        assert asked_for(it) == 3


async def test_a_crawl_reads_on_from_the_last_page_and_an_audit_finds_who_took_back_a_star(tmp_path: Path):
    async with starred(tmp_path, 1030) as (it, users):
        gone = unstar_first(it).actor
        assert gone is not None
        star(it, users[0])
        await crawl(it, "refresh")
        assert await named(it) == sorted([*truth(it), gone.id])
        assert asked_for(it) == 1

        await told(it, [star(it, users[1])])
        assert await named(it) == sorted([*truth(it), gone.id])
        assert asked_for(it) == 2

        await crawl(it, "audit")
        assert await named(it) == truth(it)
        it.stage.server.journal.clear()
        await told(it, [star(it, users[2])])
        assert await named(it) == truth(it)
        assert asked_for(it) == 1


async def test_a_short_list_from_which_a_star_was_taken_back_is_read_again(tmp_path: Path):
    async with starred(tmp_path, 230) as (it, _):
        await told(it, [unstar_first(it)])

        assert await named(it) == truth(it)
        assert asked_for(it) == 4


async def test_pages_that_did_not_change_are_part_of_the_new_generation(tmp_path: Path):
    async with starred(tmp_path, 230) as (it, _):
        last = max(it.stage.repo.records.stars.values(), key=lambda each: each.starred_at)
        await told(it, [changes.unstar(it.stage.world, it.stage.repo, by=last.user)])

        assert await named(it) == truth(it)


async def test_a_last_page_of_which_nobody_is_left_is_no_end_to_read_on_from(tmp_path: Path):
    async with starred(tmp_path, 1001) as (it, users):
        await told(it, [unstar_first(it), unstar_first(it), star(it, users[0])])

        assert await named(it) == truth(it)
