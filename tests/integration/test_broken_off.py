"""Walks that break off, because one of their pages was given up: what lies behind it is found by the next crawl."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from ghcrawl.simulator.faults import Broken
from ghcrawl.simulator.github.changes import issues, pulls
from ghcrawl.simulator.github.generation.size import TINY
from ghcrawl.values.frozen import replace
from tests.support.crawling import Crawled, Stage, stage

GIVEN_UP = [Broken(500)] * 5
HASTY: dict[str, Any] = {"crawl.retry_base_s": 0.01, "crawl.retry_cap_s": 0.05}


def missing(type: str, crawled: Crawled, it: Stage) -> int:
    return len({key for key in it.expected() if key[0] == type} - crawled.entities)


async def test_commits_behind_a_comparison_that_was_given_up(tmp_path: Path):
    async with stage(tmp_path, replace(TINY, commits=150), **HASTY) as it:
        await it.crawl()
        pulls.push(it.world, it.repo, by=it.member, count=150)
        it.server.faults.script("*/compare/*", *GIVEN_UP)
        broken = await it.crawl(policy="refresh")
        healed = await it.crawl(policy="refresh")

    assert len(broken.deadletters) == 1
    assert missing("commit", broken, it) == 50
    assert missing("commit", healed, it) == 0


async def test_issue_events_behind_a_page_that_was_given_up(tmp_path: Path):
    async with stage(tmp_path, TINY, **HASTY) as it:
        await it.crawl()
        issue = next(issue for issue in it.repo.issues.values() if issue.pull is None)
        for _ in range(80):
            issues.close(it.world, it.repo, issue, by=it.member)
            issues.reopen(it.world, it.repo, issue, by=it.member)
        it.server.faults.script("*/issues/events", None, *GIVEN_UP)
        broken = await it.crawl(policy="refresh")
        healed = await it.crawl(policy="refresh")

    assert len(broken.deadletters) == 1
    assert missing("issue_event", broken, it) > 50
    assert missing("issue_event", healed, it) == 0
