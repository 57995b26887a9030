"""Why no request can succeed until a person acts, in the same words wherever that is found."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final
from urllib.parse import urlsplit

from ghcrawl.fetch.circuit_breaker import Outage, refusal
from ghcrawl.values.errors import FetchError
from ghcrawl.wiring import OpenPlatform, Service

FIRST_TRIES: Final = 3
"""How often an API that has never answered is tried: its URL may be mistyped, and a person is waiting."""

_PORTS: Final = {"http": 80, "https": 443}


def unrecoverable(service: Service, names: Iterable[str], *, hint: str = "") -> str:
    """A sentence where that is true of every platform in `names`; else empty. hint: what to do where nothing answers.

    While one of them can be asked, the crawl goes on with what it has.
    """
    found = [_of(service.opened[name], hint) for name in names if name in service.opened]
    return "; ".join(found) if found and all(found) else ""


def _of(opened: OpenPlatform, hint: str) -> str:
    if why := opened.source.unrecoverable():
        return why
    outage = opened.breaker.outage
    if outage is not None and not outage.heard and outage.failures >= FIRST_TRIES:
        return f"{unreached(outage)}{hint}"
    return ""


def unreached(outage: Outage) -> str:
    """What is out of reach, and why."""
    return _sentence(outage.base_url, outage.reason)


async def unanswered(api_url: str, error: FetchError) -> str:
    """The same of an API that left one question without an answer; in the words of `error` where it is there."""
    parts = urlsplit(api_url)
    return _sentence(api_url, await refusal(parts.hostname or "", parts.port or _PORTS[parts.scheme]) or str(error))


def _sentence(api_url: str, reason: str) -> str:
    return f"cannot reach {api_url}: {reason}"
