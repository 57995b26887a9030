"""Processors are total: any JSON gives an outcome or a stated refusal, and nothing that was sent is lost."""

from __future__ import annotations

import contextlib
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ghcrawl.platforms.kind import Batch, Reconciliation
from ghcrawl.values.errors import Malformed
from ghcrawl.values.frozen import replace
from ghcrawl.values.outcome import (
    Fetched,
    Save,
    Skip,
    Visit,
)
from ghcrawl.values.policy import parse
from ghcrawl.values.requests import Ancestor
from processors.github.events_table import NAMES
from processors.github.webhook import delivery_request
from tests.support.builders import NOW
from tests.support.github import (
    PLATFORM,
    a_commit,
    a_pull_request,
    a_repo,
    a_user,
    an_issue,
    an_org,
    kind_of,
    process,
)
from tests.support.json_values import JSON, TEXT

pytestmark = pytest.mark.slow

WHOLE: dict[str, Any] = {
    "org": an_org(),
    "user": a_user(public_repos=3),
    "repo": a_repo(parent={"id": 1}),
    "team": {"id": 7, "organization": an_org(), "parent": {"id": 8}, "members_count": 2},
    "issue": an_issue(comments=2, labels=[{"id": 1}], milestone={"number": 2}, assignees=[a_user()]),
    "pull_request": a_pull_request(head={"repo": {"id": 3}}, base={"repo": {"id": 12}}, review_comments=1),
    "commit": a_commit(comments=1),
    "release": {"id": 4, "tag_name": "v1", "assets": [{"id": 6, "url": "u"}], "reactions": {"total_count": 1}},
    "issue_event": {"id": 9, "issue": an_issue(), "actor": a_user(), "label": {"id": 1}, "commit_id": "c"},
    "check_run": {"id": 5, "head_sha": "c", "check_suite": {"id": 1}, "pull_requests": [{"number": 3}]},
    "status": {"id": 5, "url": "https://x/repos/a/b/statuses/c", "creator": a_user()},
    "deployment": {"id": 3, "sha": "c", "creator": a_user()},
    "workflow_run": {"id": 7, "workflow_id": 2, "head_sha": "c", "actor": a_user(), "pull_requests": [{}]},
    "branch": {"name": "main", "commit": {"sha": "c"}},
}
QUALIFIERS = ["", "urn:repo:12", "urn:org:9", "urn:repo:12:pull_request:34", "urn:repo:12:issue:34", "urn:team:7", "x"]


def assert_total(type: str, body: Any, **over: Any) -> None:
    with contextlib.suppress(Malformed):
        assert isinstance(process(type, body, **over), Save | Skip)


PROCESSED = sorted(type for type, kind in PLATFORM.kinds.items() if not isinstance(kind, Batch | Reconciliation))


@pytest.mark.parametrize("type", PROCESSED)
@given(body=JSON, qualifier=st.sampled_from(QUALIFIERS))
def test_any_json_gives_an_outcome_or_a_refusal(type: str, body: Any, qualifier: str):
    assert_total(type, body, qualifier=qualifier)
    assert_total(type, [body], qualifier=qualifier)


@pytest.mark.parametrize("type", sorted(WHOLE))
@given(data=st.data())
def test_any_field_may_be_missing_null_or_something_else(type: str, data: st.DataObject):
    body = dict(WHOLE[type])
    for name in data.draw(st.sets(st.sampled_from(sorted(body)))):
        replacement: object = data.draw(st.sampled_from(["absent", None, [], {}, "x", 0, -1, True]))
        if replacement == "absent":
            del body[name]
        else:
            body[name] = replacement

    assert_total(type, body, qualifier="urn:repo:12", history=(Ancestor("repo", "u"), Ancestor("issues", "u")))


@given(extra=st.dictionaries(TEXT.filter(lambda name: name != "_metadata"), JSON, max_size=4))
def test_every_field_that_github_sent_is_kept(extra: dict[str, Any]):
    body = {**extra, **an_issue()}
    outcome = process("issue", body, qualifier="urn:repo:12")

    assert isinstance(outcome, Save)
    assert outcome.document.body == body


THINGS = {**WHOLE, "sender": a_user(), "repository": {**a_repo(), "events_url": "https://x/repos/acme/web/events"}}
FIELDS = sorted(
    {"action", "alert", "changes", "check_suite", "comment", "deployment_status", "discussion", "installation", "label"}
    | {"milestone", "organization", "projects_v2", "ref", "ref_type", "repositories_added", "updated_at", *THINGS}
)
LONG = "9" * 5000
ODD = [
    "transferred",
    "deleted",
    "refs/heads/x",
    "0001-01-01T00:00:00+05:00",
    LONG,
    f"https://x/issues/{LONG}",
]
PART = st.sampled_from(list(THINGS.values())) | st.sampled_from(ODD) | JSON
PAYLOAD = st.dictionaries(st.sampled_from(FIELDS), PART | st.dictionaries(st.sampled_from(FIELDS), PART, max_size=3))


@pytest.mark.parametrize("scenario", ["default", "everything"])
@given(name=st.sampled_from(sorted(NAMES)), payload=PAYLOAD)
def test_any_delivery_becomes_a_document_and_what_it_carries_an_outcome(
    scenario: str, name: str, payload: dict[str, Any]
):
    request = delivery_request(name, "d-1", payload, NOW)
    waiting = [replace(request, policy=f"{request.policy}:{scenario}/")]
    while waiting:
        request = waiting.pop()
        if request.payload is None:
            continue
        kind, body = kind_of(request.type), request.payload.body
        spec = parse(request.policy).placed(kind.position).spec
        fetched = Fetched(body=body, url=request.url, observed_at=request.payload.observed_at, checked_at=NOW)
        next_hops = PLATFORM.scenarios.next_hops(spec)
        visit = Visit(request=request, fetched=fetched, next_hops=next_hops, version=1, processed_at=NOW)
        with contextlib.suppress(Malformed):
            waiting += [push.request for push in kind.processor(visit).follow_ups]
