"""SQL on the output of `ghcrawl tables`, in any form: a SQLite or DuckDB file, or a folder of Parquet or CSV."""

# ruff: noqa: PLC0415  # duckdb is an extra
from __future__ import annotations

import glob
import sqlite3
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any

from msgspec import Struct

from ghcrawl.platforms.questions import Dialect, text_literal
from ghcrawl.platforms.tables import LinkTable, Schema, Table
from ghcrawl.tables import duck, sqlite
from ghcrawl.tables.choose import demand, format_of, target
from ghcrawl.tables.target import NATIVE, STATE, State
from ghcrawl.values.errors import ConfigError


class Answer(Struct, frozen=True, kw_only=True):
    """Names of the columns, and the rows."""

    columns: tuple[str, ...]
    rows: Sequence[tuple[Any, ...]]


class Tables(Struct, frozen=True, kw_only=True):
    """Tables that are open for reading. run: what some SQL answers, at most a number of rows (0: all)."""

    state: State
    dialect: Dialect
    run: Callable[[str, int], Answer]


@contextmanager
def opened(where: Path, schema: Schema) -> Iterator[Tables]:
    """The tables at `where`; nothing is changed. Raises ConfigError, in the block too: for SQL that fails."""
    format = format_of(where)
    demand("duckdb" if format in ("parquet", "csv") else format)
    state = target(where, format, schema).state()
    if state is None:
        raise ConfigError(f"there are no tables at {where}; ghcrawl tables --to {where} writes them")
    if format == "sqlite":
        with _sqlite(where) as run:
            yield Tables(state=state, dialect=sqlite.DIALECT, run=run)
        return
    with _duck(where, () if format == "duckdb" else [*_views(where, schema, state, format)]) as run:
        yield Tables(state=state, dialect=duck.DIALECT, run=run)


@contextmanager
def _sqlite(where: Path) -> Iterator[Callable[[str, int], Answer]]:
    try:
        with closing(sqlite3.connect(f"{where.absolute().as_uri()}?mode=ro", uri=True)) as connection:

            def run(sql: str, limit: int) -> Answer:
                found = connection.execute(sql)
                rows = found.fetchmany(limit) if limit else found.fetchall()
                return Answer(columns=tuple(each[0] for each in found.description or ()), rows=rows)

            yield run
    except sqlite3.Error as error:
        raise ConfigError(f"{where} cannot answer that: {error}") from error


@contextmanager
def _duck(where: Path, views: Sequence[str]) -> Iterator[Callable[[str, int], Answer]]:
    """Of a file, or of what `views` read."""
    import duckdb

    try:
        with duckdb.connect() if views else duckdb.connect(str(where), read_only=True) as connection:
            connection.execute("SET TimeZone = 'UTC'")
            for view in views:
                connection.execute(view)

            def run(sql: str, limit: int) -> Answer:
                found = connection.sql(f"FROM ({sql.rstrip('; ')}) LIMIT {limit or 2**62}").to_arrow_table()
                columns = [column.to_pylist() for column in found.columns]
                return Answer(columns=tuple(found.column_names), rows=list(zip(*columns, strict=True)))

            yield run
    except duckdb.Error as error:
        raise ConfigError(f"{where} cannot answer that: {str(error).splitlines()[0]}") from error


def demand_current(where: Path, schema: Schema, state: State) -> None:
    """Raises ConfigError for tables of an older schema."""
    if state.version != schema.version:
        raise ConfigError(f"{where} was written by an older ghcrawl; run `ghcrawl tables --to {where}` first")


def _views(where: Path, schema: Schema, state: State, format: str) -> Iterator[str]:
    """Statements that make a folder look like a file."""
    demand_current(where, schema, state)
    at = duck.DIALECT.literal(state.written_at) if state.written_at else "NULL"
    yield f"CREATE VIEW {STATE} AS SELECT 1 AS one, {text_literal(state.text())} AS state, {at} AS written_at"
    for table in schema.everything:
        yield f"CREATE VIEW {table.name} AS FROM {_read(where, table, format)}"
    for question in schema.questions:
        yield question.view(duck.DIALECT)


def _read(where: Path, table: Table | LinkTable, format: str) -> str:
    folder = glob.escape(str(where))
    if format == "parquet":
        return f"read_parquet({text_literal(f'{folder}/{table.name}/*.parquet')})"
    types = ", ".join(f"'{column.name}': '{NATIVE[column.type].duckdb}'" for column in table.columns)
    options = f"header = true, max_line_size = {duck.LONGEST_LINE}, allow_quoted_nulls = false, columns = {{{types}}}"
    return f"read_csv({text_literal(f'{folder}/{table.name}.csv')}, {options})"
