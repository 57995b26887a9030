"""A document only becomes richer, whatever is crawled in whatever order: crawls of the simulator into one file."""

from __future__ import annotations

import random
from pathlib import Path
from typing import Any

import pytest

from ghcrawl.simulator.github.generation.size import WorldSize
from tests.support.crawling import Crawled, Stage, stage

FEW = WorldSize(orgs=1, repos=1, owners=0, users=8, teams=1, issues=12, pull_share=0.5, commits=15, quirks=False)


def commits(crawled: Crawled) -> dict[str, dict[str, Any]]:
    return {urn: dict(document.body) for (type, urn), document in crawled.documents.items() if type == "commit"}


def fields(body: Any) -> set[str]:
    return set(body)


def home(it: Stage) -> str:
    return f"{it.server.url}/repos/acme/{it.repo.name}"


async def test_a_commit_that_was_crawled_by_itself_keeps_its_files_when_its_repository_is(tmp_path: Path):
    async with stage(tmp_path, FEW) as it:
        sha = next(iter(it.repo.commits))
        url, urn = f"{home(it)}/commits/{sha}", f"urn:repo:{it.repo.id}:commit:{sha}"
        alone = commits(await it.crawl(url))[urn]
        assert {"files", "stats"} <= alone.keys()

        for policy in ("default", "refresh", "audit"):
            crawled = await it.crawl(f"acme/{it.repo.name}", policy=policy)
            assert commits(crawled)[urn] == alone
            assert crawled.documents["commit", urn].forms.keys() == {"own", "list"}
        it.server.journal.clear()
        await it.crawl(url)
        assert it.server.journal.charged == 0


@pytest.mark.parametrize("policy", ["default", "refresh", "audit", "reload"])
async def test_commits_that_were_taken_from_lists_are_read_in_full_once_that_is_wished_for(tmp_path: Path, policy: str):
    async with stage(tmp_path, FEW) as it:
        first = commits(await it.crawl("acme"))
        assert not any("files" in body for body in first.values())

        it.settings["github.commits"] = "full"
        full = commits(await it.crawl("acme", policy=policy))
        assert full.keys() == first.keys()
        assert [urn for urn, body in full.items() if not {"files", "stats"} <= body.keys()] == []
        again = await it.crawl("acme", policy="refresh")
        assert commits(again) == full
        assert "commit" not in {type.name for type in again.tally.saved}


async def test_full_commits_are_full_from_the_beginning_also_those_of_pull_requests(tmp_path: Path):
    async with stage(tmp_path, FEW, github__commits="full") as it:
        full = commits(await it.crawl(policy="default:everything/"))
        assert full
        assert [urn for urn, body in full.items() if not {"files", "stats"} <= body.keys()] == []


@pytest.mark.parametrize("seed", [1, pytest.param(2, marks=pytest.mark.slow), pytest.param(3, marks=pytest.mark.slow)])
async def test_no_order_of_routes_ends_with_less_than_the_richest_answer(tmp_path: Path, seed: int):
    """Every thing by itself and the whole organisation, twice, in any order."""
    async with stage(tmp_path, FEW, seed=seed) as it:
        here, repo = home(it), it.repo
        pulls = [issue.number for issue in repo.issues.values() if issue.pull is not None]
        routes = [
            "acme",
            f"acme/{repo.name}",
            *(f"{here}/commits/{sha}" for sha in list(repo.commits)[:4]),
            *(f"{here}/issues/{number}" for number in list(repo.issues)[:4]),
            *(f"{here}/issues/{number}/events" for number in list(repo.issues)[:2]),
            *(f"{here}/pulls/{number}" for number in pulls[:2]),
            f"{here}/branches/{repo.default_branch}",
            f"{here}/branches",
        ] * 2
        random.Random(seed).shuffle(routes)
        richest: dict[tuple[str, str], set[str]] = {}
        for route in routes:
            crawled = await it.crawl(route, policy="refresh")
            assert list(crawled.deadletters) == []
            for key in crawled.entities:
                found = fields(crawled.documents[key].body)
                assert found >= richest.get(key, set()), (key, route)
                richest[key] = found
        whole = [f"urn:repo:{repo.id}:commit:{sha}" for sha in list(repo.commits)[:4]]
        assert all("files" in richest["commit", urn] for urn in whole)
