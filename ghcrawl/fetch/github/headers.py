"""GitHub's answer headers. Pure."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Final

from ghcrawl.fetch.github.budget import CORE, Quota

YEAR_3000: Final = 32_503_680_000


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


def poll_interval_s(headers: Mapping[str, str]) -> float | None:
    """How long to wait before asking the same feed again; None where nothing sensible is said."""
    text = headers.get("X-Poll-Interval", "").strip()
    return float(text) if text.isascii() and text.isdigit() and len(text) < 7 else None
