"""What a person asked for: their words, the requests they mean, and what became of them."""

from __future__ import annotations

from collections.abc import Sequence

from msgspec import Struct

from ghcrawl.fetch.redaction import REDACTOR
from ghcrawl.platforms.kind import alternative
from ghcrawl.platforms.mount import Mounts
from ghcrawl.telemetry.tally import Tally
from ghcrawl.values.errors import SpecError
from ghcrawl.values.requests import Request


class Root(Struct, frozen=True, kw_only=True):
    """One spec. asks: the URLs that must lead to something → the type that is looked for there."""

    spec: str
    request: Request
    asks: dict[str, str]


class Refused(Struct, frozen=True, kw_only=True):
    """A spec that led to nothing. reason: a word of a fixed few; detail: in the platform's words."""

    spec: str
    url: str
    reason: str
    detail: str


def read(mounts: Mounts, specs: Sequence[str], policy: str) -> tuple[Root, ...]:
    """The roots of a crawl. Raises SpecError for an unreadable spec, and for a policy that leads nowhere."""
    return tuple(_root(mounts, spec, policy) for spec in dict.fromkeys(specs))


def names(roots: Sequence[Root]) -> frozenset[str]:
    """For `Tally.asked`."""
    return frozenset(f"{type}@{url}" for root in roots for url, type in root.asks.items())


def refused(roots: Sequence[Root], tally: Tally) -> Sequence[Refused]:
    """What led to nothing."""
    why = {url: (reason, detail) for url, reason, detail in tally.refused_roots}
    found = []
    for root in roots:
        url = next((url for url in reversed(root.asks) if url in why), None)
        if url is not None:
            reason, detail = why[url]
            found.append(Refused(spec=root.spec, url=url, reason=reason, detail=detail))
    return found


def _root(mounts: Mounts, spec: str, policy: str) -> Root:
    if REDACTOR.text(spec) != spec:
        raise SpecError("a SPEC looks like a token; put tokens into the environment or a file: ghcrawl tokens --help")
    request = mounts.read_spec(spec, policy)
    mounts.demand(request)
    platform = mounts[request.platform].platform
    other = alternative(platform.kinds[request.type], request)
    asks = {request.url: request.type}
    if other is not None:
        asks[other.url] = other.type
    asks |= {deferred.url: deferred.type for deferred in request.context.then}
    return Root(spec=spec, request=request, asks=asks)
