"""Scenarios: what each leads to, and what is left of one when a person narrows it."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path

import pytest

from ghcrawl.values.errors import SpecError
from ghcrawl.values.narrowing import name_of
from ghcrawl.values.outcome import Skip
from processors.github.maps import SCENARIOS
from processors.github.scenarios import floor_of
from tests.support.builders import API
from tests.support.github import PLATFORM, REPO, a_repo, an_issue, asked, carried, process, saved


def links(spec: str) -> set[str]:
    return set(PLATFORM.scenarios.next_hops(spec).links)


def test_every_scenario_has_a_map_for_everything():
    for scenario in PLATFORM.scenarios.names:
        for kind in PLATFORM.kinds.values():
            PLATFORM.scenarios.next_hops(f"default:{scenario}/{kind.position}")


KNOWN = json.loads(Path(__file__).with_name("visitor_maps.json").read_text(encoding="utf-8"))


@pytest.mark.parametrize("scenario", KNOWN)
def test_the_derived_maps_lead_where_the_written_ones_did(scenario: str):
    """The maps as they were before they were derived. A new kind adds links, and changes none of these."""
    derived = SCENARIOS[scenario]

    for name, links in KNOWN[scenario].items():
        found = derived[name]
        assert isinstance(found, Mapping)
        assert {link: found.get(link) for link in links} == links, name


def test_initialize_is_another_name_for_default():
    assert "initialize" not in PLATFORM.scenarios.names
    assert links("default:initialize/repo") == links("default:repo")


@pytest.mark.parametrize(
    ("scenario", "follows", "leaves"),
    [
        ("default", {"issues", "commits", "issue_events", "contributors", "topics"}, {"stargazers", "readme", "views"}),
        ("everything", {"issues", "stargazers", "readme", "views", "workflow_runs", "deployments"}, set()),
        ("metadata", {"labels", "languages", "license", "readme", "contributors"}, {"issues", "commits"}),
        ("issues", {"issues", "issue_comments", "labels", "milestones"}, {"commits", "releases", "contributors"}),
        ("code", {"commits", "branches", "tags", "releases", "readme"}, {"issues", "labels"}),
        ("relationOnly", {"contributors", "teams", "stargazers"}, {"issues", "commits", "owner"}),
        ("self", set(), {"issues", "commits", "owner", "topics"}),
    ],
)
def test_each_scenario_follows_what_it_is_called_after(scenario: str, follows: set[str], leaves: set[str]):
    found = links(f"default:{scenario}/repo")

    assert follows <= found
    assert not leaves & found


def test_what_a_scenario_leaves_out_can_still_be_asked_for_by_itself():
    assert PLATFORM.scenarios.next_hops("default:repo@/deployments").element == "default:deployment"
    assert "deployments" not in links("default:repo")


def test_only_keeps_what_leads_to_the_type_and_nothing_else():
    name = name_of("", only=["review"])

    assert links(f"default:{name}/org") == {"repos"}
    assert links(f"default:{name}/repo") == {"issues", "pull_requests"}
    assert links(f"default:{name}/pull_request") == {"reviews"}
    assert links(f"default:{name}/review") == set()


def test_only_follows_what_the_scenario_would_not_if_there_is_no_other_way():
    assert "deployments" in links(f"default:{name_of('', only=['deployment_status'])}/repo")
    assert "stargazers" in links(f"default:{name_of('', only=['stargazers'])}/repo")
    assert "stargazers" not in links(f"default:{name_of('', only=['user'])}/repo")


def test_without_leaves_out_whatever_would_lead_to_the_type():
    name = name_of("default", without=["user", "commit"])

    assert "commits" not in links(f"default:{name}/repo")
    assert "contributors" not in links(f"default:{name}/repo")
    assert links(f"default:{name}/issue") == {"pull_request", "issue_comments"}


def test_wishes_can_be_combined_and_are_in_the_name():
    name = name_of("issues", only=["issue", "user"], without=["pull_request"], since="2026-01-31")

    assert name == "issues__only__issue__user__except__pull_request__since__20260131"
    assert links(f"default:{name}/issue") == {"user", "assignee", "assignees", "closed_by", "issue_comments"}
    assert floor_of(f"refresh:{name}/repo@/issues") == "2026-01-31T00:00:00Z"
    assert floor_of("default:everything/repo") == ""
    assert name_of("") == ""


def test_a_wish_with_a_typo_is_told_the_nearest_type():
    with pytest.raises(SpecError, match=r"unknown type 'isue'; did you mean issue\?"):
        links("default:default__only__isue/repo")


@pytest.mark.parametrize("name", ["nothing", "default__only__isue", "default__issue", "default__except__x"])
def test_a_wish_that_names_nothing_is_refused(name: str):
    with pytest.raises(SpecError, match=r"unknown (type|scenario)"):
        links(f"default:{name}/repo")


def test_since_asks_lists_for_what_changed_since_and_leaves_their_cursors_alone():
    name = name_of("", since="2026-01-31")
    outcome = saved("repo", a_repo(), policy=f"default:{name}/repo")
    walks = {push.request.type: push.request.context.pagination for push in outcome.follow_ups}
    query = "state=all&sort=updated&direction=asc&since=2026-01-31T00:00:00Z&per_page=100"

    assert f"{REPO}/issues?{query}" in asked(outcome)
    assert f"{REPO}/commits?since=2026-01-31T00:00:00Z&per_page=100" in asked(outcome)
    assert (walks["issues"].since, walks["issues"].first) == ("2026-01-31T00:00:00Z", "")
    assert f"{REPO}/labels?per_page=100" in asked(outcome)


def test_since_leaves_out_what_changed_before_and_stops_where_all_behind_is_older():
    policy = f"default:{name_of('', since='2026-01-31')}/repo@/releases"
    page = [{"id": n, "url": f"{REPO}/releases/{n}", "published_at": f"2026-0{n}-01T00:00:00Z"} for n in (3, 2, 1)]
    link = {"next": f"{API}/next"}
    outcome = process("releases", page, policy=policy, qualifier="urn:repo:12", link=link)

    assert isinstance(outcome, Skip), "a page that was kept would hide what it leaves out"

    assert set(carried(outcome)) == {f"{REPO}/releases/3", f"{REPO}/releases/2"}
    assert asked(outcome) == {}


def test_without_since_no_issue_is_too_old():
    outcome = saved("issues", [an_issue(1)], url=f"{REPO}/issues", qualifier="urn:repo:12")

    assert f"{REPO}/issues/1" in carried(outcome)
