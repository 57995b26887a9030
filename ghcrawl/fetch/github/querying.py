"""Asks the GraphQL API for many nodes at once, as long as it answers well; what it will not give, REST is asked for.

What goes wrong, and what becomes of it:

* too slow (502, 504, "Something went wrong", no answer), or over its resources: half as many nodes from then on, and
  twice as many again after three good answers. What is too slow even for a few is left alone for ten minutes;
* points used up: refused until they are back, unless that is in a moment;
* a field that is unknown, or needs a scope that the token lacks; an API that is not there: left alone for an hour;
* a field that differs from REST, which is asked for a few as well: not asked any more by this process;
* an error beside data: the node that its path leads to was not given.

Source for each: GitHub's documentation of the API's limits, and threads of those who met them.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Final

import structlog

from ghcrawl.fetch.client import Answer
from ghcrawl.fetch.github.calls import Calls
from ghcrawl.fetch.github.pool import Grant, Need, Pool
from ghcrawl.fetch.github.queries import QUERIES, Query
from ghcrawl.fetch.github.refusals import Limited, said, unauthorized
from ghcrawl.fetch.github.settings import ACCEPT, GitHubSettings
from ghcrawl.ports.clock import Clock
from ghcrawl.values.documents import Validator
from ghcrawl.values.errors import FetchError
from ghcrawl.values.jsontext import Json, loads
from ghcrawl.values.outcome import Fetched, Refused, Retrieved, Throttled
from ghcrawl.values.requests import Request

log = structlog.stdlib.get_logger(__name__)

FEW: Final = 5
"""A failing query for at most this many nodes is not split: it would fail for one as well."""
GOOD_ANSWERS: Final = 3
FIRST: Final = 3
ONE_IN: Final = 500
NEVER: Final = datetime.max.replace(tzinfo=UTC)
AILING: Final = timedelta(minutes=10)
USELESS: Final = timedelta(hours=1)
A_MOMENT: Final = timedelta(seconds=30)
"""A batch waits at most this long for points; beyond, REST serves it."""
_SLOW: Final = ("something went wrong", "timeout", "timed out")


@dataclass(slots=True)
class _State:
    """How one query fares."""

    query: Query
    size: int
    good: int = 0
    given: int = 0
    off_until: datetime | None = None

    def went_well(self) -> None:
        self.good += 1
        if self.good >= GOOD_ANSWERS and self.size < self.query.size:
            self.size, self.good = min(self.query.size, self.size * 2), 0

    def samples(self, nodes: Sequence[object]) -> Sequence[int]:
        """Places of the nodes that REST is asked for as well: the first three, and then one in five hundred."""
        found = []
        for place, node in enumerate(nodes):
            if node is None:
                continue
            if self.given < FIRST or self.given % ONE_IN == 0:
                found.append(place)
            self.given += 1
        return found

    def was_heavy(self) -> bool:
        """Ask for less from now on; False: that would be too little."""
        self.good = 0
        if self.size <= FEW:
            return False
        self.size = max(FEW, self.size // 2)
        return True


class Queries:
    """All queries to one API."""

    def __init__(self, settings: GitHubSettings, calls: Calls, pool: Pool, clock: Clock) -> None:
        self._settings = settings
        self._calls = calls
        self._pool = pool
        self._clock = clock
        self._states = {type: _State(query, query.size) for type, query in QUERIES.items()}

    def batched(self) -> frozenset[str]:
        """Types of things of which many can be asked for at once, just now."""
        if not self._settings.batches or not self._pool.authenticated:
            return frozenset()
        return frozenset(state.query.of for state in self._states.values() if not self._off(state))

    def _off(self, state: _State) -> bool:
        return state.off_until is not None and self._clock.now() < state.off_until

    def disproved(self, type: str, fields: Sequence[str]) -> None:
        """Never ask for that type again in this process: REST says something else in these fields."""
        for state in self._states.values():
            if state.query.of == type and state.off_until != NEVER:
                state.off_until = NEVER
                log.error("batches_differ_from_rest", of=type, fields=list(fields))

    async def fetch(self, request: Request, need: Need) -> Retrieved:
        """The nodes of the members of `request`, in order; perhaps only of the first of them. Raises FetchError.

        The body is `{"nodes": [node or null, …], "samples": [place, …], "viewer": id or null}`.
        Refused where REST is to be asked instead.
        """
        state = self._states[request.type]
        if state.query.of not in self.batched():
            return Refused(status=0, reason="batches_off", detail="GraphQL is not asked for these just now")
        asked = request.payload.body if request.payload is not None else {}
        ids = [str(member["id"]) for member in asked["members"]][: state.size]
        variables = {"ids": ids, **({"open": asked["open"]} if "open" in asked else {})}
        grant = await self._pool.grant(need)
        if isinstance(grant, Throttled):
            wait = grant.until - self._clock.now()
            return _no_points() if grant.reason in ("primary", "budget") and wait > A_MOMENT else grant
        if not isinstance(grant, Grant):
            return grant
        body = {"query": state.query.text, "variables": variables}
        try:
            answer = await self._calls.query(grant, self._settings.graphql_url, body, request.type)
        except FetchError:
            state.was_heavy()
            raise
        if isinstance(answer, Limited):
            return Throttled(until=self._clock.now() + timedelta(seconds=1), reason=answer.kind)
        return self._read(answer, state, grant, len(ids))

    def _read(self, answer: Answer, state: _State, grant: Grant, asked: int) -> Retrieved:
        if answer.status == 401:
            refusal = unauthorized(answer)
            grant.slot.refused(grant.fingerprint, refusal.detail)
            return Refused(status=401, reason="unauthorized", detail=refusal.detail)
        if answer.status >= 500:
            return self._heavy(state, f"GraphQL answered {answer.status}")
        if answer.status != 200:
            return self._useless(state, f"GraphQL answered {answer.status}: {said(answer)}", answer.status)
        try:
            body = loads(answer.body or b"")
        except (ValueError, RecursionError):
            return self._heavy(state, "GraphQL answered with no JSON")
        body = body if isinstance(body, Mapping) else {}
        data, errors = body.get("data"), [error for error in body.get("errors") or () if isinstance(error, Mapping)]
        if not isinstance(data, Mapping) or not isinstance(data.get("nodes"), list):
            return self._nothing(errors, state, grant, answer)
        return self._given(data, errors, state, answer, asked)

    def _nothing(self, errors: Sequence[Mapping[str, Json]], state: _State, grant: Grant, answer: Answer) -> Retrieved:
        """An answer without data: why, as far as it says."""
        text = "; ".join(str(error.get("message", "")) for error in errors) or "GraphQL answered without data"
        types = {str(error.get("type", "")) for error in errors} | {_code(error) for error in errors}
        if types & {"RATE_LIMITED", "RATE_LIMIT", "graphql_rate_limit"}:
            return _no_points()
        if "secondary rate" in text.lower():
            until = grant.slot.limiter.limits.strike(answer.started, None, answer.ended)
            return Throttled(until=self._clock.now() + timedelta(seconds=until - answer.ended), reason="secondary")
        slow = any(words in text.lower() for words in _SLOW)
        if slow or "RESOURCE_LIMITS_EXCEEDED" in types:
            return self._heavy(state, text)
        return self._useless(state, text, answer.status)

    def _given(
        self,
        data: Mapping[str, Json],
        errors: Sequence[Mapping[str, Json]],
        state: _State,
        answer: Answer,
        asked: int,
    ) -> Retrieved:
        nodes = [node if isinstance(node, Mapping) else None for node in data["nodes"]]
        places = [_place(error) for error in errors]
        for place in places:
            if place is not None and 0 <= place < len(nodes):
                nodes[place] = None
        if None in places or len(nodes) != asked:  # the error names no node
            nodes = [None] * asked
        if any(error.get("type") == "RESOURCE_LIMITS_EXCEEDED" for error in errors):
            heavy = self._heavy(state, "Resource limits for this query exceeded")
            if not any(nodes):
                return heavy
        else:
            state.went_well()
        viewer = data.get("viewer")
        return Fetched(
            body={
                "nodes": nodes,
                "samples": state.samples(nodes),
                "viewer": viewer.get("databaseId") if isinstance(viewer, Mapping) else None,
            },
            url=self._settings.graphql_url,
            observed_at=self._calls.observed_at(answer),
            checked_at=answer.asked_at,
            origin="batch",
            validator=Validator(url="", accept=ACCEPT, api_version=self._settings.api_version),
        )

    def _heavy(self, state: _State, why: str) -> Retrieved:
        if state.was_heavy():
            return Throttled(until=self._clock.now(), reason="too_heavy")
        return self._left_alone(state, why, AILING, 502)

    def _useless(self, state: _State, why: str, status: int) -> Retrieved:
        return self._left_alone(state, why, USELESS, status)

    def _left_alone(self, state: _State, why: str, wait: timedelta, status: int) -> Refused:
        state.off_until = self._clock.now() + wait
        state.size = state.query.size
        log.warning("batches_off", of=state.query.of, reason=why, minutes=round(wait.total_seconds() / 60))
        return Refused(status=status, reason="batches_off", detail=why)


def _no_points() -> Refused:
    return Refused(status=200, reason="no_points", detail="the points of the GraphQL API are used up")


def _code(error: Mapping[str, Json]) -> str:
    extensions = error.get("extensions")
    return str(extensions.get("code", "")) if isinstance(extensions, Mapping) else ""


def _place(error: Mapping[str, Json]) -> int | None:
    """Which of the nodes an error is about; None: it does not say."""
    path = error.get("path")
    if isinstance(path, list) and len(path) > 1 and path[0] == "nodes" and isinstance(path[1], int):
        return path[1]
    return None
