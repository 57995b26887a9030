"""What is remembered of crawls in the store, so that the same command goes on where it was interrupted.

    {"unfinished": [record, …], "last": record}

A crawl is finished when no request waits any more; crawls started before are then finished with it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any, Final

from msgspec import Struct, convert

from ghcrawl.ports.store import Store
from ghcrawl.values.frozen import replace
from ghcrawl.values.times import iso
from ghcrawl.values.type_names import LEGACY_PLATFORM

STATE: Final = "crawls"
MAX_UNFINISHED: Final = 20


class Record(Struct, frozen=True, kw_only=True):
    """One crawl. asked_at: the moment that all its requests share; command: what goes on with it.

    bases: platform → base URL of its API; empty: its URLs name their hosts.
    """

    specs: tuple[str, ...]
    policy: str
    bases: Mapping[str, str]
    asked_at: datetime
    command: str
    finished_at: datetime | None = None

    def is_of(self, other: Record) -> bool:
        """Whether the same command started both."""
        return (set(self.specs), self.policy, self.bases) == (set(other.specs), other.policy, other.bases)

    def to_json(self) -> dict[str, Any]:
        """As it is kept."""
        return {
            "specs": list(self.specs),
            "policy": self.policy,
            "api_url": next(filter(None, self.bases.values()), ""),
            "bases": dict(self.bases),
            "asked_at": iso(self.asked_at),
            "command": self.command,
            "finished_at": iso(self.finished_at) if self.finished_at else None,
        }

    @classmethod
    def from_json(cls, value: Mapping[str, Any]) -> Record:
        """What `to_json` wrote."""
        bases = value.get("bases") or {LEGACY_PLATFORM: value["api_url"]}
        return convert({**value, "bases": bases}, cls)


class Records(Struct, frozen=True, kw_only=True):
    """All that is remembered."""

    unfinished: tuple[Record, ...] = ()
    last: Record | None = None

    @property
    def latest(self) -> Record | None:
        """The crawl that was started last."""
        return self.unfinished[-1] if self.unfinished else self.last


class Begun(Struct, frozen=True, kw_only=True):
    """A crawl that starts or resumes. others: crawls that were started before and are not finished."""

    record: Record
    resumed: bool
    others: Sequence[Record]


async def read(store: Store) -> Records:
    """What is remembered. Raises StoreError."""
    value: Mapping[str, Any] = await store.read_state(STATE) or {}
    last = value.get("last")
    return Records(
        unfinished=tuple(Record.from_json(record) for record in value.get("unfinished", ())),
        last=Record.from_json(last) if last else None,
    )


async def begin(store: Store, wanted: Record, *, afresh: bool = False) -> Begun:
    """Record `wanted`; if the same crawl was started before and not finished, resume it as it was asked for then.

    afresh: start again in any case. Raises StoreError.
    """
    records = await read(store)
    before = next((record for record in records.unfinished if record.is_of(wanted)), None)
    others = tuple(record for record in records.unfinished if not record.is_of(wanted))
    resumed = before is not None and not afresh
    record = replace(wanted, asked_at=before.asked_at) if before is not None and resumed else wanted
    unfinished = (*others, record)[-MAX_UNFINISHED:]
    await _write(store, Records(unfinished=unfinished, last=records.last))
    return Begun(record=record, resumed=resumed, others=others)


async def finish(store: Store, record: Record | None, at: datetime) -> None:
    """Nothing waits any more, so nothing is unfinished. record: the crawl that was the last. Raises StoreError."""
    records = await read(store)
    last = record or records.latest
    await _write(store, Records(last=replace(last, finished_at=at) if last else None))


async def _write(store: Store, records: Records) -> None:
    value = {
        "unfinished": [record.to_json() for record in records.unfinished],
        "last": records.last.to_json() if records.last else None,
    }
    await store.write_state(STATE, value)
