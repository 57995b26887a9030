"""Answer headers that many platforms use. Pure."""

from __future__ import annotations

import re
from collections.abc import Mapping
from datetime import UTC
from email.utils import parsedate_to_datetime
from typing import Final

MAX_RETRY_AFTER_S: Final = 86_400.0
"""Longer than any limit lasts; what asks for more is asked again after a day."""


def http_date(text: str) -> float | None:
    """Epoch seconds of an HTTP date; None for what is none."""
    try:
        parsed = parsedate_to_datetime(text)
    except (ValueError, TypeError, IndexError, OverflowError):
        return None
    return (parsed if parsed.tzinfo else parsed.replace(tzinfo=UTC)).timestamp()


_LINK: Final = re.compile(r"<([^<>]*)>([^<]*)")
_REL: Final = re.compile(r"""\brel\s*=\s*(?:"([^"]*)"|([^\s";,]+))""", re.IGNORECASE)


def links(header: str | None) -> dict[str, str]:
    """Relation → URL."""
    found: dict[str, str] = {}
    for url, parameters in _LINK.findall(header or ""):
        match = _REL.search(parameters)
        for relation in (match[1] or match[2] or "").split() if match else ():
            found.setdefault(relation, url)
    return found


def retry_after_s(headers: Mapping[str, str], server_now: float) -> float | None:
    """Seconds to wait, said as such or as a date by the server's clock; None where it is not said."""
    text = headers.get("Retry-After", "").strip()
    if text.isdecimal():
        return min(float(text), MAX_RETRY_AFTER_S)
    date = http_date(text) if text else None
    return None if date is None else min(max(0.0, date - server_now), MAX_RETRY_AFTER_S)
