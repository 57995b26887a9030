"""What a repository has one of."""

from __future__ import annotations

from typing import Any

import pytest

from ghcrawl.platforms.kind import alternative, refusal_of
from ghcrawl.values.errors import Malformed
from ghcrawl.values.frozen import replace
from ghcrawl.values.requests import Context, Request
from ghcrawl.values.type_names import LEGACY_PLATFORM
from processors.github import PARTS
from tests.support.builders import NOW, at
from tests.support.github import PLATFORM, REPO, a_repo, a_visit, asked, carried, kind_of, process, saved

RELEASE = {"id": 4, "url": f"{REPO}/releases/4", "assets": [{"id": 5, "url": f"{REPO}/releases/assets/5"}]}
WHOLE = a_repo(size=1, permissions={"push": True}, license={"key": "mit"}, fork=False, topics=["a"])
EVERYTHING = "default:everything/repo"


FILE = {"content": "", "sha": "abc"}
BODIES: dict[str, Any] = {
    "topics": {"names": ["a"]},
    "languages": {"Python": 5},
    "license": FILE,
    "readme": FILE,
    "codeowners": FILE,
    "community_profile": {"health_percentage": 50, "files": {}},
    "sbom": {"sbom": {"packages": []}},
    "views": {"count": 1, "uniques": 1},
    "clones": {"count": 1, "uniques": 1},
    "paths": [{"path": "/"}],
    "referrers": [{"referrer": "x"}],
    "contributor_statistics": [{"total": 1}],
    "commit_activity": [{"total": 1}],
    "code_frequency": [[1, 5, -3]],
    "participation": {"all": [1], "owner": [0]},
    "punch_card": [[0, 1, 2]],
}


@pytest.mark.parametrize("part", PARTS, ids=lambda part: part.type)
def test_every_part_is_asked_for_and_saved_under_its_repository(part: Any):
    repo = saved("repo", WHOLE, policy=EVERYTHING)
    url, body = f"{REPO}{part.path}", BODIES[part.type]
    document = saved(part.type, body, url=url, qualifier="urn:repo:12").document

    assert url in asked(repo) | carried(repo)
    assert repo.document.links[part.type].href == f"urn:repo:12:{part.type}"
    assert document.urn.startswith(f"urn:repo:12:{part.type}")
    assert document.body == ({"elements": body} if isinstance(body, list) else body)
    assert document.links["repo"].href == "urn:repo:12"
    assert PLATFORM.scenarios.next_hops(f"default:{part.type}").links == {}
    with pytest.raises(Malformed, match="is of a repo"):
        process(part.type, body, qualifier="urn:org:9")


@pytest.mark.parametrize("part", PARTS, ids=lambda part: part.type)
def test_what_is_no_such_part_is_refused_and_nothing_at_all_is_not(part: Any):
    for body in (None, "text", {"message": "Server Error"}, [5], ["text"], {"names": None, "x": "y"}):
        if part.type == "topics" and body == {"names": None, "x": "y"}:
            continue
        with pytest.raises(Malformed, match=f"this is no {part.type}"):
            process(part.type, body, qualifier="urn:repo:12")
    assert saved(part.type, [], qualifier="urn:repo:12").document.body == {"elements": []}
    again = saved(
        part.type,
        saved(part.type, BODIES[part.type], qualifier="urn:repo:12").document.body,
        qualifier="urn:repo:12",
        origin="storage",
    )
    assert again.document.urn.startswith(f"urn:repo:12:{part.type}")


def test_a_repository_without_files_is_not_asked_for_any():
    wanted = asked(saved("repo", a_repo(size=0, license=None, private=True), policy=EVERYTHING))

    assert not any(word in url for url in wanted for word in ("readme", "license", "stats", "languages", "CODEOWNERS"))


def test_files_are_asked_for_again_only_where_they_are_missing_while_the_repository_does_not_change():
    first = asked(saved("repo", WHOLE, policy=EVERYTHING, origin="storage"))
    again = asked(saved("repo", WHOLE, policy=EVERYTHING, origin="storage", visited=True))

    assert first[f"{REPO}/readme"] == "default:everything/self"
    assert again[f"{REPO}/readme"] == "storageOriginIfMissing+match:everything/self"
    assert again[f"{REPO}/traffic/views"] == first[f"{REPO}/traffic/views"] == "default:everything/self"


def test_a_part_that_may_be_in_several_places_is_refused_once_for_all_of_them():
    kind = kind_of("codeowners")
    context = Context(qualifier="urn:repo:12")

    assert {
        refusal_of(
            kind,
            Request(
                platform=LEGACY_PLATFORM, type="codeowners", url=f"{REPO}/contents/{place}CODEOWNERS", context=context
            ),
        )
        for place in (".github/", "", "docs/")
    } == {"urn:repo:12:codeowners:refused"}


def test_traffic_is_a_document_for_each_day_because_github_forgets():
    url = f"{REPO}/traffic/views"
    today = saved("views", {"count": 1, "uniques": 1}, url=url, qualifier="urn:repo:12").document
    tomorrow = saved(
        "views", {"count": 2, "uniques": 1}, url=url, qualifier="urn:repo:12", observed_at=at(86_400)
    ).document

    assert today.urn == f"urn:repo:12:views:{NOW.date()}"
    assert (today.url, today.aliases) == (f"{url}#{NOW.date()}", (url,))
    assert tomorrow.urn != today.urn


@pytest.mark.parametrize(("visited", "asks"), [(False, True), (True, False)])
def test_the_lists_of_an_empty_repository_are_asked_for_unless_it_was_traversed_from_here_before(
    visited: bool, asks: bool
):
    wanted = asked(saved("repo", a_repo(size=0), policy=EVERYTHING, origin="storage", visited=visited))

    for path in ("branches", "commits", "contributors", "tags"):
        assert any(url.startswith(f"{REPO}/{path}?") for url in wanted) is asks


@pytest.mark.parametrize(("visited", "carries"), [(False, True), (True, False)])
def test_who_finds_a_copy_that_another_walk_left_carries_what_that_left_alone(visited: bool, carries: bool):
    topics = carried(saved("repo", WHOLE, origin="storage", visited=visited))
    assets = carried(saved("release", RELEASE, qualifier="urn:repo:12", origin="storage", visited=visited))

    assert (f"{REPO}/topics" in topics) is carries
    assert (f"{REPO}/releases/assets/5" in assets) is carries


@pytest.mark.parametrize(("type", "body"), [("repo", WHOLE), ("release", RELEASE)])
def test_what_lies_in_a_copy_is_as_old_as_the_copy(type: str, body: dict[str, Any]):
    visit = a_visit(type, body, qualifier="urn:repo:12", origin="storage")
    outcome = kind_of(type).processor(replace(visit, fetched=replace(visit.fetched, checked_at=at(-60))))
    payloads = [push.request.payload for push in outcome.follow_ups]

    assert {payload.received_at for payload in payloads if payload is not None} == {at(-60)}


def test_what_changed_is_gone_through_again_from_where_it_was_gone_through_before():
    repo = saved("repo", WHOLE, policy=EVERYTHING, visited=True)
    release = saved("release", RELEASE, qualifier="urn:repo:12", visited=True)

    assert asked(repo)[f"{REPO}/readme"] == "default:everything/self"
    assert f"{REPO}/topics" in carried(repo)
    assert f"{REPO}/releases/assets/5" in carried(release)


def test_topics_are_in_the_repository_and_cost_no_call():
    assert carried(saved("repo", WHOLE))[f"{REPO}/topics"] == {"names": ["a"]}


def test_the_owners_of_the_code_are_looked_for_in_three_places():
    request: Request | None = Request(
        platform=LEGACY_PLATFORM, type="codeowners", url=f"{REPO}/contents/.github/CODEOWNERS"
    )
    places = []
    while request is not None:
        places.append(request.url.removeprefix(f"{REPO}/contents/"))
        request = alternative(kind_of("codeowners"), request)

    assert places == [".github/CODEOWNERS", "CODEOWNERS", "docs/CODEOWNERS"]
