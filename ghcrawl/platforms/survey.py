"""About how many calls a crawl would take: the questions that a survey asks, the replies, and the estimate."""

from __future__ import annotations

from collections.abc import Generator, Mapping, Sequence
from typing import TypeAlias

from msgspec import Struct

from ghcrawl.values.jsontext import Json


class Question(Struct, frozen=True, kw_only=True):
    """A page that a survey needs. ids: ask for these in one call instead."""

    type: str
    url: str
    ids: Sequence[str] = ()


class Reply(Struct, frozen=True, kw_only=True):
    """The page. body None: there is none. refused: no credential here may see it."""

    body: Json = None
    refused: bool = False
    link: Mapping[str, str] = {}


class Estimate(Struct, frozen=True, kw_only=True):
    """calls: by type of request; documents: by type of thing. notes: sentences for a person about what was assumed.

    parts: how many parts of one kind the crawl has, called `part` (plural); sampled: those that were looked at.
    """

    calls: Mapping[str, float]
    documents: Mapping[str, float]
    parts: int = 0
    sampled: int = 0
    part: str = "parts"
    notes: Sequence[str] = ()

    @property
    def total(self) -> int:
        """All calls."""
        return round(sum(self.calls.values()))


Survey: TypeAlias = Generator[Sequence[Question], Sequence[Reply], Estimate]
"""Yields questions in batches, is sent their replies, returns the estimate. Needs neither network nor clock."""
