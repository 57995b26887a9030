"""The tables of requests that wait and requests in flight: what happens to them inside a transaction.

A request that waits has its key once, and its turn by arrival; `not_before` 0 may be popped now. A delayed one is
promoted to 0 when its moment has come, so one index serves popping, delays, peeking and purging, however much waits.
Claiming moves it to `in_flight`, a table of a few rows, where its key is free again for another copy to wait.

Triggers keep `tally`, so that depths are read and never counted.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from typing import Final, NamedTuple

from ghcrawl.model import QUEUES, Push, QueueName
from ghcrawl.ports import Pushed
from queues.codec import encode
from queues.dedup import URGENCY, Copy, merge

_TALLY: Final = """
    UPDATE tally SET ready = ready {sign} ({row}.not_before = 0), delayed = delayed {sign} ({row}.not_before > 0)
    WHERE queue = {row}.queue;
"""
_COME: Final = _TALLY.format(sign="+", row="NEW")
_GO: Final = _TALLY.format(sign="-", row="OLD")

SCHEMA: Final = (
    """CREATE TABLE waiting (
        id INTEGER PRIMARY KEY,
        queue INTEGER NOT NULL,
        key BLOB NOT NULL UNIQUE,
        asked_at INTEGER,
        not_before INTEGER NOT NULL,
        body BLOB NOT NULL
    )""",
    "CREATE INDEX waiting_in_turn ON waiting (queue, not_before)",
    """CREATE TABLE in_flight (
        id INTEGER PRIMARY KEY,
        queue INTEGER NOT NULL,
        key BLOB NOT NULL,
        asked_at INTEGER,
        body BLOB NOT NULL
    )""",
    """CREATE TABLE tally (
        queue INTEGER PRIMARY KEY,
        ready INTEGER NOT NULL DEFAULT 0,
        delayed INTEGER NOT NULL DEFAULT 0
    )""",
    "INSERT INTO tally (queue) VALUES (0), (1), (2), (3), (4)",
    f"CREATE TRIGGER waiting_come AFTER INSERT ON waiting BEGIN {_COME} END",
    f"CREATE TRIGGER waiting_go AFTER DELETE ON waiting BEGIN {_GO} END",
    f"CREATE TRIGGER waiting_move AFTER UPDATE OF queue, not_before ON waiting BEGIN {_GO} {_COME} END",
)

PROMOTED_AT_ONCE: Final = 1000
_EPOCH: Final = datetime(1970, 1, 1, tzinfo=UTC)
_MICROSECOND: Final = timedelta(microseconds=1)

_INSERT: Final = """
    INSERT INTO waiting (queue, key, asked_at, not_before, body) VALUES (?, ?, ?, ?, ?) ON CONFLICT DO NOTHING"""
_TWIN: Final = "SELECT id, queue, asked_at, not_before FROM waiting WHERE key = ?"
_MOVE: Final = "UPDATE waiting SET queue = ?, not_before = ? WHERE id = ?"
_REPLACE: Final = "UPDATE waiting SET queue = ?, not_before = ?, asked_at = ?, body = ? WHERE id = ?"
_PROMOTE: Final = """
    UPDATE waiting SET not_before = 0 WHERE id IN (
        SELECT id FROM waiting WHERE queue = ? AND not_before BETWEEN 1 AND ? LIMIT ?)"""
_TAKE: Final = """
    DELETE FROM waiting WHERE id IN (SELECT id FROM waiting WHERE queue = ? AND not_before = 0 ORDER BY id LIMIT ?)
    RETURNING id, queue, key, asked_at, body"""
_CLAIM: Final = "INSERT INTO in_flight (id, queue, key, asked_at, body) VALUES (?, ?, ?, ?, ?)"
_FORGET: Final = "DELETE FROM in_flight WHERE id = ?"
_RETURN: Final = "DELETE FROM in_flight WHERE id = ? RETURNING queue, key, asked_at, 0, body"
_RECOUNT: Final = """
    UPDATE tally SET (ready, delayed) = (
        SELECT COUNT(*) FILTER (WHERE not_before = 0), COUNT(*) FILTER (WHERE not_before > 0)
        FROM waiting WHERE waiting.queue = tally.queue)"""
_PURGE: Final = "DELETE FROM waiting WHERE id IN (SELECT id FROM waiting WHERE queue = ? AND id <= ? LIMIT ?)"


class Arrival(NamedTuple):
    """A push as a row. Moments are microseconds since 1970; not_before 0 is now, asked_at None is later than all."""

    queue: int
    key: bytes
    asked_at: int | None
    not_before: int
    body: bytes


class Claim(NamedTuple):
    """A request in flight. number: of this claim, never given twice by one process."""

    number: int
    queue: QueueName
    body: bytes


def moment(micros: int) -> datetime:
    """The moment that `micros` gave."""
    return _EPOCH + micros * _MICROSECOND


def micros(moment: datetime) -> int:
    """`moment` as whole microseconds since 1970."""
    return (moment - _EPOCH) // _MICROSECOND


def arrivals(pushes: Sequence[Push], now: datetime) -> list[Arrival]:
    """The rows that `pushes` make. Raises Unstorable for a payload that is not JSON."""
    return [_arrival(push, now) for push in pushes]


def _arrival(push: Push, now: datetime) -> Arrival:
    request, later = push.request, push.not_before
    return Arrival(
        URGENCY[push.queue],
        request.key,
        None if request.asked_at is None else micros(request.asked_at),
        micros(later) if later is not None and later > now else 0,
        encode(request),
    )


def insert(connection: sqlite3.Connection, rows: Sequence[Arrival]) -> Pushed:
    """Every row waits, or its twin that was waiting already has absorbed it."""
    queued = 0
    for row in rows:
        if connection.execute(_INSERT, row).rowcount:
            queued += 1
        else:
            _absorb(connection, row)
    return Pushed(queued=queued, bounced=len(rows) - queued)


def _absorb(connection: sqlite3.Connection, row: Arrival) -> None:
    twin, queue, asked_at, not_before = connection.execute(_TWIN, (row.key,)).fetchone()
    merged = merge(_copy(queue, asked_at, not_before), _copy(row.queue, row.asked_at, row.not_before))
    if merged is None:
        return
    place = (URGENCY[merged.queue], 0 if merged.not_before is None else micros(merged.not_before))
    if merged.replaced:
        connection.execute(_REPLACE, (*place, row.asked_at, row.body, twin))
    else:
        connection.execute(_MOVE, (*place, twin))


def _copy(queue: int, asked_at: int | None, not_before: int) -> Copy:
    return Copy(
        queue=QUEUES[queue],
        asked_at=None if asked_at is None else _EPOCH + asked_at * _MICROSECOND,
        not_before=_EPOCH + not_before * _MICROSECOND if not_before else None,
    )


def claim(
    connection: sqlite3.Connection, orders: Sequence[Sequence[QueueName]], numbers: Sequence[int], now: int
) -> list[Claim | None]:
    """For each of `orders`, what was first in its first queue that had something ready, now in flight."""
    ready = _ready(connection, now)
    places: list[QueueName | None] = []
    for order in orders:
        place = next((queue for queue in order if ready[queue] > 0), None)
        if place is not None:
            ready[place] -= 1
        places.append(place)
    taken = {queue: _taken(connection, queue, places.count(queue)) for queue in set(places) if queue is not None}
    claims: list[Claim | None] = []
    rows = []
    for place, number in zip(places, numbers, strict=True):
        row = taken[place].pop() if place is not None and taken[place] else None
        claims.append(None if row is None or place is None else Claim(number, place, row[-1]))
        if row is not None:
            rows.append((number, *row[1:]))
    connection.executemany(_CLAIM, rows)
    return claims


def _ready(connection: sqlite3.Connection, now: int) -> dict[QueueName, int]:
    """How many each queue has ready, after what is due has been promoted."""
    ready: dict[QueueName, int] = {}
    for rank, waiting, delayed in connection.execute("SELECT queue, ready, delayed FROM tally").fetchall():
        promoted = connection.execute(_PROMOTE, (rank, now, PROMOTED_AT_ONCE)).rowcount if delayed else 0
        ready[QUEUES[rank]] = waiting + promoted
    return ready


def _taken(connection: sqlite3.Connection, queue: QueueName, limit: int) -> list[tuple[int, int, bytes, int, bytes]]:
    """Up to `limit` rows that wait no longer, the one whose turn it is at the end."""
    return sorted(connection.execute(_TAKE, (URGENCY[queue], limit)).fetchall(), reverse=True)


def forget(connection: sqlite3.Connection, claim: Claim) -> None:
    """What was claimed is gone."""
    connection.execute(_FORGET, (claim.number,))


def put_back(connection: sqlite3.Connection, number: int) -> None:
    """What was claimed waits again, behind the others, or its twin that came meanwhile has absorbed it."""
    rows = connection.execute(_RETURN, (number,)).fetchall()
    insert(connection, [Arrival(*row) for row in rows])


def recover(connection: sqlite3.Connection) -> None:
    """What a dead process had in flight waits again, and the tally is counted afresh."""
    for (number,) in connection.execute("SELECT id FROM in_flight").fetchall():
        put_back(connection, number)
    connection.execute(_RECOUNT)


def purge(connection: sqlite3.Connection, queue: QueueName, last: int, limit: int) -> int:
    """Up to `limit` rows that wait in `queue`, none newer than `last`, are gone. Returns how many."""
    return connection.execute(_PURGE, (URGENCY[queue], last, limit)).rowcount
