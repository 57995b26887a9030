"""What is known of a thing in one form answers who asks for another only if it is as good."""

from __future__ import annotations

from typing import Any

import pytest

from ghcrawl.values.requests import Context, Payload, Request
from ghcrawl.values.type_names import LEGACY_PLATFORM
from tests.support.backend import CrawlBackend
from tests.support.github import REPO, a_commit, an_issue

SHA = "a" * 40
COMMIT = f"{REPO}/commits/{SHA}"
LISTED = a_commit(SHA)
WHOLE = {**LISTED, "files": [{"filename": "x"}], "stats": {"total": 1}}
ISSUE = an_issue(34, state="closed")


def own(type: str, url: str, policy: str = "default") -> Request:
    return Request(
        platform=LEGACY_PLATFORM, type=type, url=url, policy=policy, context=Context(qualifier="urn:repo:12")
    )


def in_list(type: str, body: dict[str, Any], backend: CrawlBackend) -> Request:
    now = backend.clock.now()
    payload = Payload.of(body, origin="list", observed_at=now, received_at=now)
    context = Context(qualifier="urn:repo:12")
    return Request(
        platform=LEGACY_PLATFORM, type=type, url=body["url"], policy="default:self", context=context, payload=payload
    )


@pytest.fixture
def backend() -> CrawlBackend:
    backend = CrawlBackend()
    backend.fetcher.bodies |= {COMMIT: WHOLE, ISSUE["url"]: {**ISSUE, "closed_by": None}}
    return backend


async def kept(backend: CrawlBackend, type: str) -> dict[str, Any]:
    (found,) = [document for document in (await backend.documents()).values() if document.type == type]
    return dict(found.body)


async def test_a_list_leaves_the_files_of_a_commit_that_was_asked_for_by_itself(backend: CrawlBackend):
    await backend.settle(own("commit", COMMIT), queue="normal")
    backend.clock.advance(60)
    await backend.settle(in_list("commit", LISTED, backend))
    assert await kept(backend, "commit") == WHOLE
    await backend.settle(own("commit", COMMIT), queue="normal")
    assert [each for each in backend.calls() if "commit@" in each] == [f"commit@{COMMIT}"], "it is known whole"


@pytest.mark.parametrize("policy", ["default", "audit", "reload"])
async def test_a_commit_known_from_a_list_is_asked_for_by_who_wants_it_whole(backend: CrawlBackend, policy: str):
    await backend.settle(in_list("commit", LISTED, backend))
    await backend.settle(own("commit", COMMIT, policy), queue="normal")
    assert await kept(backend, "commit") == WHOLE


@pytest.mark.parametrize("policy", ["reprocess", "reprocessAndDiscover"])
async def test_who_is_content_with_our_copy_asks_nobody(backend: CrawlBackend, policy: str):
    await backend.settle(in_list("commit", LISTED, backend))
    await backend.settle(own("commit", COMMIT, policy), queue="normal")
    assert not [each for each in backend.calls() if "commit@" in each]


async def test_what_was_wanted_whole_is_asked_for_again_once_it_changed(backend: CrawlBackend):
    url = ISSUE["url"]
    await backend.settle(own("issue", url, "default:self"), queue="normal")
    backend.clock.advance(60)
    after = {**ISSUE, "title": "other", "updated_at": "2026-01-03T00:00:00Z"}
    backend.fetcher.bodies[url] = {**after, "closed_by": {"id": 5}}
    await backend.settle(in_list("issue", after, backend))
    assert await kept(backend, "issue") == {**after, "closed_by": {"id": 5}}
    assert backend.calls().count(f"issue@{url}") == 2
    await backend.settle(in_list("issue", after, backend))
    assert backend.calls().count(f"issue@{url}") == 2, "nothing changed since"


async def test_what_nobody_wanted_whole_costs_no_call(backend: CrawlBackend):
    await backend.settle(in_list("issue", ISSUE, backend))
    await backend.settle(in_list("issue", {**ISSUE, "title": "other", "updated_at": "2026-01-03T00:00:00Z"}, backend))
    assert not [each for each in backend.calls() if "issue@" in each]


async def test_an_issue_event_without_its_issue_answers_nobody_who_asks_for_the_whole_one(backend: CrawlBackend):
    url = f"{REPO}/issues/events/9"
    listed = {"id": 9, "url": url, "event": "closed", "created_at": "2026-01-01T00:00:00Z"}
    whole = {**listed, "issue": ISSUE}
    backend.fetcher.bodies[url] = whole
    request = in_list("issue_event", listed, backend)
    request = Request(
        platform=LEGACY_PLATFORM,
        type="issue_event",
        url=url,
        policy="default:self",
        context=Context(qualifier="urn:repo:12:issue:34"),
        payload=request.payload,
    )
    await backend.settle(request)
    await backend.settle(own("issue_event", url), queue="normal")
    assert not await backend.letters()
    assert await kept(backend, "issue_event") == whole
