"""Visits to GitHub's things, and the smallest bodies that have what ours look at."""

from __future__ import annotations

from typing import Any

import ghcrawl.platforms.github
from ghcrawl.platforms.kind import Batch, Comparison, Continuation, List, Planning, Processed, Reconciliation
from ghcrawl.values.outcome import (
    Fetched,
    Save,
    Skip,
    Visit,
)
from ghcrawl.values.policy import parse
from ghcrawl.values.requests import Context, Pagination, Payload, Request
from ghcrawl.values.type_names import LEGACY_PLATFORM
from tests.support.builders import API, NOW

PLATFORM = ghcrawl.platforms.github.platform()
REPO = f"{API}/repos/acme/web"


def kind_of(type: str) -> Processed:
    """The kind of `type`, which has a processor."""
    kind = PLATFORM.kinds[type]
    assert not isinstance(kind, Batch | Reconciliation | Planning)
    return kind


def continuation_of(type: str) -> Continuation:
    """How the list of that type is read on."""
    kind = PLATFORM.kinds[type]
    assert isinstance(kind, List)
    assert kind.continuation is not None
    return kind.continuation


def comparison_of(request: Request) -> Comparison:
    """What a request for a reconciliation carries."""
    kind = PLATFORM.kinds[request.type]
    assert isinstance(kind, Reconciliation)
    return kind.comparison(request)


FETCHED = ("link", "origin", "observed_at", "aliases", "partial", "validator")


def a_visit(type: str, body: Any, *, url: str = "", policy: str = "default", **over: Any) -> Visit:
    """A visit to `body` of `type`, fetched just now. Context fields and `Fetched` fields go by their names."""
    kind = kind_of(type)
    spec = parse(policy).placed(kind.position).spec
    fetched_fields = {name: over.pop(name) for name in FETCHED if name in over}
    payload, visited = over.pop("payload", None), over.pop("visited", False)
    request = Request(
        platform=LEGACY_PLATFORM,
        type=type,
        url=url or f"{API}/{type}",
        policy=spec,
        context=Context(**over),
        payload=Payload.of(body, origin="list", observed_at=NOW) if payload else None,
        asked_at=NOW,
    )
    fetched = Fetched(**({"body": body, "url": request.url, "observed_at": NOW, "checked_at": NOW} | fetched_fields))
    return Visit(
        request=request,
        fetched=fetched,
        next_hops=PLATFORM.scenarios.next_hops(spec),
        version=kind.version,
        processed_at=NOW,
        known=visited,
        visited=visited,
    )


def process(type: str, body: Any, **over: Any) -> Save | Skip:
    """What the processor of `type` makes of `body`."""
    return kind_of(type).processor(a_visit(type, body, **over))


def saved(type: str, body: Any, **over: Any) -> Save:
    """The same, where a document is expected."""
    outcome = process(type, body, **over)
    assert isinstance(outcome, Save)
    return outcome


def asked(outcome: Save | Skip) -> dict[str, str]:
    """URL → policy of the follow-ups that need a call."""
    return {push.request.url: push.request.policy for push in outcome.follow_ups if push.request.payload is None}


def carried(outcome: Save | Skip) -> dict[str, dict[str, Any]]:
    """URL → body of the follow-ups that carry their payload."""
    return {
        push.request.url: dict(push.request.payload.body)
        for push in outcome.follow_ups
        if push.request.payload is not None
    }


def walking(first: str = "", **pagination: Any) -> Pagination:
    return Pagination(first=first, **pagination)


def a_user(number: int = 5, login: str = "ada", **over: Any) -> dict[str, Any]:
    return {"id": number, "login": login, "url": f"{API}/users/{login}", "type": "User", **over}


def an_org(number: int = 9, login: str = "acme", **over: Any) -> dict[str, Any]:
    return {"id": number, "login": login, "url": f"{API}/orgs/{login}", **over}


def a_repo(number: int = 12, name: str = "web", **over: Any) -> dict[str, Any]:
    owner = {"id": 9, "login": "acme", "url": f"{API}/users/acme", "type": "Organization"}
    return {
        "id": number,
        "name": name,
        "full_name": f"acme/{name}",
        "url": f"{API}/repos/acme/{name}",
        "private": False,
        "owner": owner,
        "organization": owner,
        "has_issues": True,
        "updated_at": "2026-01-02T00:00:00Z",
        **over,
    }


def an_issue(number: int = 34, **over: Any) -> dict[str, Any]:
    return {
        "id": 1000 + number,
        "number": number,
        "url": f"{REPO}/issues/{number}",
        "title": f"Issue {number}",
        "user": a_user(),
        "comments": 0,
        "created_at": "2026-01-01T00:00:00Z",
        "updated_at": "2026-01-02T00:00:00Z",
        **over,
    }


def a_pull_request(number: int = 34, **over: Any) -> dict[str, Any]:
    return {
        "id": 2000 + number,
        "number": number,
        "url": f"{REPO}/pulls/{number}",
        "user": a_user(),
        "review_comments": 0,
        "created_at": "2026-01-01T00:00:00Z",
        "updated_at": "2026-01-02T00:00:00Z",
        **over,
    }


def a_commit(sha: str = "a" * 40, *, comments: int = 0, **over: Any) -> dict[str, Any]:
    return {
        "sha": sha,
        "url": f"{REPO}/commits/{sha}",
        "commit": {"message": "m", "comment_count": comments},
        "author": a_user(),
        "committer": None,
        "parents": [{"sha": "b" * 40}],
        **over,
    }
