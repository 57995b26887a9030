"""The state of redelivery as it is kept in the store: an older or newer replica reads the same object."""

from __future__ import annotations

import json
from datetime import timedelta
from typing import Final

from ghcrawl.redelivery.state import Checkpoint, Gap, Lease, Lost, Redelivered, Run, State
from tests.support.builders import at

WRITTEN: Final = """{
  "next_at": "2026-11-21T12:00:00.123Z",
  "lease": {"worker": "pod-1", "until": "2026-11-21T12:15:00.123Z"},
  "walks": [
    {"hook": "app:12", "seen": "2026-11-21T12:00:00.123Z", "gaps": []},
    {
      "hook": "https://api.github.com/orgs/acme/hooks/7",
      "seen": "2026-11-21T12:00:00.123Z",
      "gaps": [{"since": "2026-11-20T12:00:00.123Z", "cursor": "https://api.github.com/page/2"}]
    }
  ],
  "lost": [
    {
      "guid": "g-1", "hook": "app:12", "id": 8, "event": "issues", "first_at": "2026-11-21T11:00:00.123Z",
      "due": "2026-11-21T13:00:00.123Z", "tries": 2
    }
  ],
  "last": {
    "at": "2026-11-21T12:00:00.123Z", "worker": "pod-0", "seconds": 1.5, "pages": 3, "lost": 2, "arrived": 1,
    "asked": 1, "refused": 1, "given_up": 1, "waiting": 1,
    "again": [
      {"guid": "g-1", "hook": "app:12", "event": "issues", "first_at": "2026-11-21T11:00:00.123Z", "tries": 2}
    ],
    "troubles": ["acme: 404"]
  }
}"""
"""Written by version 1.0's `State.to_json`."""
NOW: Final = at(0.123)
READ: Final = State(
    next_at=NOW,
    lease=Lease(worker="pod-1", until=NOW + timedelta(minutes=15)),
    checkpoints=(
        Checkpoint(hook="app:12", seen=NOW),
        Checkpoint(
            hook="https://api.github.com/orgs/acme/hooks/7",
            seen=NOW,
            gaps=(Gap(since=NOW - timedelta(days=1), cursor="https://api.github.com/page/2"),),
        ),
    ),
    lost=(
        Lost(
            guid="g-1",
            hook="app:12",
            id=8,
            event="issues",
            first_at=NOW - timedelta(hours=1),
            due=NOW + timedelta(hours=1),
            tries=2,
        ),
    ),
    last=Run(
        at=NOW,
        worker="pod-0",
        seconds=1.5,
        pages=3,
        lost=2,
        arrived=1,
        asked=1,
        refused=1,
        given_up=1,
        waiting=1,
        again=(Redelivered(guid="g-1", hook="app:12", event="issues", first_at=NOW - timedelta(hours=1), tries=2),),
        troubles=("acme: 404",),
    ),
)


def test_state_that_an_older_version_wrote_is_read():
    assert State.from_json(json.loads(WRITTEN)) == READ


def test_state_is_written_so_that_an_older_version_can_read_it():
    assert READ.to_json() == json.loads(WRITTEN)


def test_a_store_without_state_has_an_empty_one():
    assert State.from_json({}) == State()
    assert State.from_json(State().to_json()) == State()
