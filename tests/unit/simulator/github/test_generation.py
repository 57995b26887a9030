from __future__ import annotations

import pytest

from ghcrawl.simulator.clock import SimClock
from ghcrawl.simulator.github.generation.generate import generate
from ghcrawl.simulator.github.generation.quirks import RENAMED_FROM
from ghcrawl.simulator.github.generation.size import SMALL, TINY, WorldSize
from ghcrawl.simulator.github.oracle import expected
from ghcrawl.simulator.github.principals import Viewer
from ghcrawl.simulator.github.world import World
from ghcrawl.values.frozen import replace
from tests.unit.simulator.github.conftest import ODD


@pytest.fixture
def world(settled: World) -> World:
    return settled


def insider(world: World) -> Viewer:
    return Viewer(user=1, kind="user", insider_of=frozenset(org.id for org in world.orgs()))


def bodies(world: World) -> dict[tuple[str, str], object]:
    things = expected(world, "acme", base="http://x", viewer=insider(world))
    return {key: thing.bodies() for key, thing in things.items()}


def test_the_same_seed_makes_the_same_world_and_another_seed_another() -> None:
    once, again, other = (generate(ODD, seed=seed, clock=SimClock()) for seed in (1, 1, 2))
    assert bodies(once) == bodies(again)
    assert bodies(once) != bodies(other)


def test_every_number_space_is_a_space_of_its_own(world: World) -> None:
    repos = list(world.repos.values())
    issues = {issue.id for repo in repos for issue in repo.issues.values()}
    pulls = {issue.pull.id for repo in repos for issue in repo.issues.values() if issue.pull}
    comments = {each for repo in repos for each in repo.issue_comments}
    remarks = {each for repo in repos for each in repo.review_comments}
    assert all((issues, pulls, comments, remarks))
    assert len(issues | pulls | comments | remarks) == len(issues) + len(pulls) + len(comments) + len(remarks)


def test_nothing_was_updated_before_it_was_created_and_nothing_later_than_its_issue(world: World) -> None:
    for repo in world.repos.values():
        assert repo.created_at <= repo.pushed_at
        for issue in repo.issues.values():
            assert issue.created_at <= issue.updated_at
            assert all(issue.created_at <= each.created_at <= each.updated_at for each in issue.comments)
            assert all(each.updated_at <= issue.updated_at for each in issue.comments)
            assert issue.closed_at is None or issue.created_at <= issue.closed_at <= issue.updated_at


def test_comments_are_numbered_in_the_order_in_which_they_were_made(world: World) -> None:
    for repo in world.repos.values():
        for table in (repo.issue_comments, repo.review_comments, repo.commit_comments):
            made = [comment.created_at for comment in table.values()]
            assert made == sorted(made)
            assert list(table) == sorted(table)


def test_a_history_is_newest_first_and_holds_every_parent(world: World) -> None:
    repo = world.repo("acme/web")
    history = repo.history(repo.head)
    place = {commit.sha: index for index, commit in enumerate(history)}
    assert len(history) > 20
    assert all(place[parent.sha] > place[commit.sha] for commit in history for parent in commit.parents)


def test_kept_counters_are_true(world: World) -> None:
    for repo in world.repos.values():
        assert repo.open_issues == sum(issue.state == "open" for issue in repo.issues.values())
        for milestone in repo.milestones.values():
            within = [issue for issue in repo.issues.values() if issue.milestone is milestone]
            assert milestone.open_issues == sum(issue.state == "open" for issue in within)
            assert milestone.closed_issues == sum(issue.state == "closed" for issue in within)


def test_everything_odd_is_there(world: World) -> None:
    web = world.repo("acme/web")
    assert web.deleted_issues
    assert any(issue.user is None for issue in web.issues.values())
    assert any(len(issue.body or "") > 20_000 for issue in web.issues.values())
    assert any(milestone.due_on is None for milestone in web.milestones.values())
    assert {"type: bug/ui", "🚀 performance", "100%"} <= {label.name for label in web.labels.values()}
    assert any("/" in name for name in web.branches)
    assert any("/" in name for name in web.tags)
    assert any(commit.author is None for commit in web.commits.values())
    assert not world.repo("acme/empty").commits
    assert world.repo("acme/plans").private
    assert not world.repo("acme/no-issues").has_issues
    assert world.repo("acme/attic").archived
    assert {world.repo(f"acme/{name}").standing for name in ("taken-down", "unwelcome")} == {"dmca", "tos"}
    assert {".github", "acme.github.io", "dash--under_score.x"} <= {repo.name for repo in world.repos.values()}
    assert world.moved_repo("acme", RENAMED_FROM) is world.repo("acme/renamed-now")
    fork = next(repo for repo in world.repos.values() if repo.parent)
    assert fork in world.forks_of(fork.parent) if fork.parent else False


def test_a_world_without_quirks_has_none() -> None:
    world = generate(replace(SMALL, quirks=False), seed=1, clock=SimClock())
    assert {repo.name for repo in world.repos_of(world.org("acme"))} == {"web", "api", "docs", "infra"}


@pytest.mark.parametrize("entities", [300, 500, 1_000, 1_600, 2_000, 5_000])
def test_a_size_can_be_asked_for_by_the_number_of_things(entities: int) -> None:
    world = generate(WorldSize.about(entities), seed=1, clock=SimClock())
    found = len(expected(world, "acme", base="http://x", viewer=insider(world)))
    assert 0.85 * entities < found < 1.15 * entities


def test_the_smallest_of_everything_is_a_world_too() -> None:
    size = replace(TINY, orgs=1, teams=0, issues=1, commits=1, tags=0, releases=0, labels=0, milestones=0, users=2)
    world = generate(size, seed=1, clock=SimClock())
    assert expected(world, "acme", base="http://x", viewer=insider(world))
