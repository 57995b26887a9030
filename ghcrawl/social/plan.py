"""The plan behind a request URI: which source is listed, and what is checked of each item that it lists.

A platform lists one source, the driver. All others are conditions, and always checked here: a server that accepts a
filter does not always apply it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from datetime import datetime
from typing import Final

from msgspec import Struct

from ghcrawl.social.request_uri import RequestUri, Resource, Source, SourceKind
from ghcrawl.values.errors import SpecError

_SELECTIVE: Final[tuple[SourceKind, ...]] = ("user", "related", "query", "location")
"""The most selective first."""


class Unsupported(SpecError):
    """A request that can be read, and that nothing can answer."""


class Plan(Struct, frozen=True, kw_only=True):
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

    def is_of_one(self, is_meant: Callable[[Source], bool]) -> bool:
        """Whether all users that are named are the account that `is_meant` knows."""
        return self.matches(lambda each: each.kind != "user" or is_meant(each))

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


def is_streamed(wanted: Sequence[Plan], is_meant: Callable[[Source], bool]) -> bool:
    """Whether a request has a stream, and asks for something that streams tell: posts of an account or a search."""
    return any(plan.uri.stream and _is_told(plan) and plan.is_of_one(is_meant) for plan in wanted)


def notes(wanted: Sequence[Plan], is_meant: Callable[[Source], bool], has_words: Callable[[Source], bool]) -> list[str]:
    """Notes for the document of a request: its parts that match nothing or are ignored.

    is_meant, has_words: whether the account that is asked about meets a condition `user`, or `query`.
    """
    unmatched = (_unmatched(plan, is_meant, has_words) for plan in wanted if plan.driver.kind == "user")
    return [*dict.fromkeys(filter(None, unmatched)), *_ignored(wanted), *_stream_notes(wanted)]


def _unmatched(plan: Plan, is_meant: Callable[[Source], bool], has_words: Callable[[Source], bool]) -> str:
    if not plan.is_of_one(is_meant):
        return "nothing matches: what is asked for would have two authors"
    if plan.resource != "post" and not plan.matches(lambda each: each.kind != "query" or has_words(each)):
        return f"{plan.resource} matches nothing: the account does not have the words of query"
    return ""


def _ignored(wanted: Sequence[Plan]) -> Iterator[str]:
    """Parameters that a resource cannot have. A parameter that holds for one driver of a resource is not ignored."""
    for key, has_no in _INEFFECTIVE.items():
        asked = [plan for plan in wanted if key in plan.uri.params]
        heeding = {plan.resource for plan in asked if not has_no(plan)}
        without = dict.fromkeys(plan.resource for plan in asked if plan.resource not in heeding)
        if without:
            yield f"{key} is ignored for {' and '.join(without)}"


def _stream_notes(wanted: Sequence[Plan]) -> Iterator[str]:
    if not any(plan.uri.stream for plan in wanted):
        return
    if not any(plan.resource == "post" for plan in wanted):
        yield "stream is ignored: only posts are streamed"
    elif not any(_is_told(plan) for plan in wanted):
        yield "stream is ignored: posts of related accounts are not streamed"
    elif any(plan.driver.kind == "related" for plan in wanted):
        yield "the stream leaves out posts of related accounts"


def _is_told(plan: Plan) -> bool:
    return plan.resource == "post" and plan.driver.kind != "related"


_INEFFECTIVE: Final[Mapping[str, Callable[[Plan], bool]]] = {
    "since": lambda plan: plan.resource != "post",
    "before": lambda plan: plan.resource != "post",
    "limit": lambda plan: plan.resource == "relations",
    "cursor": lambda plan: not _is_told(plan),
}
"""Where a parameter has no effect: only posts have a date, and lists of relations are read whole."""
