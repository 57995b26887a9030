"""Lists that move while they are read: nothing in them is missed, and nothing is there twice."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from ghcrawl.simulator.github import changes
from ghcrawl.simulator.github.generation.size import TINY, WorldSize
from ghcrawl.simulator.journal import Call
from ghcrawl.values.frozen import replace
from tests.support.clock import FastClock
from tests.support.crawling import Crawled, Stage, stage

Meddle = Callable[[Stage], None]
LONG = replace(TINY, issues=210, pull_share=0.0, comments=0, alerts=0)


def things(it: Stage, crawled: Crawled, type: str) -> tuple[set[str], set[str]]:
    """URNs of the things of that type in the store and in the world."""
    stored = {urn for kind, urn in crawled.entities if kind == type}
    return stored, {urn for kind, urn in it.expected() if kind == type}


def between_pages(it: Stage, patch: pytest.MonkeyPatch, path: str, meddle: Meddle, *, times: int = 1) -> None:
    """Call `meddle` after each of the first `times` pages of the list at `path`."""
    write, left = it.server.journal.write, [times]

    def after(call: Call) -> None:
        write(call)
        below = call.target.partition("?")[0].split("/", 3 if call.target.startswith("/repositories/") else 4)[-1]
        if left[0] and call.status == 200 and below == path:
            left[0] -= 1
            meddle(it)

    patch.setattr(it.server.journal, "write", after)


def delete_first_issue(it: Stage) -> None:
    changes.delete_issue(it.world, it.repo, next(iter(it.repo.issues.values())))


def delete_first_comment(it: Stage) -> None:
    changes.delete_comment(it.world, it.repo, next(iter(it.repo.issue_comments.values())))


def delete_issue_that_much_happened_to(it: Stage) -> None:
    latest = list(it.repo.records.issue_events.values())[-1]
    changes.delete_issue(it.world, it.repo, latest.issue)


def rewrite_history(it: Stage) -> None:
    changes.push(it.world, it.repo, by=it.member, count=1, drop=4)


def push(it: Stage) -> None:
    changes.push(it.world, it.repo, by=it.member, count=2)


@pytest.mark.parametrize(
    ("size", "path", "meddle", "type"),
    [
        pytest.param(LONG, "issues", delete_first_issue, "issue", id="issues, oldest first"),
        pytest.param(
            replace(TINY, issues=20, comments=10.0, users=20),
            "issues/comments",
            delete_first_comment,
            "issue_comment",
            id="comments, oldest first",
        ),
        pytest.param(
            replace(TINY, issues=90), "issues/events", delete_issue_that_much_happened_to, "issue_event", id="events"
        ),
        pytest.param(replace(TINY, commits=210), "commits", rewrite_history, "commit", id="a history rewritten"),
        pytest.param(replace(TINY, commits=210), "commits", push, "commit", id="a history that grows"),
    ],
)
async def test_what_moved_while_a_list_was_read_for_the_first_time_is_not_missed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, size: WorldSize, path: str, meddle: Meddle, type: str
):
    async with stage(tmp_path, size) as it:
        between_pages(it, monkeypatch, path, meddle, times=2)
        crawled = await it.crawl(policy=f"default:default__only__{type}/")

        stored, true = things(it, crawled, type)
        assert true <= stored
        assert len(true) > 100
        assert list(crawled.deadletters) == []


async def test_a_list_whose_newest_come_first_is_read_again_where_it_shrank(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    def delete_last_release(it: Stage) -> None:
        changes.delete_release(it.world, it.repo, list(it.repo.releases.values())[-1])

    async with stage(tmp_path, TINY) as it:
        for number in range(205):
            changes.publish_release(it.world, it.repo, by=it.member, tag=f"v9.{number}")
        between_pages(it, monkeypatch, "releases", delete_last_release, times=2)
        crawled = await it.crawl(policy="default:default__only__release/")

        stored, true = things(it, crawled, "release")
        assert true <= stored
        assert len(true) > 200


async def test_who_was_behind_one_that_took_back_a_star_is_not_missed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    def take_back(it: Stage) -> None:
        first = min(it.repo.records.stars.values(), key=lambda star: star.starred_at)
        changes.unstar(it.world, it.repo, by=first.user)

    async with stage(tmp_path, replace(TINY, users=300, stars=280), seed=3) as it:
        between_pages(it, monkeypatch, "stargazers", take_back, times=2)
        crawled = await it.crawl(f"acme/{it.repo.name}", policy="default:default__only__stargazers/")
        pages = [one for (kind, _), one in crawled.documents.items() if kind == "stargazers"]
        named = [star["user"]["login"] for page in pages for star in page.body["elements"]]

        assert len(named) > 100
        assert sorted(named) == sorted(star.user.login for star in it.repo.records.stars.values())


async def test_what_changes_while_the_changes_are_read_hides_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    def edit(it: Stage, *numbers: int) -> None:
        for number in numbers:
            changes.edit_issue(it.world, it.repo, it.repo.issues[number], title=f"Said again {number}")

    clock = FastClock(60)
    async with stage(tmp_path, LONG, clock=clock) as it:
        await it.crawl(policy="default:issues/")
        numbers = sorted(it.repo.issues)
        for number in numbers:
            edit(it, number)
            await clock.sleep(1)
        between_pages(it, monkeypatch, "issues", lambda it: edit(it, *numbers[:5]), times=2)
        crawled = await it.crawl(policy="refresh:issues/")
        titles = {
            one.body["number"]: one.body["title"] for (kind, _), one in crawled.documents.items() if kind == "issue"
        }

        assert titles == {number: f"Said again {number}" for number in numbers}


async def test_a_list_that_did_not_move_is_looked_at_again_for_nothing(tmp_path: Path):
    async with stage(tmp_path, LONG) as it:
        await it.crawl(policy="default:default__only__issue/")
        journal = it.server.journal

        assert journal.repeated() == {}
        assert journal.not_modified == 2
        assert journal.charged == journal.total - 2
