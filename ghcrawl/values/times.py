"""Times: aware UTC datetimes in memory, `2026-11-21T16:43:00.123Z` in JSON: fixed width, so they sort as text."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta, tzinfo
from typing import Final, Literal

from ghcrawl.values.jsontext import dumps

_EPOCH: Final = datetime(1970, 1, 1, tzinfo=UTC)
_MICROSECOND: Final = timedelta(microseconds=1)
_ENDS: Final = {"milliseconds": len('"2026-11-21T16:43:00.123'), "microseconds": len('"2026-11-21T16:43:00.123456')}
"""Length of a time in JSON up to this unit."""
CLOCKS_DIFFER: Final = timedelta(days=1)
"""How far a clock may be ahead. A last change later than this after its observation is not believed."""
_SECOND: Final = len("2026-11-21T16:43:00Z")


def iso(moment: datetime, timespec: Literal["seconds", "milliseconds", "microseconds"] = "milliseconds") -> str:
    """`moment` as fixed-width UTC text that ends in Z."""
    utc = moment if moment.tzinfo is UTC else moment.astimezone(UTC)
    if utc.microsecond and timespec in _ENDS:
        return dumps(utc)[1 : _ENDS[timespec]].decode() + "Z"  # in a quarter of the time that `isoformat` takes
    return utc.isoformat(timespec=timespec)[:-6] + "Z"


def time_text(moment: datetime) -> str:
    """`moment` to the microsecond, as stores and queues write it."""
    return iso(moment, "microseconds")


def moment(text: str, *, zone: tzinfo | None = None) -> datetime:
    """The UTC datetime of any ISO 8601 text. zone: of a text without an offset. Raises ValueError."""
    value = datetime.fromisoformat(text)
    if value.tzinfo is UTC:
        return value
    if value.tzinfo is None:
        if zone is None:
            raise ValueError(f"{text!r} has no time zone")
        value = value.replace(tzinfo=zone)
    try:
        return value.astimezone(UTC)
    except OverflowError:
        raise ValueError(f"{text!r} is out of range: outside the years 1–9999 in UTC") from None


def micros(moment: datetime) -> int:
    """`moment` as whole microseconds since 1970."""
    return (moment - _EPOCH) // _MICROSECOND


def from_micros(number: int) -> datetime:
    """The inverse of `micros`."""
    return _EPOCH + number * _MICROSECOND


def dated(text: str) -> str:
    """A platform's text for a time, as UTC to the second, so that it sorts; empty if it is not a time."""
    try:
        value = moment(text, zone=UTC)
    except (ValueError, OverflowError):
        return ""
    return text if len(text) == _SECOND and text[10] == "T" and text[-1] == "Z" else iso(value, "seconds")


def credible(changed_at: str, seen_at: datetime) -> str:
    """`dated(changed_at)`; empty if it is later than `seen_at` by more than clocks can differ."""
    found = dated(changed_at) if changed_at else ""
    try:
        return found if not found or moment(found) - seen_at <= CLOCKS_DIFFER else ""
    except OverflowError:
        return ""
