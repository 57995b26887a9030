"""Whatever JSON there is comes back from BSON as it was, and MongoDB meets no name that it would misread."""

from __future__ import annotations

import json
from typing import Any

import pytest
from bson import decode, encode
from hypothesis import given
from hypothesis import strategies as st

from ghcrawl.values.errors import Unstorable
from stores.mongo.escaping import (
    ESCAPE,
    MAX_DEPTH,
    from_bson,
    plain_text,
    safe_name,
    safe_text,
    to_bson,
)

pytestmark = pytest.mark.slow

ODD = st.sampled_from(["", "_id", "_metadata", "$set", "a.b", ".", "$", ESCAPE, f"{ESCAPE}int", "\0", "\ud800", "ü"])
TEXTS = (st.text() | st.text(alphabet=st.characters(categories=["Cs", "Lu"])) | ODD).map(
    lambda text: json.loads(json.dumps(text))  # no parser leaves both halves of a character side by side
)
SCALARS = st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | TEXTS
VALUES = st.recursive(
    SCALARS, lambda inner: st.lists(inner, max_size=4) | st.dictionaries(TEXTS, inner, max_size=4), max_leaves=20
)
OBJECTS = st.dictionaries(TEXTS, VALUES, max_size=6)


def there_and_back(value: dict[str, Any]) -> dict[str, Any]:
    return from_bson(decode(encode(to_bson(value, "urn:x", outermost=True))))


def names(stored: Any) -> set[str]:
    if isinstance(stored, dict):
        return set(stored).union(*map(names, stored.values()))
    return set().union(*map(names, stored)) if isinstance(stored, list) else set()


@given(OBJECTS)
def test_what_goes_in_comes_out(value: dict[str, Any]):
    back = there_and_back(value)

    assert (back, repr(back)) == (value, repr(value))


@given(OBJECTS)
def test_no_name_means_anything_to_mongodb(value: dict[str, Any]):
    stored = to_bson(value, "urn:x", outermost=True)

    assert not [name for name in names(stored) if not name or name[0] == "$" or "." in name or "\0" in name]
    assert not {"_id", "_metadata"} & set(stored)


def test_ordinary_json_lies_there_as_it_is():
    value = {"title": "naïve 😀", "labels": [{"id": 1, "score": 0.5}], "big": 2**63 - 1, "_id2": None, "on": True}

    assert to_bson(value, "urn:x", outermost=True) == value


@pytest.mark.parametrize(
    ("value", "stored"),
    [
        ({"a.b": 1, "$set": 2}, {"␛a\\u002eb": 1, "␛\\u0024set": 2}),
        ({"_id": 1}, {"␛_id": 1}),
        ({"n": 10**30}, {"n": {"␛int": "1" + "0" * 30}}),
        ({"lone": "\ud800"}, {"lone": "␛\\ud800"}),
    ],
)
def test_what_is_escaped_can_be_read_by_a_person(value: dict[str, Any], stored: dict[str, Any]):
    assert to_bson(value, "urn:x", outermost=True) == stored


def test_what_lies_deeper_than_servers_take_comes_back():
    deep: Any = {"bottom": 10**40}
    for _ in range(5 * MAX_DEPTH):
        deep = [deep]

    assert there_and_back({"deep": deep}) == {"deep": deep}


def test_nothing_stored_is_shared_with_what_was_given():
    labels: list[Any] = []
    stored = to_bson({"labels": labels}, "urn:x")
    labels.append("later")

    assert stored == {"labels": []}


@pytest.mark.parametrize("value", [b"x", {1, 2}, {1: 2}, float("nan"), object()])
def test_what_is_not_json_can_never_be_stored(value: object):
    with pytest.raises(Unstorable, match="urn:x cannot be written as JSON"):
        to_bson({"value": [value]}, "urn:x")


@given(TEXTS)
def test_texts_and_names_come_back(text: str):
    assert plain_text(safe_text(text)) == text
    assert plain_text(safe_name(text)) == text
