"""Crawls with batches over GraphQL: the same documents as by REST alone, for fewer calls, whatever goes wrong."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest
from structlog.testing import capture_logs

from ghcrawl.cli import tokens
from ghcrawl.cli.options import Place
from ghcrawl.simulator.faults import Broken, Dropped, Faults
from ghcrawl.simulator.github.behaviour import Graphql, Manners
from ghcrawl.simulator.github.changes import issues as change_issues
from ghcrawl.simulator.github.generation.size import SMALL, WorldSize
from ghcrawl.values.frozen import replace
from tests.integration.test_crawl import SIX_REPOS, THREE_REPOS, assert_complete
from tests.support.crawling import TOKEN, Crawled, Stage, stage

PEOPLE = replace(THREE_REPOS, users=60)
OWN_PAGES = ("pull_requests", "cursor")
"""What only one of the two ways leaves behind: the pages of the list that stands for the pull requests."""


def told(crawled: Crawled) -> dict[tuple[str, str], object]:
    return {
        key: (dict(document.body), document.links)
        for key, document in crawled.documents.items()
        if key[0] not in OWN_PAGES and ":pages:" not in key[1]
    }


def queries(it: Stage) -> int:
    return sum(call.target.startswith("/graphql") for call in it.server.journal.calls)


async def test_the_documents_are_those_that_rest_alone_gives(tmp_path: Path):
    async with stage(tmp_path, SMALL, github__batches="off") as it:
        by_rest = await it.crawl()
        assert queries(it) == 0
        it.db = tmp_path / "both.db"
        it.settings["github.batches"] = "auto"
        it.server.journal.clear()
        with capture_logs() as logs:
            both = await it.crawl()

        assert queries(it) > 0
        assert differing(logs) == []
        assert_complete(both, it)
        assert told(both) == told(by_rest)
        assert it.server.journal.repeated() == {}


@pytest.mark.parametrize(
    ("size", "limit"),
    [
        pytest.param(PEOPLE, 0.08, id="three repositories"),
        pytest.param(replace(SIX_REPOS, users=150), 0.035, id="six large repositories", marks=pytest.mark.slow),
    ],
)
async def test_a_first_crawl_takes_a_few_calls_for_a_hundred_things(tmp_path: Path, size: WorldSize, limit: float):
    async with stage(tmp_path, size) as it:
        crawled = await it.crawl()

        assert_complete(crawled, it)
        assert it.server.journal.total / len(crawled.entities) <= limit


async def test_a_refresh_costs_what_it_costs_without_batches(tmp_path: Path):
    charged: dict[str, list[int]] = {}
    for batches in ("off", "auto"):
        (tmp_path / batches).mkdir()
        async with stage(tmp_path / batches, PEOPLE, github__batches=batches) as it:
            await it.crawl()
            for changes in (0, 0, 5):
                repo = it.repo
                plain = [issue for issue in repo.issues.values() if issue.pull is None]
                for issue in plain[:changes]:
                    change_issues.comment(it.world, repo, issue, by=it.member)
                it.server.journal.clear()
                await it.crawl(policy="refresh")
                charged.setdefault(batches, []).append(it.server.journal.charged)
    assert charged["auto"] <= charged["off"]
    assert charged["auto"][1] == 0


BAD_DAYS = {
    "one query in five fails": (Faults([(0.1, Broken(502)), (0.1, Dropped())], seed=3), Graphql()),
    "queries take too long": (None, Graphql(too_slow_above=10)),
    "and say so with status 200": (None, Graphql(too_slow_above=0, slow_as_200=True)),
    "queries need too much": (None, Graphql(resources_above=7)),
    "no scope for addresses": (None, Graphql(email_scope=False)),
    "no such API": (None, Graphql(answers=False)),
}


@pytest.mark.parametrize("day", BAD_DAYS)
async def test_whatever_graphql_does_not_give_rest_does(tmp_path: Path, day: str):
    faults, graphql = BAD_DAYS[day]
    async with stage(tmp_path, THREE_REPOS, faults=faults, manners=Manners(graphql=graphql)) as it:
        crawled = await it.crawl()

        assert_complete(crawled, it)


async def test_a_field_that_differs_from_rest_is_found_told_and_remembered(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
):
    manners = Manners(graphql=Graphql(wrong=frozenset({"additions"})))
    async with stage(tmp_path, THREE_REPOS, manners=manners) as it:
        with capture_logs() as logs:
            crawled = await it.crawl()

        assert crawled.entities == set(it.bodies())
        assert crawled.deadletters == []
        assert differing(logs) == [("pull_request", ["additions"])]

        with capture_logs() as logs:
            await it.crawl("acme", policy="default:self")
        assert differing(logs) == [("pull_request", ["additions"])]

        monkeypatch.setenv("GHCRAWL_SQLITE__PATH", str(it.db))
        monkeypatch.setenv("GHCRAWL_TOKENS", TOKEN)
        assert await tokens.check(Place(api_url=it.server.url), json=False) == 0
        assert "batches of type pull_request differ from single answers in additions" in capsys.readouterr().err


def differing(logs: Sequence[Mapping[str, Any]]) -> list[tuple[str, list[str]]]:
    return [(line["of"], line["fields"]) for line in logs if line["event"] == "batches_differ_from_rest"]


async def test_a_small_budget_of_points_is_not_waited_for(tmp_path: Path):
    async with stage(tmp_path, THREE_REPOS, points=12) as it:
        crawled = await it.crawl()

        assert_complete(crawled, it)
        assert 0 < queries(it) <= 12
        assert it.server.journal.violated == 0


async def test_without_a_token_nothing_is_asked_over_graphql(tmp_path: Path):
    async with stage(tmp_path, replace(THREE_REPOS, repos=1), tokens=(), manners=Manners(anonymous_limit=5000)) as it:
        crawled = await it.crawl()

        assert queries(it) == 0
        assert crawled.deadletters == []


AS_LISTED: Mapping[str, Any] = {"github__pull_requests": "list", "github__users": "list"}


@pytest.mark.parametrize("batches", ["off", "auto"])
async def test_as_listed_nothing_is_missing_and_nobody_is_asked_for_alone(tmp_path: Path, batches: str):
    async with stage(tmp_path, PEOPLE, github__batches=batches, **AS_LISTED) as it:
        crawled = await it.crawl()
        asked = {call.target.partition("?")[0] for call in it.server.journal.calls}

        assert crawled.entities == set(it.bodies())
        assert crawled.deadletters == []
        assert [path for path in asked if "/users/" in path] == []
        assert [path for path in asked if re.search(r"/pulls/\d+$", path)] == []
        assert (queries(it) > 0) is (batches == "auto")
        await it.crawl(policy="refresh")
        it.server.journal.clear()
        again = await it.crawl(policy="refresh")
        assert it.server.journal.charged == 0
        assert {"pull_request", "user"} & {type.name for type in again.tally.saved} == set()


async def test_what_is_stored_whole_stays_whole_as_listed_and_is_completed_again_later(tmp_path: Path):
    async with stage(tmp_path, PEOPLE) as it:
        whole = shapes(await it.crawl())
        pull = next(issue for issue in it.repo.issues.values() if issue.pull is not None)
        change_issues.comment(it.world, it.repo, pull, by=it.member)
        for name, value in AS_LISTED.items():
            it.settings[name.replace("__", ".")] = value
        listed = await it.crawl(policy="refresh")
        assert shapes(listed) == whole
        document = listed.documents["pull_request", f"urn:repo:{it.repo.id}:pull_request:{pull.number}"]
        assert document.forms["list"].partial

        for name in AS_LISTED:
            del it.settings[name.replace("__", ".")]
        assert incomplete(await it.crawl(policy="refresh"), it) == set()


async def test_what_was_taken_as_listed_is_completed_once_that_is_wished_for(tmp_path: Path):
    async with stage(tmp_path, PEOPLE, **AS_LISTED) as it:
        listed = {key for key in (await it.crawl()).entities if key[0] == "user"}
        for name in AS_LISTED:
            del it.settings[name.replace("__", ".")]
        audited = await it.crawl(policy="audit")

        left = incomplete(audited, it)
        assert {type for type, _ in left} <= {"user"}  # whom only commits lead to, and those are not read again
        assert len(left) < len(listed) // 4
        alone = await it.crawl(*(audited.documents[key].url for key in sorted(left)))
        assert incomplete(alone, it) == set()


def incomplete(crawled: Crawled, it: Stage) -> set[tuple[str, str]]:
    """The pull requests and persons that are not as their own URL tells."""
    bodies = {key: true for key, true in it.bodies().items() if key[0] in ("pull_request", "user")}
    return {key for key, true in bodies.items() if dict(crawled.documents[key].body) not in true}


def shapes(crawled: Crawled) -> dict[tuple[str, str], frozenset[str]]:
    """The fields of each pull request and of each person."""
    return {
        key: frozenset(document.body)
        for key, document in crawled.documents.items()
        if key[0] in ("pull_request", "user")
    }
