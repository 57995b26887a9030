"""What a request URI asks a platform to do: which source is listed, and what is checked of each item that it lists.

A platform lists one source, the driver. All others are conditions, and always checked here: a server that accepts a
filter does not always apply it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Final

from ghcrawl.social.request_uri import RequestUri, Resource, Source, SourceKind
from ghcrawl.values.errors import SpecError

_SELECTIVE: Final[tuple[SourceKind, ...]] = ("user", "related", "query", "location")
"""The most selective first."""


class Unsupported(SpecError):
    """A request that can be read, and that nothing can answer."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Plan:
    """One resource of one driver. conditions: sources that each item must match as well."""

    uri: RequestUri
    resource: Resource
    driver: Source
    conditions: tuple[Source, ...] = ()

    def admits(self, created: datetime | None, edited: datetime | None = None) -> bool:
        """Whether a post of that age is asked for: since what it last was, before what it first was.

        A post that does not say when it was made is not known to lie outside.
        """
        if created is None:
            return True
        since, before = self.uri.since, self.uri.before
        latest = max(created, edited or created)
        return (since is None or latest >= since) and (before is None or created < before)

    def matches(self, holds: Callable[[Source], bool]) -> bool:
        """Whether an item meets every condition. holds: whether it meets one."""
        return all(holds(condition) for condition in self.conditions)


def plans(uri: RequestUri) -> tuple[Plan, ...]:
    """One for each resource. Raises Unsupported.

    `user=X,related=X` would be empty, since no account follows itself; it means the union:
    X, and the accounts that X is related to. Any other union is two requests.
    """
    if "relations" in uri.resources and any(source.kind == "location" for source in uri.sources):
        raise Unsupported(f"{uri}: relations of a location are not defined")
    return tuple(plan for resource in uri.resources for plan in _plans(uri, resource))


def _plans(uri: RequestUri, resource: Resource) -> Iterator[Plan]:
    ordered = sorted(uri.sources, key=lambda source: _SELECTIVE.index(source.kind))
    kinds = [source.kind for source in ordered]
    if kinds == ["user", "related"] and ordered[0].value == ordered[1].value:
        for driver in ordered:
            yield Plan(uri=uri, resource=resource, driver=driver)
        return
    yield Plan(uri=uri, resource=resource, driver=ordered[0], conditions=tuple(ordered[1:]))


def is_streamed(wanted: Sequence[Plan]) -> bool:
    """Whether a request has a stream, and asks for something that streams tell: posts of an account or a search."""
    return any(plan.uri.stream and _is_told(plan) for plan in wanted)


def stream_notes(wanted: Sequence[Plan]) -> Iterator[str]:
    """What `stream` is ignored for, for the document of the request."""
    if not any(plan.uri.stream for plan in wanted):
        return
    if not any(plan.resource == "post" for plan in wanted):
        yield "stream is ignored: only posts are streamed"
    elif not is_streamed(wanted):
        yield "stream is ignored: posts of related accounts are not streamed"
    elif any(plan.driver.kind == "related" for plan in wanted):
        yield "the stream leaves out posts of related accounts"


def _is_told(plan: Plan) -> bool:
    return plan.resource == "post" and plan.driver.kind != "related"


def contradicts(uri: RequestUri) -> bool:
    """Whether nothing can match, as far as words tell: two users, where a post has one author."""
    return len({source.value for source in uri.sources if source.kind == "user"}) > 1
