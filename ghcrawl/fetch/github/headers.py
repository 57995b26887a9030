"""What GitHub's answer headers say. Pure."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Final

from ghcrawl.fetch.github.budget import CORE, Quota
from ghcrawl.fetch.github.server_clock import http_date

YEAR_3000: Final = 32_503_680_000
MAX_RETRY_AFTER_S: Final = 86_400.0
"""Longer than any limit lasts; what asks for more is asked again after a day."""


def quota(headers: Mapping[str, str], resource: str) -> Quota | None:
    """What the answer says about its budget; None where it says nothing, or nonsense."""
    limit = headers.get("x-ratelimit-limit")
    if limit is None:
        return None
    try:
        told = Quota(
            resource=_resource(headers.get("x-ratelimit-resource", "")) or resource or CORE,
            limit=int(limit),
            remaining=int(headers.get("x-ratelimit-remaining", "")),
            resets=int(headers.get("x-ratelimit-reset", "")),
        )
    except ValueError:
        return None
    return told if told.remaining >= 0 and 0 <= told.resets < YEAR_3000 else None


_RESOURCE: Final = re.compile(r"[a-z_]{1,40}")


def _resource(name: str) -> str:
    """A name such as GitHub gives to its budgets, which becomes a metric's label; of anything else, nothing."""
    return name if _RESOURCE.fullmatch(name) else ""


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


def poll_interval_s(headers: Mapping[str, str]) -> float | None:
    """How long to wait before asking the same feed again; None where nothing sensible is said."""
    text = headers.get("X-Poll-Interval", "").strip()
    return float(text) if text.isascii() and text.isdigit() and len(text) < 7 else None
