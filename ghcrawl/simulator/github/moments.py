"""Moments: seconds since 1970 while they are reckoned with, GitHub's texts once they are written."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Final

from ghcrawl.values.times import iso, moment

UNTIL: Final = 1_767_225_600
"""2026-01-01T00:00:00Z: where generated history ends. Everything later was done by `changes`."""


def at(epoch_s: int) -> str:
    """The text for a moment."""
    return stamp(datetime.fromtimestamp(epoch_s, UTC))


def seconds(text: str) -> int:
    """The seconds since 1970 of a text that `at` wrote."""
    return int(moment(text).timestamp())


def stamp(moment: datetime) -> str:
    """The text GitHub writes for a moment: UTC to the second, so that texts sort as moments do."""
    return iso(moment, "seconds")


@dataclass(slots=True, kw_only=True, eq=False, repr=False)
class Dated:
    """When something was made, and when it was last changed; until the first change both are the same moment."""

    created_at: str
    updated_at: str = ""

    def __post_init__(self) -> None:
        self.updated_at = self.updated_at or self.created_at
