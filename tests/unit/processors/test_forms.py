"""What a form of a kind leaves out, as its documents say it.

Stores are held to what becomes of them, in every order, by `tests/contracts/forms_contract.py`.
"""

from __future__ import annotations

import pytest

from ghcrawl.values.requests import Payload
from processors.github import ENTITIES
from processors.github.entities import BY_TYPE
from processors.github.entity import Entity
from tests.support.builders import at
from tests.support.forms import BODY, forms_of, sight
from tests.support.github import saved


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
