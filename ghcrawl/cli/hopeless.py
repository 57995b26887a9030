"""Why asking an API any further is of no use, in the same words wherever that is found."""

from __future__ import annotations

from typing import Final
from urllib.parse import urlsplit

from ghcrawl.errors import FetchError
from ghcrawl.fetch.reach import Outage, refusal
from ghcrawl.wiring import Service

FIRST_TRIES: Final = 3
"""How often an API that has never answered is tried: its URL may be mistyped, and a person is waiting."""

_PORTS: Final = {"http": 80, "https": 443}


def hopeless(service: Service, api_url: str, *, hint: str = "") -> str:
    """A sentence; empty while there is hope. hint: what to do where nothing answers at all."""
    if refused := service.github.refused():
        return f"{api_url} accepts none of the tokens ({refused}); correct GHCRAWL_TOKENS or the tokens file"
    outage = service.reach.outage
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
    return f"{api_url} cannot be reached: {reason}"
