"""Tables in a SQLite file of their own: a first run makes it beside its place, later ones are one transaction each."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from datetime import datetime
from pathlib import Path
from typing import Final

from ghcrawl.platforms.questions import Dialect
from ghcrawl.platforms.tables import LinkTable, Schema, Table, primary_key
from ghcrawl.tables.partial import Partial
from ghcrawl.tables.search import is_ours, metadata, metadata_beside, search_tables
from ghcrawl.tables.target import NATIVE, STATE, Rows, State, any_row, by_name, not_ours, on_conflict
from ghcrawl.values.errors import ConfigError
from ghcrawl.values.times import iso

DIALECT: Final = Dialect(
    hours=lambda start, end: f"round((julianday({end}) - julianday({start})) * 24, 2)",
    days=lambda start, end: f"round(julianday({end}) - julianday({start}), 2)",
    month=lambda at: f"substr({at}, 1, 7)",
    literal=lambda at: f"'{iso(at)}'",
)


class SqliteTarget:
    """The tables of `schema` in the file `where`."""

    def __init__(self, where: Path, schema: Schema) -> None:
        self.where = where
        self._schema, self._tables = schema, by_name(schema)
        self._partial = Partial(where)
        self._connection: sqlite3.Connection | None = None
        self._whole = False

    def moments(self, at: datetime) -> str:
        """As text that sorts."""
        return iso(at)

    def state(self) -> State | None:
        """As the port says."""
        if not self.where.exists():
            return None
        if not self.where.is_file():
            raise not_ours(self.where)
        with self._translated():
            connection = sqlite3.connect(f"{self.where.absolute().as_uri()}?mode=ro", uri=True)
            try:
                (text,) = connection.execute(f"SELECT state FROM {STATE}").fetchone()  # noqa: S608  # a constant of this program
            except (sqlite3.OperationalError, sqlite3.DatabaseError, TypeError) as error:
                if getattr(error, "sqlite_errorcode", 0) in (sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED):
                    raise
                raise not_ours(self.where) from error
            finally:
                connection.close()
        return State.read(text, self.where, self._schema)

    def begin(self, *, whole: bool) -> None:
        """As the port says."""
        self._whole = whole
        with self._translated():
            self._partial.lock()
            if whole:
                self._partial.clear()
                self._connection = sqlite3.connect(self._partial.path, isolation_level=None)
                self._connection.execute("PRAGMA journal_mode=OFF")
                self._connection.execute("PRAGMA synchronous=OFF")
            else:
                self._connection = sqlite3.connect(self.where, isolation_level=None)
            self._connection.execute("PRAGMA cache_size=-65536")
            self._connection.execute("BEGIN IMMEDIATE")
            if whole:
                for statement in made(self._schema):
                    self._connection.execute(statement)

    def replace(self, rows: Rows, changed: Mapping[str, Sequence[str]]) -> None:
        """As the port says."""
        with self._translated():
            for name, urns in changed.items():
                owner = self._tables[name].columns[0].name
                sql = f"DELETE FROM {name} WHERE {owner} = ?"  # noqa: S608  # names are those that our schema declares, never input
                self._open.executemany(sql, [(urn,) for urn in urns])
            for name, many in rows.items():
                self._open.executemany(upsert(self._tables[name]), many)

    def commit(self, state: State) -> None:
        """As the port says."""
        with self._translated():
            if self._whole:
                for statement in (*indexes(self._schema), *search_tables(self._schema)):
                    self._open.execute(statement)
            written_at = iso(state.written_at) if state.written_at else None
            self._open.execute(f"REPLACE INTO {STATE} VALUES (1, ?, ?)", (state.text(), written_at))  # noqa: S608  # a constant of this program
            self._open.execute("COMMIT")
            self._open.execute("PRAGMA optimize")
            empty = [name for name in self._tables if not self._holds(name)]
            self._open.close()
            self._connection = None
            if self._whole:
                self._partial.path.replace(self.where)
            beside = metadata_beside(self.where)
            if is_ours(beside):
                beside.write_text(metadata(self.where, self._schema, empty), encoding="utf-8")

    def abandon(self) -> None:
        """As the port says."""
        if self._connection is not None:
            with suppress(sqlite3.Error):
                self._connection.close()
            self._connection = None
        self._partial.release()

    def _holds(self, table: str) -> bool:
        return self._open.execute(any_row(table)).fetchone() is not None

    @property
    def _open(self) -> sqlite3.Connection:
        assert self._connection is not None, "between begin and commit"
        return self._connection

    @contextmanager
    def _translated(self) -> Iterator[None]:
        try:
            yield
        except sqlite3.Error as error:
            raise ConfigError(f"{self.where} cannot be written: {error}") from error
        except OSError as error:
            raise ConfigError(f"{self.where} cannot be written: {error.strerror}") from error


def made(schema: Schema) -> Sequence[str]:
    """The statements that make all tables and views."""
    return (
        f"CREATE TABLE {STATE} (one INTEGER PRIMARY KEY, state TEXT NOT NULL, written_at TEXT)",
        *(_table(table) for table in schema.everything),
        *(question.view(DIALECT) for question in schema.questions),
    )


def indexes(schema: Schema) -> Sequence[str]:
    """The statements that make an index for each foreign key."""
    return [
        f"CREATE INDEX {table.name}_by_{column.name} ON {table.name} ({column.name})"
        for table in schema.everything
        for column in table.columns
        if column.references and column.name not in primary_key(table)
    ]


def upsert(table: Table | LinkTable) -> str:
    """Writes a row, which keeps the rowid of the one with the same key."""
    listed = ", ".join(f'"{column.name}"' for column in table.columns)
    marks = ", ".join("?" for _ in table.columns)
    return f"INSERT INTO {table.name} ({listed}) VALUES ({marks}) {on_conflict(table)}"  # noqa: S608  # names are those that our schema declares, never input


def _table(table: Table | LinkTable) -> str:
    lines = []
    for column in table.columns:
        to, _, its = column.references.partition(".")
        refers = f" REFERENCES {to} ({its})" if to else ""
        lines.append(f'"{column.name}" {NATIVE[column.type].sqlite}{refers}')
    lines.append(f"PRIMARY KEY ({', '.join(primary_key(table))})")
    return f"CREATE TABLE {table.name} ({', '.join(lines)})"
