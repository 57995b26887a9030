"""Tables in a DuckDB file: columns go over as Arrow arrays; a first run makes the file beside its place."""

# ruff: noqa: PLC0415  # duckdb and pyarrow are an extra
from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from datetime import datetime
from pathlib import Path
from typing import Any, Final

from ghcrawl.platforms.columns import ACCOUNTS
from ghcrawl.platforms.questions import Dialect
from ghcrawl.platforms.tables import LinkTable, Schema, Table, primary_key
from ghcrawl.tables.arrow import arrow_table
from ghcrawl.tables.partial import Partial
from ghcrawl.tables.target import NATIVE, STATE, Rows, State, by_name, not_ours, on_conflict
from ghcrawl.values.errors import ConfigError
from ghcrawl.values.times import iso

DIALECT: Final = Dialect(
    hours=lambda start, end: f"round((epoch({end}) - epoch({start})) / 3600, 2)",
    days=lambda start, end: f"round((epoch({end}) - epoch({start})) / 86400, 2)",
    month=lambda at: f"strftime(make_timestamp(epoch_us({at})), '%Y-%m')",
    literal=lambda at: f"TIMESTAMPTZ '{iso(at)}'",
)
_HELD: Final = re.compile(r"[Ll]ock is held in .*\(PID (\d+)\)")
MEMORY: Final = "192MB"
LONGEST_LINE: Final = 64 * 2**20
"""Of a CSV file."""


class DuckTarget:
    """The tables of `schema` in the file `where`."""

    def __init__(self, where: Path, schema: Schema) -> None:
        self.where = where
        self._schema, self._tables = schema, by_name(schema)
        self._partial = Partial(where)
        self._connection: Any = None
        self._whole = False

    def moments(self, at: datetime) -> datetime:
        """As it is."""
        return at

    def state(self) -> State | None:
        """As the port says."""
        import duckdb

        if not self.where.exists():
            return None
        if not self.where.is_file():
            raise not_ours(self.where)
        with self._translated():
            try:
                with duckdb.connect(str(self.where), read_only=True) as connection:
                    found = connection.execute(f"SELECT state FROM {STATE}").fetchone()  # noqa: S608  # a constant of this program
            except duckdb.IOException as error:
                if "lock" in str(error):
                    raise
                raise not_ours(self.where) from error
            except duckdb.CatalogException as error:
                raise not_ours(self.where) from error
        if found is None:
            raise not_ours(self.where)
        return State.read(found[0], self.where, self._schema)

    def begin(self, *, whole: bool) -> None:
        """As the port says."""
        import duckdb

        self._whole = whole
        with self._translated():
            self._partial.lock()
            if whole:
                self._partial.clear()
            self._connection = duckdb.connect(str(self._partial.path if whole else self.where))
            self._connection.execute(f"SET memory_limit = '{MEMORY}'")
            self._connection.execute("SET preserve_insertion_order = false")
            self._connection.execute("SET TimeZone = 'UTC'")
            if whole:
                self._connection.execute(
                    f"CREATE TABLE {STATE} (one INTEGER PRIMARY KEY, state VARCHAR NOT NULL, written_at TIMESTAMPTZ)"
                )
                for table in self._schema.everything:
                    self._connection.execute(_table(table))
                for question in self._schema.questions:
                    self._connection.execute(question.view(DIALECT))
            else:
                self._connection.execute("BEGIN")

    def replace(self, rows: Rows, changed: Mapping[str, Sequence[str]]) -> None:
        """As the port says."""
        with self._translated():
            for name, urns in changed.items():
                owner = self._tables[name].columns[0].name
                self._connection.execute(f"DELETE FROM {name} WHERE {owner} IN (SELECT unnest(?))", [list(urns)])  # noqa: S608  # names are those that our schema declares, never input
            for name, many in rows.items():
                table = self._tables[name]
                self._connection.register("incoming", arrow_table(table, many))
                self._connection.execute(self._insertion(table))
                self._connection.unregister("incoming")

    def commit(self, state: State) -> None:
        """As the port says."""
        with self._translated():
            values = [state.text(), state.written_at]
            self._connection.execute(f"INSERT OR REPLACE INTO {STATE} VALUES (1, ?, ?)", values)  # noqa: S608  # a constant of this program
            if not self._whole:
                self._connection.execute("COMMIT")
            self._connection.close()
            self._connection = None
            if self._whole:
                self._partial.path.replace(self.where)

    def abandon(self) -> None:
        """As the port says."""
        if self._connection is not None:
            with suppress(Exception):
                self._connection.execute("ROLLBACK")
            with suppress(Exception):
                self._connection.close()
            self._connection = None
        self._partial.release()

    def _insertion(self, table: Table | LinkTable) -> str:
        """Writes incoming rows, each in place of the one with the same key; of accounts, unless that is newer."""
        if table.name == ACCOUNTS:
            return f"INSERT INTO {ACCOUNTS} SELECT * FROM incoming {on_conflict(table)}"  # noqa: S608  # names are those that our schema declares, never input
        verb = "INSERT INTO" if self._whole else "INSERT OR REPLACE INTO"
        return f"{verb} {table.name} SELECT * FROM incoming"  # noqa: S608  # names are those that our schema declares, never input

    @contextmanager
    def _translated(self) -> Iterator[None]:
        import duckdb

        try:
            yield
        except duckdb.Error as error:
            first = str(error).splitlines()[0]
            if held := _HELD.search(first):
                why = f"is open in another program (PID {held[1]}); close it there, then run the command again"
                raise ConfigError(f"{self.where} {why}") from error
            raise ConfigError(f"{self.where} cannot be written: {first}") from error
        except OSError as error:
            raise ConfigError(f"{self.where} cannot be written: {error.strerror}") from error


def _table(table: Table | LinkTable) -> str:
    """DuckDB enforces foreign keys, and what lies outside the crawl would refuse rows: they are in `docs/tables.md`."""
    lines = [f'"{column.name}" {NATIVE[column.type].duckdb}' for column in table.columns]
    lines.append(f"PRIMARY KEY ({', '.join(primary_key(table))})")
    return f"CREATE TABLE {table.name} ({', '.join(lines)})"
