"""The tables of requests that wait and requests in flight: what happens to them inside a transaction.

A request that waits has its key once, and its turn by arrival; `not_before` 0 may be popped now. A delayed one is
promoted to 0 when its moment has come, so one index serves popping, delays, peeking and purging, however much waits.
Claiming moves it to `in_flight`, a table of a few rows, where its key is free again for another copy to wait.

`lanes` names each lane that anything ever waited in by a small number, and triggers keep its depths there, so that
these are read and never counted. A lane that is not asked for is not looked into.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from typing import Final, NamedTuple

from ghcrawl.ports.queue import Pushed
from ghcrawl.values.lanes import QUEUES, Lane
from ghcrawl.values.requests import Push
from ghcrawl.values.type_names import LEGACY_PLATFORM
from queues.codec import encode
from queues.merging import URGENCY, Copy, merge

_DEPTH: Final = """
    UPDATE lanes SET ready = ready {sign} ({row}.not_before = 0), delayed = delayed {sign} ({row}.not_before > 0)
    WHERE id = {row}.lane;
"""
_COME: Final = _DEPTH.format(sign="+", row="NEW")
_GO: Final = _DEPTH.format(sign="-", row="OLD")
_LANES: Final = """CREATE TABLE lanes (
        id INTEGER PRIMARY KEY,
        platform TEXT NOT NULL,
        queue INTEGER NOT NULL,
        ready INTEGER NOT NULL DEFAULT 0,
        delayed INTEGER NOT NULL DEFAULT 0,
        UNIQUE (platform, queue)
    )"""
_TRIGGERS: Final = (
    f"CREATE TRIGGER waiting_come AFTER INSERT ON waiting BEGIN {_COME} END",
    f"CREATE TRIGGER waiting_go AFTER DELETE ON waiting BEGIN {_GO} END",
    f"CREATE TRIGGER waiting_move AFTER UPDATE OF lane, not_before ON waiting BEGIN {_GO} {_COME} END",
)

SCHEMA: Final = (
    """CREATE TABLE waiting (
        id INTEGER PRIMARY KEY,
        lane INTEGER NOT NULL,
        key BLOB NOT NULL UNIQUE,
        asked_at INTEGER,
        not_before INTEGER NOT NULL,
        body BLOB NOT NULL
    )""",
    "CREATE INDEX waiting_in_turn ON waiting (lane, not_before)",
    """CREATE TABLE in_flight (
        id INTEGER PRIMARY KEY,
        lane INTEGER NOT NULL,
        key BLOB NOT NULL,
        asked_at INTEGER,
        body BLOB NOT NULL
    )""",
    _LANES,
    *_TRIGGERS,
)
MIGRATION: Final = (
    "DROP TRIGGER waiting_come",
    "DROP TRIGGER waiting_go",
    "DROP TRIGGER waiting_move",
    "ALTER TABLE waiting RENAME COLUMN queue TO lane",
    "ALTER TABLE in_flight RENAME COLUMN queue TO lane",
    _LANES,
    f"INSERT INTO lanes SELECT queue, '{LEGACY_PLATFORM}', queue, ready, delayed FROM tally",  # noqa: S608  # a constant of ours
    "DROP TABLE tally",
    *_TRIGGERS,
)
"""From the schema in which a queue was all there was to tell rows apart. Its numbers go on as those of lanes, so no
row is written, however many wait."""

PROMOTED_AT_ONCE: Final = 1000
_EPOCH: Final = datetime(1970, 1, 1, tzinfo=UTC)
_MICROSECOND: Final = timedelta(microseconds=1)

_LANE: Final = "SELECT id FROM lanes WHERE platform = ? AND queue = ?"
_NEW_LANE: Final = "INSERT INTO lanes (platform, queue) VALUES (?, ?) RETURNING id"
_INSERT: Final = """
    INSERT INTO waiting (lane, key, asked_at, not_before, body) VALUES (?, ?, ?, ?, ?) ON CONFLICT DO NOTHING"""
_TWIN: Final = """
    SELECT waiting.id, lanes.queue, asked_at, not_before FROM waiting JOIN lanes ON lanes.id = lane WHERE key = ?"""
_MOVE: Final = "UPDATE waiting SET lane = ?, not_before = ? WHERE id = ?"
_REPLACE: Final = "UPDATE waiting SET lane = ?, not_before = ?, asked_at = ?, body = ? WHERE id = ?"
_DEPTHS: Final = "SELECT platform, queue, id, ready, delayed FROM lanes WHERE ready > 0 OR delayed > 0"
_PROMOTE: Final = """
    UPDATE waiting SET not_before = 0 WHERE id IN (
        SELECT id FROM waiting WHERE lane = ? AND not_before BETWEEN 1 AND ? LIMIT ?)"""
_TAKE: Final = """
    DELETE FROM waiting WHERE id IN (SELECT id FROM waiting WHERE lane = ? AND not_before = 0 ORDER BY id LIMIT ?)
    RETURNING id, lane, key, asked_at, body"""
_CLAIM: Final = "INSERT INTO in_flight (id, lane, key, asked_at, body) VALUES (?, ?, ?, ?, ?)"
_FORGET: Final = "DELETE FROM in_flight WHERE id = ?"
_HELD: Final = """
    SELECT platform, queue, key, asked_at, 0, body FROM in_flight JOIN lanes ON lanes.id = lane
    WHERE in_flight.id = ?"""
_RECOUNT: Final = """
    UPDATE lanes SET (ready, delayed) = (
        SELECT COUNT(*) FILTER (WHERE not_before = 0), COUNT(*) FILTER (WHERE not_before > 0)
        FROM waiting WHERE waiting.lane = lanes.id)"""
_PURGE: Final = "DELETE FROM waiting WHERE id IN (SELECT id FROM waiting WHERE lane = ? AND id <= ? LIMIT ?)"


class Arrival(NamedTuple):
    """A push as a row. Moments are microseconds since 1970; not_before 0 is now, asked_at None is later than all."""

    platform: str
    queue: int
    key: bytes
    asked_at: int | None
    not_before: int
    body: bytes


class ClaimedRow(NamedTuple):
    """A request in flight. number: of this claim, never given twice by one process."""

    number: int
    lane: Lane
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
        request.platform,
        URGENCY[push.queue],
        request.key,
        None if request.asked_at is None else micros(request.asked_at),
        micros(later) if later is not None and later > now else 0,
        encode(request),
    )


def insert(connection: sqlite3.Connection, rows: Sequence[Arrival]) -> Pushed:
    """Every row waits, or its twin that was waiting already has absorbed it."""
    queued, lanes = 0, _Lanes(connection)
    for row in rows:
        if connection.execute(_INSERT, (lanes.number(row.platform, row.queue), *row[2:])).rowcount:
            queued += 1
        else:
            _absorb(connection, row, lanes)
    return Pushed(queued=queued, bounced=len(rows) - queued)


class _Lanes:
    """The numbers of lanes, for one piece of a transaction: what another had made may have been undone."""

    def __init__(self, connection: sqlite3.Connection) -> None:
        self._connection = connection
        self._known: dict[tuple[str, int], int] = {}

    def number(self, platform: str, queue: int) -> int:
        """Of that lane, which is there from now on."""
        lane = (platform, queue)
        if lane not in self._known:
            found = self._connection.execute(_LANE, lane).fetchall()
            self._known[lane] = (found or self._connection.execute(_NEW_LANE, lane).fetchall())[0][0]
        return self._known[lane]


def _absorb(connection: sqlite3.Connection, row: Arrival, lanes: _Lanes) -> None:
    twin, queue, asked_at, not_before = connection.execute(_TWIN, (row.key,)).fetchone()
    merged = merge(_copy(queue, asked_at, not_before), _copy(row.queue, row.asked_at, row.not_before))
    if merged is None:
        return
    lane = lanes.number(row.platform, URGENCY[merged.queue])
    place = (lane, 0 if merged.not_before is None else micros(merged.not_before))
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
    connection: sqlite3.Connection, orders: Sequence[Sequence[Lane]], numbers: Sequence[int], now: int
) -> list[ClaimedRow | None]:
    """For each of `orders`, what was first in its first lane that had something ready, now in flight."""
    wanted = {lane for order in orders for lane in order}
    lanes, ready = _ready(connection, wanted, now)
    places: list[Lane | None] = []
    for order in orders:
        place = next((lane for lane in order if ready.get(lane, 0) > 0), None)
        if place is not None:
            ready[place] -= 1
        places.append(place)
    taken = {lane: _taken(connection, lanes[lane], places.count(lane)) for lane in set(places) if lane is not None}
    claims: list[ClaimedRow | None] = []
    rows = []
    for place, number in zip(places, numbers, strict=True):
        row = taken[place].pop() if place is not None and taken[place] else None
        claims.append(None if row is None or place is None else ClaimedRow(number, place, row[-1]))
        if row is not None:
            rows.append((number, *row[1:]))
    connection.executemany(_CLAIM, rows)
    return claims


def _ready(connection: sqlite3.Connection, wanted: set[Lane], now: int) -> tuple[dict[Lane, int], dict[Lane, int]]:
    """The numbers of those lanes, and how many each has ready, after what is due has been promoted."""
    lanes: dict[Lane, int] = {}
    ready: dict[Lane, int] = {}
    for platform, rank, number, waiting, delayed in connection.execute(_DEPTHS).fetchall():
        lane = Lane(platform, QUEUES[rank])
        if lane in wanted:
            promoted = connection.execute(_PROMOTE, (number, now, PROMOTED_AT_ONCE)).rowcount if delayed else 0
            lanes[lane], ready[lane] = number, waiting + promoted
    return lanes, ready


def _taken(connection: sqlite3.Connection, lane: int, limit: int) -> list[tuple[int, int, bytes, int, bytes]]:
    """Up to `limit` rows that wait no longer, the one whose turn it is at the end."""
    return sorted(connection.execute(_TAKE, (lane, limit)).fetchall(), reverse=True)


def forget(connection: sqlite3.Connection, claim: ClaimedRow) -> None:
    """Delete the claimed rows."""
    connection.execute(_FORGET, (claim.number,))


def put_back(connection: sqlite3.Connection, number: int) -> None:
    """What was claimed waits again, behind the others, or its twin that came meanwhile has absorbed it."""
    rows = connection.execute(_HELD, (number,)).fetchall()
    connection.execute(_FORGET, (number,))
    insert(connection, [Arrival(*row) for row in rows])


def recover(connection: sqlite3.Connection) -> None:
    """Requests in flight of a dead process are ready again, and the depths are counted again."""
    for (number,) in connection.execute("SELECT id FROM in_flight").fetchall():
        put_back(connection, number)
    connection.execute(_RECOUNT)


def purge(connection: sqlite3.Connection, lane: int, last: int, limit: int) -> int:
    """Up to `limit` rows that wait in the lane of that number, none newer than `last`, are gone. Returns how many."""
    return connection.execute(_PURGE, (lane, last, limit)).rowcount
