"""Bodies of every kind in every form that its row knows, each with what that form leaves out left out."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final, cast

from ghcrawl.values.documents import Document
from ghcrawl.values.forms import Form
from processors.github.entity import Entity
from tests.support.builders import at
from tests.support.github import REPO, saved

QUALIFIERS: Final = {
    "project": "urn:org:9",
    "project_item": "urn:org:9:project:3",
    "status": "urn:repo:12:commit:abc",
    "reaction": "urn:repo:12:issue:34",
    "deployment_status": "urn:repo:12:deployment:3",
    "issue_event": "urn:repo:12:issue:34",
    "package": "urn:org:9",
}
ORIGINS: Final = {"own": "fetch", "list": "list", "webhook": "webhook", "event": "event", "batch": "batch"}
BODY: Final[dict[str, Any]] = {
    "id": 5,
    "number": 5,
    "name": "main",
    "login": "ada",
    "sha": "abc",
    "head_sha": "abc",
    "commit_id": "abc",
    "ghsa_id": "GHSA-1",
    "ref": "refs/tags/main",
    "commit": {"sha": "abc", "commit": {"message": "m"}},
    "object": {"sha": "abc"},
    "issue": {"url": f"{REPO}/issues/34"},
    "issue_url": f"{REPO}/issues/34",
    "pull_request_url": f"{REPO}/pulls/34",
    "state": "closed",
}
"""Enough to name almost any kind."""
NAMES: Final[dict[str, dict[str, Any]]] = {
    "gist": {"id": "aa5a315d"},
    "branch_protection": {"url": f"{REPO}/branches/main/protection"},
    "membership": {"organization": {"id": 9}, "user": {"id": 5}},
    "workflow_job": {"run_id": 3},
}
"""What else names those that it does not."""


def whole(entity: Entity) -> dict[str, Any]:
    """All that any form of it is known to leave out, and what names it."""
    left_out = {path for fields in entity.lacks.values() for path in fields if "." not in path}
    return {
        **{path: {"said": path} for path in left_out - BODY.keys()},
        **BODY,
        **NAMES.get(entity.type, {}),
        "extra": 1,
    }


def told(entity: Entity, form: Form, seen_s: float) -> dict[str, Any]:
    """What that form says of it, with a title of that moment."""
    body = whole(entity) | {"title": str(seen_s)}
    for path in entity.leaves_out(form):
        *above, last = path.split(".")
        inner = body
        for name in above:
            inner[name] = inner = dict(inner[name])
        inner.pop(last, None)
    return body


def sight(entity: Entity, form: Form, seen_s: float) -> Document:
    """The document of it in that form, seen then."""
    body = told(entity, form, seen_s)
    over = {"qualifier": QUALIFIERS.get(entity.type, "urn:repo:12"), "url": f"{REPO}/x"}
    return saved(entity.type, body, origin=ORIGINS[form], observed_at=at(seen_s), **over).document


def forms_of(entity: Entity) -> Sequence[Form]:
    """Its own and those that leave something out; of what has one form only, that."""
    return cast("Sequence[Form]", sorted({"own", "list", *entity.lacks})) if entity.endpoint else ("list",)


def paths(body: Any) -> set[tuple[str, ...]]:
    """Every field, however deep."""
    if not isinstance(body, dict):
        return {()}
    return {(name, *rest) for name, value in body.items() for rest in paths(value)}
