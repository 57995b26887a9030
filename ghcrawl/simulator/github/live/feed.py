"""What event feeds hold: the last 300 events of 30 days, some time after they happened."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Any, Final

from msgspec import Struct

from ghcrawl.simulator.github.entities import Repo
from ghcrawl.simulator.github.people import Owner, User

HELD: Final = 300
KEPT: Final = timedelta(days=30)
REMEMBERED: Final = 20_000
"""Of all feeds together; a busy world forgets sooner than 30 days."""
HELD_OF_REPO: Final = 1000
"""More than are shown, because the newest may not be seen yet."""


class FeedEvent(Struct, frozen=True, kw_only=True):
    """One event as feeds show it. repo_name, public: as they were; `repo` and `owner` go on living."""

    id: int
    type: str
    payload: dict[str, Any]
    actor: User
    repo: Repo
    repo_name: str
    owner: Owner
    public: bool
    at: datetime


@dataclass(slots=True, kw_only=True)
class FeedLog:
    """Everything that feeds may hold. latency: how long an event takes to be seen; on GitHub 30 s to 6 h."""

    latency: timedelta = timedelta()
    poll_interval_s: int = 60
    _events: deque[FeedEvent] = field(default_factory=lambda: deque(maxlen=REMEMBERED))
    _of_repos: dict[int, deque[FeedEvent]] = field(default_factory=dict)
    _next_id: int = 44_000_000_001

    def take_id(self) -> int:
        """The id of the next event."""
        self._next_id += 1
        return self._next_id

    def add(self, event: FeedEvent) -> None:
        """`event` is in the feeds that it belongs to from now on."""
        self._events.append(event)
        self._of_repos.setdefault(event.repo.id, deque(maxlen=HELD_OF_REPO)).append(event)

    def newest(self, now: datetime, repo: Repo | None = None) -> Iterator[FeedEvent]:
        """What may be seen at `now` of a repository, or of all, newest first."""
        for event in reversed(self._events if repo is None else self._of_repos.get(repo.id, ())):
            if event.at < now - KEPT:
                return
            if event.at <= now - self.latency:
                yield event
