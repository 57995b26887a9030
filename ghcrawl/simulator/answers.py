"""Answers that depend on nothing but themselves, and the way to give one from anywhere."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from msgspec import Struct


class Answer(Struct, frozen=True, kw_only=True):
    """A whole answer that depends on nothing but itself. body: JSON, or text for the answers that are none."""

    status: int
    body: Any
    headers: Mapping[str, str] = {}


class Refusal(Exception):
    """Raised wherever a question turns out to have no other answer than this one."""

    def __init__(self, answer: Answer) -> None:
        super().__init__(answer.status)
        self.answer = answer
