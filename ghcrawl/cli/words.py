"""Numbers, moments and lengths of time as a person reads and writes them."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any, Final
from urllib.parse import urlsplit

from ghcrawl.values.errors import SpecError
from ghcrawl.values.times import moment

_AGE: Final = re.compile(r"(\d+)\s*([smhdw])")
_UNIT_S: Final = {"s": 1, "m": 60, "h": 3600, "d": 86_400, "w": 604_800}
_HALF_A_DAY_S: Final = _UNIT_S["d"] / 2


def number(value: int) -> str:
    """1234 → 1,234."""
    return f"{value:,}"


def counted(count: int, thing: str, things: str = "") -> str:
    """1 → "1 request", 2 → "2 requests"."""
    return f"{count:,} {thing if count == 1 else things or thing + 's'}"


def rate(per_s: float) -> str:
    """Calls, documents or requests in a second."""
    return f"{per_s:,.0f}/s" if per_s >= 100 else f"{per_s:.1f}/s"


def duration(seconds: float) -> str:
    """A length of time in its two largest units."""
    if 0 < seconds < 9.95 and seconds != int(seconds):
        return f"{seconds:.1f} s"
    left = round(seconds)
    if left < 60:
        return f"{left} s"
    parts = []
    for unit, size in (("d", 86_400), ("h", 3600), ("min", 60), ("s", 1)):
        count, left = divmod(left, size)
        parts.append((count, unit))
    first = next(place for place, (count, _) in enumerate(parts) if count)
    return " ".join(f"{count} {unit}" for count, unit in parts[first : first + 2] if count)


def time_of_day(moment: datetime, now: datetime) -> str:
    """The local time of `moment`; with its date where that is neither today nor within half a day."""
    local, away_s = moment.astimezone(), abs((moment - now).total_seconds())
    clock = local.strftime("%H:%M:%S" if away_s < 600 else "%H:%M")
    today = local.date() == now.astimezone().date()
    return clock if today or away_s < _HALF_A_DAY_S else f"{local:%Y-%m-%d} {clock}"


def ago(moment: datetime, now: datetime) -> str:
    """How long ago, in one unit."""
    seconds = max(0.0, (now - moment).total_seconds())
    for unit, size in (("d", 86_400), ("h", 3600), ("min", 60)):
        if seconds >= 2 * size or (unit == "min" and seconds >= size):
            return f"{int(seconds // size)} {unit} ago"
    return "just now" if seconds < 5 else f"{int(seconds)} s ago"


def stamp(moment: datetime) -> str:
    """`moment` to the second, for reports that are read elsewhere: 2026-11-21 16:43:00 UTC."""
    return moment.astimezone(UTC).strftime("%Y-%m-%d %H:%M:%S UTC")


def age(text: str) -> timedelta:
    """The length of time that `2h`, `3d` or `1d12h` writes. Raises SpecError."""
    parts = _AGE.findall(text)
    if not parts or _AGE.sub("", text).strip():
        raise SpecError(f"{text!r} is not a duration; write 30m, 2h, 3d or 1w")
    return timedelta(seconds=sum(int(count) * _UNIT_S[unit] for count, unit in parts))


def since(text: str, now: datetime) -> datetime:
    """The moment that `2026-11-01`, `2026-11-01T12:00Z` or `7d` (ago) writes; UTC if no zone is. Raises SpecError."""
    try:
        if _AGE.match(text):
            return now - age(text)
        return moment(text, zone=UTC)
    except (ValueError, OverflowError):
        raise SpecError(f"{text!r} is not a date; write 2026-11-01, 2026-11-01T12:00Z, or 7d for 7 days ago") from None


def tallied(counts: Mapping[str, int]) -> str:
    """`{"http_503": 8, "Malformed": 1}` → "http_503 8, Malformed 1", the largest first, without those that are 0."""
    largest_first = sorted(counts.items(), key=lambda item: (-item[1], item[0]))
    return ", ".join(f"{name} {number(count)}" for name, count in largest_first if count)


def size(size_bytes: int) -> str:
    """12345678 → 12.3 MB."""
    value = float(size_bytes)
    for unit in ("bytes", "kB", "MB", "GB"):
        if value < 1000:
            return f"{value:.0f} {unit}" if unit == "bytes" or value >= 100 else f"{value:.1f} {unit}"
        value /= 1000
    return f"{value:,.1f} TB"


def path_of(url: str) -> str:
    """What a URL says after the host."""
    parts = urlsplit(url)
    return f"{parts.path}?{parts.query}" if parts.query else parts.path


def printable(text: str) -> str:
    """`text` with everything that could move a cursor, or that no encoding can write, as JSON escapes it."""
    if text.isprintable():
        return text
    return "".join(c if c.isprintable() or c == "\n" else json.dumps(c)[1:-1] for c in text)


def written(value: Any) -> str:
    """`value` of a setting, as TOML writes it."""
    import tomlkit  # noqa: PLC0415  # 50 ms that only commands which show settings need

    return tomlkit.item(str(value) if isinstance(value, Path) else value).as_string()


def one_line(text: str, limit: int = 0) -> str:
    """`text` with its white space and control characters as single blanks, cut with `…` where it is longer."""
    flat = " ".join("".join(c if c.isprintable() else " " for c in text).split())
    return flat if not limit or len(flat) <= limit else f"{flat[: limit - 1]}…"
