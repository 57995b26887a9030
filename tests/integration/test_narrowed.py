"""Crawls of less than everything there is: scenarios, types, dates, and so many calls and no more."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import date
from pathlib import Path
from typing import Any

import pytest

from ghcrawl.simulator.github.generation.size import SMALL, TINY
from ghcrawl.simulator.github.moments import seconds
from ghcrawl.values.frozen import replace
from ghcrawl.values.narrowing import narrow
from tests.support.cli import shell
from tests.support.clock import FastClock
from tests.support.crawling import Stage, stage


async def command(it: Stage, folder: Path, *words: str) -> Mapping[str, Any]:
    """The figures of one `ghcrawl crawl acme`."""
    async with shell(folder, GHCRAWL_TOKENS=it.tokens[0]) as terminal:
        ran = await terminal.run("crawl", "acme", "--api-url", it.server.url, "--json", *words)
    assert ran.status == 0, ran.err
    figures: Mapping[str, Any] = ran.json
    return figures


async def test_so_many_calls_and_no_more_and_the_same_command_goes_on(tmp_path: Path):
    async with stage(tmp_path, TINY) as it:
        first = await command(it, tmp_path, "--max-calls", "20", "--db", "few.db")
        made = it.server.journal.total
        while not (again := await command(it, tmp_path, "--max-calls", "20", "--db", "few.db"))["finished"]:
            pass
        whole = await command(it, tmp_path, "--db", "whole.db")

    assert (first["finished"], first["calls"]["total"], made) == (False, 20, 20)
    assert again["entities"]["stored_by_type"] == whole["entities"]["stored_by_type"]


async def test_following_ends_with_the_last_call_that_was_allowed(tmp_path: Path):
    async with stage(tmp_path, TINY) as it, shell(tmp_path, GHCRAWL_TOKENS=it.tokens[0]) as terminal:
        words = ("crawl", "acme", "--follow", "--max-calls", "12", "--json", "--api-url", it.server.url)
        ran = await terminal.run(*words, timeout_s=20)
        made = it.server.journal.total

    assert (ran.status, made, ran.json["finished"]) == (0, 12, False)


async def test_what_matters_most_comes_before_people(tmp_path: Path):
    async with stage(tmp_path, TINY) as it:
        few = await command(it, tmp_path, "--max-calls", "25", "--loops", "1")

    assert few["entities"]["saved_by_type"].get("user", 0) <= 2
    assert few["entities"]["saved_by_type"]["issue"] > 0


@pytest.mark.parametrize(
    ("words", "types"),
    [
        (("--only", "label,milestone"), {"org", "repo", "label", "milestone"}),
        (("--scenario", "relationOnly"), {"org", "repo", "team"}),
        (("--only", "deployment_status"), {"org", "repo", "deployment", "deployment_status"}),
        (("--scenario", "code", "--exclude", "user", "--exclude", "commit"), {"branch", "tag", "release"}),
    ],
)
async def test_only_these_types_are_saved_and_what_leads_to_them(
    tmp_path: Path, words: tuple[str, ...], types: set[str]
):
    async with stage(tmp_path, TINY) as it:
        figures = await command(it, tmp_path, *words)
        expected = it.bodies(everything=True)

    saved = figures["entities"]["saved_by_type"]
    assert set(saved) >= types
    assert not {"user", "commit", "issue", "pull_request"} & set(saved)
    for type in types:
        assert saved[type] == sum(kind == type for kind, _ in expected), type


async def test_since_a_date_only_what_changed_since_is_saved_and_later_crawls_miss_nothing(tmp_path: Path):
    async with stage(tmp_path, TINY) as it:
        moments = sorted(issue.updated_at for issue in it.repo.issues.values())
        since = date.fromisoformat(moments[len(moments) // 2][:10])
        recent = await it.crawl(policy=narrow("default", since=since.isoformat()))
        issues = {urn for kind, urn in recent.entities if kind == "issue"}
        later = await it.crawl()

    floor = seconds(f"{since}T00:00:00Z")
    changed = {n for n, issue in it.repo.issues.items() if seconds(issue.updated_at) >= floor}
    assert issues == {f"urn:repo:{it.repo.id}:issue:{number}" for number in changed}
    assert 0 < len(changed) < len(it.repo.issues)
    assert later.entities == set(it.bodies())


async def test_a_scenario_that_leads_further_is_complete_in_a_file_that_knows_less(tmp_path: Path):
    async with stage(tmp_path, TINY, clock=FastClock(60)) as it:
        await it.crawl()
        more = again = await it.crawl(policy="default:everything/")
        charged = []
        for policy in ("refresh", "refresh:everything/", "refresh", "refresh:everything/"):
            it.server.journal.clear()
            again = await it.crawl(policy=policy)
            charged.append(it.server.journal.charged)

        assert more.entities == again.entities == set(it.bodies(everything=True))
        assert charged[2:] == [0, 0]


SHAPES = {
    "a few repositories": replace(SMALL, orgs=1, repos=3, quirks=False, issues=30, commits=30),
    "many small ones": replace(SMALL, orgs=1, repos=16, quirks=False, issues=6, commits=10),
    "one where people talk": replace(SMALL, orgs=1, repos=1, quirks=False, issues=130, comments=3.0, users=60),
}


@pytest.mark.parametrize(
    ("shape", "scenario"),
    [
        *((shape, "default") for shape in SHAPES),
        *(pytest.param(shape, "everything", marks=pytest.mark.slow) for shape in SHAPES),
    ],
)
async def test_a_dry_run_says_about_how_many_calls_a_crawl_then_makes(tmp_path: Path, shape: str, scenario: str):
    async with stage(tmp_path, SHAPES[shape], clock=FastClock(60)) as it:
        said = await command(it, tmp_path, "--scenario", scenario, "--dry-run")
        asked = it.server.journal.total
        it.server.journal.clear()
        await it.crawl(policy=f"default:{scenario}/")
        made = it.server.journal.total

    assert said["calls_made"] == asked
    assert abs(said["estimate"]["calls"] - made) <= 0.25 * made


async def test_a_dry_run_of_what_is_not_there_says_so(tmp_path: Path):
    async with stage(tmp_path, TINY) as it, shell(tmp_path, GHCRAWL_TOKENS=it.tokens[0]) as terminal:
        words = ("--api-url", it.server.url, "--dry-run")
        nobody = await terminal.run("crawl", "nobody", *words)
        nothing = await terminal.run("crawl", *words)
        shown = await terminal.run("crawl", "acme", *words)

    assert (nobody.status, nobody.out) == (2, "")
    assert "nobody was not found" in nobody.err
    assert nothing.status == 2
    assert "calls for a first crawl of acme" in shown.out
