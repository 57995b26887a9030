"""What a person asked for: their words, the requests they mean, and what became of them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from ghcrawl.errors import SpecError
from ghcrawl.model import Request
from ghcrawl.platform import Platform
from ghcrawl.policy import parse
from ghcrawl.tally import Tally
from ghcrawl.wiring import redacted


@dataclass(frozen=True, slots=True, kw_only=True)
class Root:
    """One spec. asks: the URLs that must lead to something → the type that is looked for there."""

    spec: str
    request: Request
    asks: dict[str, str]

    @property
    def own(self) -> tuple[str, ...]:
        """Where the thing itself may live: behind its parent, if it needs one."""
        errands = tuple(errand.url for errand in self.request.context.then)
        return errands or tuple(self.asks)


@dataclass(frozen=True, slots=True, kw_only=True)
class Refused:
    """A spec that led to nothing. reason: a word of a fixed few; detail: in the platform's words."""

    spec: str
    url: str
    reason: str
    detail: str


def read(platform: Platform, specs: Sequence[str], api_url: str, policy: str) -> tuple[Root, ...]:
    """The roots of a crawl. Raises SpecError for what nobody can read, and for a policy that leads nowhere."""
    return tuple(_root(platform, spec, api_url, policy) for spec in dict.fromkeys(specs))


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


def _root(platform: Platform, spec: str, api_url: str, policy: str) -> Root:
    if redacted(spec) != spec:
        raise SpecError("a spec looks like a token; tokens belong in GHCRAWL_TOKENS or in a --tokens-file")
    request = platform.read_spec(spec, api_url, policy)
    fallback = platform.kinds[request.type].fallback
    other = fallback(request) if fallback else None
    asks = {request.url: request.type}
    if other is not None:
        asks[other.url] = other.type
    asks |= {errand.url: errand.type for errand in request.context.then}
    for type, wanted in [(request.type, request.policy), *((e.type, e.policy) for e in request.context.then)]:
        platform.scenarios.onward(parse(wanted).placed(platform.kinds[type].position).spec)
    return Root(spec=spec, request=request, asks=asks)
