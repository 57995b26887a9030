"""What a crawl came to: its figures as JSON, and its exit status."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any, Final

from msgspec import Struct
from msgspec.structs import asdict

from ghcrawl.cli.kinds import split
from ghcrawl.cli.roots import Refused
from ghcrawl.cli.signals import SignalName
from ghcrawl.cli.snapshot import Quota
from ghcrawl.ports.deadletters import DeadletterCounts
from ghcrawl.ports.queue import Depth
from ghcrawl.telemetry.tally import Tally
from ghcrawl.values.lanes import QUEUES, QueueName
from ghcrawl.values.times import iso
from ghcrawl.values.type_names import TypeName

CLEAN: Final = 0
DEADLETTERS: Final = 1
FAILED: Final = 2
INTERRUPTED: Final = 130


class Result(Struct, frozen=True, kw_only=True):
    """One crawl, ended.

    bases: platform → base URL of its API; empty: its URLs name their hosts.
    asked_at: None where only what waited was worked through. finished: nothing waits any more.
    interrupted: by which signal. trouble: why it could not go on. drained: requests in flight were finished.
    refused: what led to nothing. restarts: of loops that died, which only a bug makes them do.
    max_calls: the limit of calls. suggested: options for commands that are suggested.
    free_again: no platform that was crawled counts answers that something is unchanged.
    """

    specs: Sequence[str]
    policy: str
    bases: Mapping[str, str]
    db: str
    command: str
    asked_at: datetime | None
    resumed: bool
    finished: bool
    interrupted: SignalName
    trouble: str
    drained: bool
    duration_s: float
    tally: Tally
    entity_types: Sequence[TypeName]
    refused: Sequence[Refused]
    depths: Mapping[QueueName, Depth]
    stored: Mapping[TypeName, int]
    deadletters: DeadletterCounts
    quotas: Sequence[Quota] = ()
    restarts: int = 0
    max_calls: int | None = None
    suggested: tuple[str, ...] = ()
    free_again: bool = False

    @property
    def exit_status(self) -> int:
        """0 clean, also after SIGTERM; 1 deadletters left; 2 could not go on, or led to nothing; 130 after Ctrl-C."""
        if self.trouble or self.refused:
            return FAILED
        if self.interrupted:
            return INTERRUPTED if self.interrupted == "SIGINT" else CLEAN
        return DEADLETTERS if self.deadletters.total else CLEAN

    @property
    def waiting(self) -> int:
        """Requests that are not done."""
        return sum(depth.total for depth in self.depths.values())

    @property
    def entities_saved(self) -> int:
        """Things written by this crawl, pages and cursors left out."""
        return sum(split(self.tally.saved, self.entity_types)[0].values())

    @property
    def calls_per_entity(self) -> float | None:
        """Calls of every kind for each thing written; None where none was."""
        return round(self.tally.calls / self.entities_saved, 4) if self.entities_saved else None

    def figures(self) -> Mapping[str, Any]:
        """What `--json` prints. Names stay; new ones may come."""
        tally = self.tally.figures()
        return {
            "specs": list(self.specs),
            "policy": self.policy,
            "api_url": next(filter(None, self.bases.values()), None),
            "base_urls": dict(self.bases),
            "db": self.db,
            "asked_at": iso(self.asked_at) if self.asked_at else None,
            "resumed": self.resumed,
            "finished": self.finished,
            "interrupted": self.interrupted or None,
            "max_calls": self.max_calls,
            "stopped": self.trouble or None,
            "exit_status": self.exit_status,
            "duration_s": round(self.duration_s, 3),
            **tally,
            "entities": self._entities(),
            "deadletters": self._deadletters(),
            "refused": [asdict(refused) for refused in self.refused],
            "waiting": {name: self.depths[name].total for name in QUEUES if name in self.depths},
        }

    def _entities(self) -> Mapping[str, Any]:
        stored, lists = split(self.stored, self.entity_types)
        return {
            "saved": self.entities_saved,
            "saved_by_type": split(self.tally.saved, self.entity_types)[0],
            "calls_per_entity": self.calls_per_entity,
            "stored": sum(stored.values()),
            "stored_by_type": stored,
            "stored_lists": lists,
        }

    def _deadletters(self) -> Mapping[str, Any]:
        return {
            "buried": dict(self.tally.buried),
            "left": self.deadletters.total,
            "left_by_class": dict(self.deadletters.by_kind),
        }
