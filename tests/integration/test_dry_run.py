"""What a dry run does where the API is in its way: it says so, waits no longer than is of use, and asks again."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest

from ghcrawl.cli.estimating import Foreseen, foresee, show
from ghcrawl.cli.options import Place
from ghcrawl.cli.plan import Plan
from ghcrawl.fetch.github.principals import read_tokens
from ghcrawl.simulator.faults import Broken, Dropped, Faults
from ghcrawl.simulator.github.behaviour import Graphql, Manners
from ghcrawl.simulator.github.generation.size import SMALL, TINY, WorldSize
from ghcrawl.values.errors import ConfigError, FetchError
from ghcrawl.values.frozen import replace
from ghcrawl.values.narrowing import narrow
from ghcrawl.wiring import load
from tests.integration.test_crawl import SIX_REPOS, THREE_REPOS
from tests.support.clock import FakeClock, FastClock
from tests.support.crawling import Stage, stage
from tests.support.platforms import SIMULATED


async def dry_run(it: Stage, *specs: str, tokens: str = "", **more: Any) -> tuple[Foreseen, list[str]]:
    """The estimate, and what a person was told meanwhile."""
    chosen = more.pop("settings", {}) | ({"crawl.policy": more.pop("policy")} if "policy" in more else {})
    settings, _ = load(None, {}, {"github.api_url": it.server.url, **SIMULATED, **chosen})
    credentials, said = {"github": read_tokens(tokens or it.tokens[0])}, list[str]()
    plan = Plan(specs=specs or ("acme",), place=Place(), settings=settings, credentials=credentials, **more)
    return await foresee(plan, said.append, clock=it.clock), said


async def test_a_token_that_is_refused_ends_it_at_once(tmp_path: Path):
    async with stage(tmp_path, TINY) as it:
        with pytest.raises(ConfigError, match="rejects all tokens"):
            await dry_run(it, tokens="ghp_nobodyKnowsThisOne00000000000000000000")


async def test_an_api_that_nobody_answers_at_is_told_of_as_a_crawl_does(tmp_path: Path):
    async with stage(tmp_path, TINY, clock=FakeClock()) as it:
        pass
    with pytest.raises(ConfigError) as raised:
        await dry_run(it)
    assert str(raised.value) == f"cannot reach {it.server.url}: connection refused"


async def test_it_says_how_long_it_waits_for_quota(tmp_path: Path):
    async with stage(tmp_path, TINY, clock=FakeClock(), limit=12) as it:
        foreseen, said = await dry_run(it)

    assert foreseen.total > 20
    assert len(said) == 1
    assert re.fullmatch(r"quota exhausted; waiting until .+, in (1 h|59 min).*\. Ctrl-C stops\.", said[0])


async def test_a_call_that_fails_is_made_again(tmp_path: Path):
    async with stage(tmp_path, TINY, clock=FastClock(60)) as it:
        calm, _ = await dry_run(it)
    async with stage(tmp_path, TINY, clock=FastClock(60), faults=Faults.weather(0.3)) as it:
        stormy, said = await dry_run(it)

    assert (stormy.total, said) == (calm.total, [])
    assert stormy.asked > calm.asked


async def test_what_fails_again_and_again_ends_it(tmp_path: Path):
    async with stage(tmp_path, TINY, clock=FastClock(60)) as it:
        it.server.faults.script("*/orgs/acme", *[Broken(500)] * 20)
        with pytest.raises(FetchError, match="500"):
            await dry_run(it)


async def test_it_makes_no_more_calls_than_are_allowed_and_says_what_it_did_not_look_at(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
):
    async with stage(tmp_path, TINY, clock=FastClock(60)) as it:
        whole, _ = await dry_run(it, f"acme/{it.repo.name}")
        it.server.journal.clear()
        few, _ = await dry_run(it, f"acme/{it.repo.name}", "acme", max_calls=3)
        made = it.server.journal.total
    show(few)

    assert (made, few.asked, few.max_calls) == (3, 3, 3)
    assert few.unasked == whole.asked - 3 + 1
    assert few.covered == 3 / few.total < 1
    said = capsys.readouterr().out
    assert said.strip().startswith(f"At least {few.total} calls for a first crawl of")
    assert "--max-calls 3 covers about" in said
    assert f"{few.unasked} pages were not read because of --max-calls" in said


async def test_with_enough_calls_it_says_what_share_of_the_crawl_they_cover(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
):
    async with stage(tmp_path, TINY, clock=FastClock(60)) as it:
        foreseen, _ = await dry_run(it, max_calls=1000)
    show(foreseen)

    assert foreseen.unasked == 0
    said = capsys.readouterr().out
    assert said.strip().startswith("About ")
    assert "--max-calls 1000 covers about 100 % of them." in said


ONE_REPO = replace(SMALL, orgs=1, repos=1, quirks=False, issues=30, commits=30)


@pytest.mark.parametrize(
    "wanted",
    [{"only": ["check_run"]}, {"only": ["check_suite"]}, {"since": "2025-06-01"}, {"since": "2026-11-21"}],
    ids=str,
)
async def test_it_reckons_with_what_is_left_out(tmp_path: Path, wanted: dict[str, Any]):
    policy = narrow("default", **wanted)
    async with stage(tmp_path, ONE_REPO, clock=FastClock(60)) as it:
        foreseen, _ = await dry_run(it, policy=policy)
        it.server.journal.clear()
        await it.crawl(policy=policy)
        made = it.server.journal.total

    assert abs(foreseen.total - made) <= 0.10 * made


WORLDS = {
    "three repositories": replace(THREE_REPOS, users=60),
    "the demo's": WorldSize.about(2000),
    "six large repositories": replace(SIX_REPOS, users=150),
}


@pytest.mark.parametrize("listed", [False, True], ids=["full", "list"])
@pytest.mark.parametrize("batches", ["auto", "off"])
@pytest.mark.parametrize(
    "world",
    [
        *("three repositories", "the demo's"),
        pytest.param("six large repositories", marks=[pytest.mark.slow, pytest.mark.timeout(300)]),
    ],
)
async def test_the_estimate_is_right_within_a_tenth(tmp_path: Path, world: str, batches: str, listed: bool):
    chosen = {"github.pull_requests": "list", "github.users": "list"} if listed else {}
    settings = {"github.batches": batches, **chosen}
    async with stage(tmp_path, WORLDS[world], clock=FastClock(60)) as it:
        it.settings |= settings
        foreseen, _ = await dry_run(it, settings=settings)
        it.server.journal.clear()
        await it.crawl()
        made = it.server.journal.total

    assert abs(foreseen.total - made) <= 0.10 * made
    assert foreseen.asked <= (14 if batches == "auto" else 27)


async def test_what_graphql_does_not_count_is_counted_otherwise(tmp_path: Path):
    async with stage(tmp_path, WORLDS["three repositories"], clock=FastClock(60)) as it:
        calm, _ = await dry_run(it)
    manners = Manners(graphql=Graphql(resources_above=1))
    async with stage(tmp_path, WORLDS["three repositories"], clock=FastClock(60), manners=manners) as it:
        foreseen, _ = await dry_run(it)

    assert abs(foreseen.total - calm.total) <= 0.10 * calm.total
    assert calm.asked < foreseen.asked <= 22


@pytest.mark.parametrize("graphql", [Graphql(answers=False), Graphql(too_slow_above=0)], ids=["no", "slow"])
async def test_where_graphql_does_not_answer_calls_are_foreseen_without_it(tmp_path: Path, graphql: Graphql):
    manners = Manners(graphql=graphql)
    async with stage(tmp_path, WORLDS["three repositories"], clock=FastClock(60), manners=manners) as it:
        foreseen, _ = await dry_run(it)
        it.server.journal.clear()
        await it.crawl()
        made = sum(not call.target.startswith("/graphql") for call in it.server.journal.calls)

    assert abs(foreseen.total - made) <= 0.10 * made
    assert foreseen.asked <= 22
    assert foreseen.notes == ["GraphQL does not answer; the estimate assumes that REST alone is asked."]


async def test_a_graphql_call_that_fails_again_and_again_does_not_end_it(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
):
    async with stage(tmp_path, WORLDS["three repositories"], clock=FastClock(60)) as it:
        it.server.faults.script("*/graphql", *[Dropped()] * 5)
        foreseen, _ = await dry_run(it)
        show(foreseen)

    assert foreseen.figures()["estimate"]["notes"] == foreseen.notes
    assert "the estimate assumes that REST alone is asked." in capsys.readouterr().out
