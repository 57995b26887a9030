"""What a tool obtained, counted in its output: kinds by ghcrawl's names, and a key that is one thing's own."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterable, Iterator, Mapping
from contextlib import closing
from pathlib import Path
from typing import Any, Final

from msgspec import Struct

WHOLE: Final = {"pull_request": "additions", "user": "followers"}
"""The kinds that lists give in part, and a field that only the whole of each has."""


class Thing(Struct, frozen=True):
    """whole: not merely as a list gives it."""

    kind: str
    key: str
    whole: bool = True


def things(kind: str, body: Mapping[str, Any]) -> Iterator[Thing]:
    """One JSON object of GitHub; with a release come its assets, which it carries."""
    yield Thing(kind, _key(kind, body), kind not in WHOLE or body.get(WHOLE[kind]) is not None)
    if kind == "release":
        yield from (Thing("release_asset", _key("release_asset", asset)) for asset in body.get("assets") or ())


def _key(kind: str, body: Mapping[str, Any]) -> str:
    if kind in ("branch", "tag"):  # a tag has no URL of its own
        return f"{body['commit']['url'].partition('/commits/')[0]}#{body['name']}"
    return str(body["login"] if kind == "user" else body.get("url") or body["id"])


def lines(path: Path) -> Iterator[Mapping[str, Any]]:
    """The objects of a file of JSON lines, without those that a kill cut off."""
    if path.exists():
        for line in path.read_bytes().splitlines():
            try:
                yield json.loads(line)
            except ValueError:
                continue


def rows(path: Path, kinds: Mapping[str, str]) -> Iterator[Thing]:
    """The rows of tables of an SQLite file, by their primary keys. kinds: by table."""
    if not path.exists():
        return
    with closing(sqlite3.connect(path)) as connection:
        tables = {name for (name,) in connection.execute("SELECT name FROM sqlite_schema WHERE type = 'table'")}
        for table, kind in kinds.items():
            if table in tables:
                yield from _rows(connection, table, kind)


def _rows(connection: sqlite3.Connection, table: str, kind: str) -> Iterator[Thing]:
    columns = list(connection.execute(f"PRAGMA table_info([{table}])"))
    keys = [column[1] for column in columns if column[5]] or ["rowid"]
    whole = kind not in WHOLE or WHOLE[kind] in [column[1] for column in columns]
    for key in connection.execute(f"SELECT {', '.join(f'[{key}]' for key in keys)} FROM [{table}]"):
        yield Thing(kind, "/".join(map(str, key)), whole)


def by_kind(found: Iterable[Thing]) -> Mapping[str, int]:
    """How many different ones, and how many of those that lists give in part are whole."""
    each: dict[tuple[str, str], bool] = {}
    for one in found:
        each[one.kind, one.key] = each.get((one.kind, one.key), False) or one.whole
    counted: dict[str, int] = {}
    for (kind, _), whole in each.items():
        counted[kind] = counted.get(kind, 0) + 1
        if kind in WHOLE:
            counted[f"{kind}, whole"] = counted.get(f"{kind}, whole", 0) + whole
    return counted


def total(counted: Mapping[str, int]) -> int:
    """All things."""
    return sum(count for _, count in numbers(counted))


def numbers(counted: Mapping[str, int]) -> Iterator[tuple[str, int]]:
    """Each kind with the number of its things, without the numbers of complete ones."""
    return ((kind, count) for kind, count in counted.items() if not kind.endswith(", whole"))
