"""What takes rows: the port that every target keeps, and what it remembers between two runs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime
from pathlib import Path
from typing import Any, Final, NamedTuple, Protocol

import msgspec
from msgspec import Struct

from ghcrawl.platforms.columns import ACCOUNTS, SEEN_AT, ColumnType
from ghcrawl.platforms.tables import LinkTable, Schema, Table, primary_key
from ghcrawl.tables.projection import Row
from ghcrawl.values.errors import ConfigError


class Native(NamedTuple):
    """What a column type is called."""

    sqlite: str
    duckdb: str


NATIVE: Final[Mapping[ColumnType, Native]] = {
    "text": Native("TEXT", "VARCHAR"),
    "integer": Native("INTEGER", "BIGINT"),
    "real": Native("REAL", "DOUBLE"),
    "boolean": Native("BOOLEAN", "BOOLEAN"),
    "timestamp": Native("TEXT", "TIMESTAMPTZ"),
    "json": Native("TEXT", "JSON"),
}
STATE: Final = "_ghcrawl"
"""The table with the state, and the moment `written_at`."""
Rows = Mapping[str, Sequence[Row]]
"""Rows by table name."""


class State(Struct, frozen=True, kw_only=True):
    """What a target remembers of the run that filled it; committed together with the rows.

    version: of the schema. source: the place. selection: what was asked for. written_at: when it started.
    store: id of the store there; empty: unknown.
    cursor: documents processed before it are written. recent: URN → digest of what was processed shortly before it, so
    that the overlap of the next run is not written again.
    """

    version: int
    source: str
    store: str = ""
    selection: Mapping[str, Any]
    written_at: datetime | None = None
    cursor: datetime | None = None
    recent: Mapping[str, str] = {}

    @property
    def types(self) -> Sequence[str]:
        """The types that were selected; empty: all."""
        return tuple(self.selection.get("types", ()))

    def text(self) -> str:
        """As JSON."""
        return msgspec.json.encode(self).decode()

    @classmethod
    def read(cls, text: str, where: Path, schema: Schema) -> State:
        """What `text` wrote. Raises ConfigError for something else, and for a newer schema."""
        try:
            version = msgspec.json.decode(text, type=_Version).version
            if version > schema.version:
                raise ConfigError(
                    f"{where} was written by a newer ghcrawl (tables {version}, this one knows {schema.version}); "
                    "use that version, or name another target"
                )
            return msgspec.json.decode(text, type=cls)
        except msgspec.MsgspecError as error:
            raise not_ours(where) from error


class _Version(Struct):
    version: int


def not_ours(where: Path) -> ConfigError:
    """What is at `where` stays as it is."""
    return ConfigError(f"{where} was not written by ghcrawl tables; name another target")


class Sink(Protocol):
    """Takes the rows of a run."""

    def moments(self, at: datetime) -> object:
        """`at` as it is kept here."""

    def replace(self, rows: Rows, changed: Mapping[str, Sequence[str]], /) -> None:
        """Writes rows, each in place of the one with the same key.

        changed: link table → URNs of owners whose earlier rows are no longer true; none in a first run.
        """


class Target(Sink, Protocol):
    """A file or folder with tables. A transaction, from its start to `commit`, becomes visible at once, or never."""

    where: Path

    def state(self) -> State | None:
        """What the last run left; None where there is nothing yet. Raises ConfigError for what is something else."""

    def begin(self, *, whole: bool) -> None:
        """Starts a run. whole: into empty tables, else into those of the last run."""

    def commit(self, state: State) -> None:
        """Everything written is visible, and `state` with it."""

    def abandon(self) -> None:
        """Nothing written is visible, and nothing of it is left. Harmless after `commit`."""


def by_name(schema: Schema) -> Mapping[str, Table | LinkTable]:
    """Every table by name."""
    return {table.name: table for table in schema.everything}


def any_row(table: str) -> str:
    """A query that has a row where `table` has one. table: as a schema that this program declares calls it."""
    return f"SELECT 1 FROM {table} LIMIT 1"  # noqa: S608  # neither users nor crawled documents name tables


def on_conflict(table: Table | LinkTable) -> str:
    """The end of an INSERT: a row takes the place of the one with the same key; of accounts, unless that is newer."""
    key = primary_key(table)
    sets = ", ".join(f'"{each.name}" = excluded."{each.name}"' for each in table.columns if each.name not in key)
    newer = f" WHERE excluded.{SEEN_AT} >= {ACCOUNTS}.{SEEN_AT}" if table.name == ACCOUNTS else ""
    return f"ON CONFLICT ({', '.join(key)}) DO UPDATE SET {sets}{newer}"
