"""JSON comes back as it went in, whatever it holds."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given

from ghcrawl.values.jsontext import TooDeep, clip, dumps, loads
from tests.support.json_values import ANY_TEXT, json_values

JSON = json_values(ANY_TEXT)


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


def nested(depth: int, inside: str = '"]}{[\\"["') -> bytes:
    return (b'{"a":[' * (depth // 2)) + b"[" * (depth % 2) + inside.encode() + b"]" * (depth % 2) + b"]}" * (depth // 2)


@pytest.mark.parametrize("depth", [1, 2, 99, 100])
def test_what_is_nested_as_deep_as_allowed_is_read(depth: int):
    data = b"[" + b",".join([nested(depth - 1)] * 3) + b"]"
    assert loads(data, max_depth=100) == json.loads(data)


@pytest.mark.parametrize("depth", [101, 260, 995, 1000, 1025, 100_000])
def test_what_is_nested_deeper_is_refused_with_a_reason(depth: int):
    with pytest.raises(TooDeep, match="nested deeper than 100 levels"):
        loads(nested(depth), max_depth=100)


@pytest.mark.parametrize("depth", [100, 300, 5_000])
def test_a_value_can_be_cut_off_at_a_depth_however_deep_it_is(depth: int):
    value: Any = "end"
    for _ in range(depth):
        value = {"a": [value]}
    clipped = clip(value, 50)
    assert loads(dumps({"beside": clipped}), max_depth=51)["beside"]["a"]


def test_what_is_not_deep_is_not_cut():
    value = {"a": [1, {"b": None}], "c": "text"}
    assert clip(value, 3) == value
