"""One thing, one document: whichever way it is found, and in whatever order what is found arrives."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ghcrawl.values.documents import Document
from ghcrawl.values.outcome import Fetched, Save, Visit
from ghcrawl.values.requests import Payload, Request
from stores.memory import MemoryStore
from tests.support.builders import at
from tests.support.github import PLATFORM, REPO, a_commit, a_visit, an_issue, kind_of

pytestmark = pytest.mark.slow

IN_REPO = "urn:repo:12"
ON_ISSUE = f"{IN_REPO}:issue:34"
ON_PULL = f"{IN_REPO}:pull_request:34"
ON_COMMIT = f"{IN_REPO}:commit:abc"
HEAD = {"head_sha": "abc", "id": 5}
KINDS: dict[str, tuple[dict[str, Any], list[tuple[str, str]]]] = {
    "issue": (an_issue(), [("issues", IN_REPO)]),
    "issue_comment": (
        {"id": 56, "issue_url": f"{REPO}/issues/34", "url": f"{REPO}/issues/comments/56"},
        [("issue_comments", IN_REPO), ("issue_comments", ON_ISSUE)],
    ),
    "issue_event": (
        {"id": 9, "issue": {"url": f"{REPO}/issues/34"}, "url": f"{REPO}/issues/events/9"},
        [("issue_events", IN_REPO), ("issue_events", ON_ISSUE)],
    ),
    "review": ({"id": 7, "pull_request_url": f"{REPO}/pulls/34"}, [("reviews", ON_PULL)]),
    "review_comment": (
        {"id": 8, "pull_request_url": f"{REPO}/pulls/34", "url": f"{REPO}/pulls/comments/8"},
        [("review_comments", IN_REPO), ("review_comments", ON_PULL)],
    ),
    "commit": (a_commit(), [("commits", IN_REPO), ("pull_request_commits", ON_PULL)]),
    "commit_comment": (
        {"id": 9, "commit_id": "abc", "url": f"{REPO}/comments/9"},
        [("commit_comments", IN_REPO), ("commit_comments", ON_COMMIT)],
    ),
    "label": ({"id": 208, "name": "bug", "url": f"{REPO}/labels/bug"}, [("labels", IN_REPO)]),
    "release": ({"id": 4, "tag_name": "v1", "url": f"{REPO}/releases/4"}, [("releases", IN_REPO)]),
    "release_asset": ({"id": 6, "url": f"{REPO}/releases/assets/6"}, [("assets", f"{IN_REPO}:release:4")]),
    "check_run": (
        {**HEAD, "url": f"{REPO}/check-runs/5"},
        [("check_runs", ON_COMMIT), ("check_runs", f"{ON_COMMIT}:check_suite:1")],
    ),
    "deployment_status": (
        {"id": 8, "deployment_url": f"{REPO}/deployments/3", "url": f"{REPO}/deployments/3/statuses/8"},
        [("deployment_statuses", f"{IN_REPO}:deployment:3")],
    ),
    "workflow_run": (
        {"id": 7, "url": f"{REPO}/actions/runs/7"},
        [("workflow_runs", IN_REPO), ("workflow_runs", f"{IN_REPO}:workflow:2")],
    ),
    "dependabot_alert": ({"number": 1, "url": f"{REPO}/dependabot/alerts/1"}, [("dependabot_alerts", IN_REPO)]),
}
"""Kind → body, and the lists that hold it whole with what each is of. All lie in one repository."""


def processed(request: Request, body: Any, seen_at: float) -> Save:
    kind = kind_of(request.type)
    spec = f"default:{kind.position}"
    fetched = Fetched(body=body, url=request.url, observed_at=at(seen_at), checked_at=at(seen_at))
    outcome = kind.processor(
        Visit(
            request=request,
            fetched=fetched,
            next_hops=PLATFORM.scenarios.next_hops(spec),
            version=kind.version,
            processed_at=at(seen_at),
        )
    )
    assert isinstance(outcome, Save)
    return outcome


def alone(kind: str, body: Any, seen_at: float) -> Document:
    """By its own URL, or in what a webhook carried."""
    request = a_visit(kind, body, url=str(body.get("url") or f"{REPO}/{kind}"), qualifier=IN_REPO).request
    return processed(request, body, seen_at).document


def listed(kind: str, body: Any, seen_at: float, page: tuple[str, str]) -> Document:
    """In a list: the page carries it on to a request of its own."""
    visit = a_visit(page[0], [body], url=f"{REPO}/{page[0]}", qualifier=page[1], observed_at=at(seen_at))
    outcome = kind_of(page[0]).processor(visit)
    (push,) = [push for push in outcome.follow_ups if push.request.type == kind]
    payload = push.request.payload
    assert isinstance(payload, Payload)
    return processed(push.request, payload.body, seen_at).document


async def kept(documents: list[Document]) -> list[Document]:
    store = MemoryStore()
    for document in documents:
        await store.save(document)
    return [found for urn in {document.urn for document in documents} if (found := await store.get(urn))]


@pytest.mark.parametrize("kind", sorted(KINDS))
@settings(max_examples=30)
@given(data=st.data())
def test_any_order_of_arrival_by_any_way_gives_one_and_the_same_document(kind: str, data: st.DataObject):
    body, pages = KINDS[kind]
    moments = data.draw(st.lists(st.integers(1, 9), min_size=1, max_size=4, unique=True))
    found = []
    for moment in moments:
        version = {**body, "note": moment, "updated_at": f"2026-01-0{moment}T00:00:00Z"}
        way = data.draw(st.sampled_from([None, *pages]))
        found.append(alone(kind, version, moment) if way is None else listed(kind, version, moment, way))
    (document,) = asyncio.run(kept(data.draw(st.permutations(found))))

    assert len({each.urn for each in found}) == 1
    assert document.body["note"] == max(moments)
    assert document.type == kind
