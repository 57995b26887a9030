"""Every kind, seen in every form and order: no order ends with less than the richest form that was seen."""

from __future__ import annotations

import asyncio
import itertools
from collections.abc import Sequence
from typing import Any, cast

import pytest

from ghcrawl.values.model import Document, Form, Payload
from processors.github import ENTITIES
from processors.github.entities import BY_TYPE
from processors.github.entity import Entity
from stores.memory import MemoryStore
from tests.support.builders import at
from tests.support.github import REPO, saved

QUALIFIERS = {
    "project": "urn:org:9",
    "project_item": "urn:org:9:project:3",
    "status": "urn:repo:12:commit:abc",
    "reaction": "urn:repo:12:issue:34",
    "deployment_status": "urn:repo:12:deployment:3",
    "issue_event": "urn:repo:12:issue:34",
}
ORIGINS = {"own": "fetch", "list": "list", "webhook": "webhook", "event": "event", "batch": "batch"}
BODY: dict[str, Any] = {
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
"""Enough to name any kind."""


def whole(entity: Entity) -> dict[str, Any]:
    """All that any form of it is known to leave out, and what names it."""
    left_out = {path for fields in entity.lacks.values() for path in fields if "." not in path}
    return {**{path: {"said": path} for path in left_out - BODY.keys()}, **BODY, "extra": 1}


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
    body = told(entity, form, seen_s)
    over = {"qualifier": QUALIFIERS.get(entity.type, "urn:repo:12"), "url": f"{REPO}/x"}
    return saved(entity.type, body, origin=ORIGINS[form], observed_at=at(seen_s), **over).document


def forms_of(entity: Entity) -> Sequence[Form]:
    """Its own and those that leave something out; of what has one form only, that."""
    return cast("Sequence[Form]", sorted({"own", "list", *entity.lacks})) if entity.endpoint else ("list",)


async def kept(documents: Sequence[Document]) -> Document:
    store = MemoryStore()
    for document in documents:
        await store.save(document)
    found = await store.get(documents[0].urn)
    assert found is not None
    return found


def paths(body: Any) -> set[tuple[str, ...]]:
    """Every field, however deep."""
    if not isinstance(body, dict):
        return {()}
    return {(name, *rest) for name, value in body.items() for rest in paths(value)}


@pytest.mark.slow
@pytest.mark.parametrize("entity", ENTITIES, ids=lambda entity: entity.type)
def test_no_order_of_forms_ends_with_less_than_was_seen(entity: Entity):
    forms = forms_of(entity)
    ages = list(itertools.permutations(range(1, len(forms) + 1)))
    for moments in ages[:: max(1, len(ages) // 6)]:
        sights = [sight(entity, form, moment) for form, moment in zip(forms, moments, strict=True)]
        for order in itertools.permutations(sights):
            document = asyncio.run(kept(order))
            assert document.body["title"] == str(len(forms))
            assert paths(document.body) == set().union(*(paths(each.body) for each in sights))
            assert "own" in document.forms


@pytest.mark.parametrize("entity", [one for one in ENTITIES if one.lacks], ids=lambda entity: entity.type)
def test_a_form_that_leaves_something_out_is_partial_and_others_are_not(entity: Entity):
    for form in forms_of(entity):
        document = sight(entity, form, 1)
        assert document.forms[form].partial == bool(entity.lacks.get(form))


def test_what_is_found_in_lists_alone_is_whole_in_them():
    for type in ("reaction", "status"):
        assert sight(BY_TYPE[type], "list", 1).forms.keys() == {"own"}


def test_our_own_copy_is_of_no_form():
    assert saved("issue", BODY, origin="storage", qualifier="urn:repo:12").document.forms == {}


def test_an_open_issue_that_is_told_was_closed_by_nobody():
    body = {**BODY, "state": "open"}
    payload = Payload.of(body, origin="webhook", observed_at=at(1))
    document = saved("issue", payload.body, origin="webhook", qualifier="urn:repo:12").document
    assert document.body["closed_by"] is None
    assert "closed_by" not in saved("issue", body, origin="list", qualifier="urn:repo:12").document.body
