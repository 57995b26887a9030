"""Moments: seconds since 1970 while they are reckoned with, GitHub's texts once they are written."""

from __future__ import annotations

import calendar
import time
from datetime import UTC, datetime
from typing import Final

UNTIL: Final = 1_767_225_600
"""2026-01-01T00:00:00Z: where generated history ends. Everything later was done by `changes`."""

_FORMAT: Final = "%Y-%m-%dT%H:%M:%SZ"


def at(epoch_s: int) -> str:
    """The text for a moment."""
    return time.strftime(_FORMAT, time.gmtime(epoch_s))


def seconds(text: str) -> int:
    """The seconds since 1970 of a text that `at` wrote."""
    date = (int(text[:4]), int(text[5:7]), int(text[8:10]))
    return calendar.timegm((*date, int(text[11:13]), int(text[14:16]), int(text[17:19])))


def stamp(moment: datetime) -> str:
    """The text GitHub writes for a moment: UTC to the second, so that texts sort as moments do."""
    return moment.astimezone(UTC).strftime(_FORMAT)
