"""What is remembered of deliveries that did not arrive, as one JSON object in the store."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Final, Self

from ghcrawl.model import iso, moment

STATE: Final = "redelivery"


@dataclass(frozen=True, slots=True, kw_only=True)
class Lease:
    """Somebody sweeps, and nobody else does until then."""

    worker: str
    until: datetime

    def to_json(self) -> dict[str, Any]:
        """As it is kept."""
        return {"worker": self.worker, "until": iso(self.until)}

    @classmethod
    def from_json(cls, value: Mapping[str, Any]) -> Self:
        """What `to_json` wrote."""
        return cls(worker=value["worker"], until=moment(value["until"]))


@dataclass(frozen=True, slots=True, kw_only=True)
class Gap:
    """A part of a list that was not read yet: from `cursor` (empty: the head) down to what was tried at `since`."""

    since: datetime
    cursor: str = ""

    def to_json(self) -> dict[str, Any]:
        """As it is kept."""
        return {"since": iso(self.since), "cursor": self.cursor}

    @classmethod
    def from_json(cls, value: Mapping[str, Any]) -> Self:
        """What `to_json` wrote."""
        return cls(since=moment(value["since"]), cursor=value["cursor"])


@dataclass(frozen=True, slots=True, kw_only=True)
class Walk:
    """How far the list of a webhook's deliveries was read: whatever was tried until `seen` and is in none of `gaps`."""

    hook: str
    seen: datetime
    gaps: tuple[Gap, ...] = ()

    def to_json(self) -> dict[str, Any]:
        """As it is kept."""
        return {"hook": self.hook, "seen": iso(self.seen), "gaps": [gap.to_json() for gap in self.gaps]}

    @classmethod
    def from_json(cls, value: Mapping[str, Any]) -> Self:
        """What `to_json` wrote."""
        gaps = tuple(Gap.from_json(each) for each in value["gaps"])
        return cls(hook=value["hook"], seen=moment(value["seen"]), gaps=gaps)


@dataclass(frozen=True, slots=True, kw_only=True)
class Lost:
    """A delivery that has not arrived. id: of its latest attempt by `hook`; first_at: when it failed first.

    tries: how often it was asked for; due: when it is asked for once more.
    """

    guid: str
    hook: str
    id: int
    event: str
    first_at: datetime
    due: datetime
    tries: int = 0

    def to_json(self) -> dict[str, Any]:
        """As it is kept."""
        return {
            "guid": self.guid,
            "hook": self.hook,
            "id": self.id,
            "event": self.event,
            "first_at": iso(self.first_at),
            "due": iso(self.due),
            "tries": self.tries,
        }

    @classmethod
    def from_json(cls, value: Mapping[str, Any]) -> Self:
        """What `to_json` wrote."""
        return cls(**{**value, "first_at": moment(value["first_at"]), "due": moment(value["due"])})


@dataclass(frozen=True, slots=True, kw_only=True)
class Asked:
    """A delivery that a sweep asked for, for the `tries`th time."""

    guid: str
    hook: str
    event: str
    first_at: datetime
    tries: int

    def to_json(self) -> dict[str, Any]:
        """As it is kept."""
        return {
            "guid": self.guid,
            "hook": self.hook,
            "event": self.event,
            "first_at": iso(self.first_at),
            "tries": self.tries,
        }

    @classmethod
    def from_json(cls, value: Mapping[str, Any]) -> Self:
        """What `to_json` wrote."""
        return cls(**{**value, "first_at": moment(value["first_at"])})


@dataclass(frozen=True, slots=True, kw_only=True)
class Run:
    """What one sweep came to.

    lost: deliveries found that had not arrived. arrived: of those that were asked for before.
    asked, refused: asked for now, and how that was answered. given_up: too old to be sent again.
    waiting: all that have not arrived yet. again: the first of those asked for. troubles: what could not be asked, why.
    """

    at: datetime
    worker: str = ""
    seconds: float = 0.0
    pages: int = 0
    lost: int = 0
    arrived: int = 0
    asked: int = 0
    refused: int = 0
    given_up: int = 0
    waiting: int = 0
    again: tuple[Asked, ...] = ()
    troubles: tuple[str, ...] = ()

    def to_json(self) -> dict[str, Any]:
        """As it is kept."""
        return {
            "at": iso(self.at),
            "worker": self.worker,
            "seconds": self.seconds,
            "pages": self.pages,
            "lost": self.lost,
            "arrived": self.arrived,
            "asked": self.asked,
            "refused": self.refused,
            "given_up": self.given_up,
            "waiting": self.waiting,
            "again": [asked.to_json() for asked in self.again],
            "troubles": list(self.troubles),
        }

    @classmethod
    def from_json(cls, value: Mapping[str, Any]) -> Self:
        """What `to_json` wrote."""
        again = tuple(Asked.from_json(each) for each in value["again"])
        return cls(**{**value, "at": moment(value["at"]), "again": again, "troubles": tuple(value["troubles"])})


@dataclass(frozen=True, slots=True, kw_only=True)
class State:
    """Everything that is known. next_at: when the next sweep is due; None: now."""

    next_at: datetime | None = None
    lease: Lease | None = None
    walks: tuple[Walk, ...] = ()
    lost: tuple[Lost, ...] = ()
    last: Run | None = None

    def to_json(self) -> dict[str, Any]:
        """As it is kept."""
        return {
            "next_at": iso(self.next_at) if self.next_at else None,
            "lease": self.lease.to_json() if self.lease else None,
            "walks": [walk.to_json() for walk in self.walks],
            "lost": [lost.to_json() for lost in self.lost],
            "last": self.last.to_json() if self.last else None,
        }

    @classmethod
    def from_json(cls, value: Mapping[str, Any]) -> Self:
        """What `to_json` wrote, or nothing at all."""
        next_at, lease, last = (value.get(name) for name in ("next_at", "lease", "last"))
        return cls(
            next_at=moment(next_at) if next_at else None,
            lease=Lease.from_json(lease) if lease else None,
            walks=tuple(Walk.from_json(each) for each in value.get("walks", ())),
            lost=tuple(Lost.from_json(each) for each in value.get("lost", ())),
            last=Run.from_json(last) if last else None,
        )
