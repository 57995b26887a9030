"""State of redelivery: deliveries that did not arrive, as one JSON object in the store."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Annotated, Any, Final, TypeAlias

from pydantic import Field, PlainSerializer, TypeAdapter

from ghcrawl.values.times import iso

STATE: Final = "redelivery"
Moment: TypeAlias = Annotated[datetime, PlainSerializer(iso)]


@dataclass(frozen=True, slots=True, kw_only=True)
class Lease:
    """`worker` sweeps; no other replica does until then."""

    worker: str
    until: Moment


@dataclass(frozen=True, slots=True, kw_only=True)
class Gap:
    """A part of a list that was not read yet: from `cursor` (empty: the head) down to what was tried at `since`."""

    since: Moment
    cursor: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Checkpoint:
    """How far the list of a webhook's deliveries was read: everything tried until `seen` and in none of `gaps`."""

    hook: str
    seen: Moment
    gaps: tuple[Gap, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Lost:
    """A delivery that has not arrived. id: of its latest attempt by `hook`; first_at: when it failed first.

    tries: how often it was asked for; due: when it is asked for once more.
    """

    guid: str
    hook: str
    id: int
    event: str
    first_at: Moment
    due: Moment
    tries: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Redelivered:
    """A delivery that a sweep asked the platform to send again, for the `tries`th time."""

    guid: str
    hook: str
    event: str
    first_at: Moment
    tries: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Run:
    """Result of one sweep.

    lost: deliveries found that had not arrived. arrived: of those that were asked for before.
    asked, refused: asked for now, and how that was answered. given_up: too old to be sent again.
    waiting: all that have not arrived yet. again: the first of those asked for. troubles: what could not be asked, why.
    """

    at: Moment
    worker: str = ""
    seconds: float = 0.0
    pages: int = 0
    lost: int = 0
    arrived: int = 0
    asked: int = 0
    refused: int = 0
    given_up: int = 0
    waiting: int = 0
    again: tuple[Redelivered, ...] = ()
    troubles: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class State:
    """Everything that is known. next_at: when the next sweep is due; None: now."""

    next_at: Moment | None = None
    lease: Lease | None = None
    checkpoints: Annotated[tuple[Checkpoint, ...], Field(alias="walks")] = ()
    lost: tuple[Lost, ...] = ()
    last: Run | None = None

    def to_json(self) -> dict[str, Any]:
        """As it is kept."""
        kept: dict[str, Any] = _STATE.dump_python(self, mode="json", by_alias=True)
        return kept

    @staticmethod
    def from_json(value: Mapping[str, Any]) -> State:
        """What `to_json` wrote; of an empty object, the state before the first sweep."""
        return _STATE.validate_python(value)


_STATE: Final = TypeAdapter(State)
