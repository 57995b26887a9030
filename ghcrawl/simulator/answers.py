"""Answers that depend on nothing but themselves, and the way to give one from anywhere."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer:
    """A whole answer that depends on nothing but itself. body: JSON, or text for the answers that are none."""

    status: int
    body: Any
    headers: Mapping[str, str] = field(default_factory=dict)


class Refusal(Exception):
    """Raised wherever a question turns out to have no other answer than this one."""

    def __init__(self, answer: Answer) -> None:
        super().__init__(answer.status)
        self.answer = answer
