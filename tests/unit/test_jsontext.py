"""JSON comes back as it went in, whatever it holds."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ghcrawl.jsontext import dumps, loads

TEXT = st.text(st.characters(exclude_categories=()), max_size=8)
JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | TEXT,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(TEXT, inner, max_size=3),
    max_leaves=8,
)


@given(JSON)
def test_whatever_is_json_survives(value: Any):
    assert loads(dumps(value)) == value


@given(JSON)
def test_it_is_json_to_everybody_else(value: Any):
    assert json.loads(dumps(value)) == value


@pytest.mark.parametrize("number", [2**63 - 1, 2**63, -(2**63) - 1, 2**64, 10**30, -(10**18), 10**18])
def test_long_integers_keep_every_digit(number: int):
    assert loads(json.dumps([number]).encode()) == [number]


@pytest.mark.parametrize("text", [b"", b"{", b"NaN", b"[Infinity]", b"<html>", b'{"a":1}x', b"1e999", b"[-1E400]"])
def test_what_is_not_json_is_refused(text: bytes):
    with pytest.raises(ValueError):  # noqa: PT011  # that is all the two parsers have in common
        loads(text)


def test_the_order_of_keys_can_be_fixed():
    assert dumps({"b": 1, "a": {"d": 1, "c": "\ud800"}}, sort_keys=True) == b'{"a":{"c":"\\ud800","d":1},"b":1}'
