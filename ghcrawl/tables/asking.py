"""SQL on the output of `ghcrawl tables`, in any form: a SQLite or DuckDB file, or a folder of Parquet."""

# ruff: noqa: PLC0415  # duckdb is an extra
from __future__ import annotations

import sqlite3
from collections.abc import Iterator, Sequence
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any

from msgspec import Struct

from ghcrawl.platforms.tables import Schema
from ghcrawl.tables.choose import demand, format_of, target
from ghcrawl.tables.duck import DIALECT
from ghcrawl.values.errors import ConfigError


class Answer(Struct, frozen=True, kw_only=True):
    """Names of the columns, and the rows."""

    columns: tuple[str, ...]
    rows: Sequence[tuple[Any, ...]]


def ask(where: Path, schema: Schema, sql: str, *, limit: int) -> Answer:
    """What `sql` answers, at most `limit` rows (0: all); nothing is changed. Raises ConfigError."""
    format = format_of(where)
    if format == "csv":
        raise ConfigError(f"{where} is CSV, which keeps no types; ask a .sqlite or .duckdb file, or a Parquet folder")
    demand("duckdb" if format == "parquet" else format)
    if target(where, format, schema).state() is None:
        raise ConfigError(f"there are no tables at {where}; ghcrawl tables --to {where} writes them")
    if format == "sqlite":
        return _of_sqlite(where, sql, limit)
    with _duck(where, schema, folder=format == "parquet") as connection:
        found = connection.sql(f"FROM ({sql.rstrip('; ')}) LIMIT {limit or 2**62}").to_arrow_table()
        columns = [column.to_pylist() for column in found.columns]
        return Answer(columns=tuple(found.column_names), rows=list(zip(*columns, strict=True)))


def _of_sqlite(where: Path, sql: str, limit: int) -> Answer:
    try:
        with closing(sqlite3.connect(f"{where.absolute().as_uri()}?mode=ro", uri=True)) as connection:
            found = connection.execute(sql)
            rows = found.fetchmany(limit) if limit else found.fetchall()
            return Answer(columns=tuple(each[0] for each in found.description or ()), rows=rows)
    except sqlite3.Error as error:
        raise ConfigError(f"{where} cannot answer that: {error}") from error


@contextmanager
def _duck(where: Path, schema: Schema, *, folder: bool) -> Iterator[Any]:
    import duckdb

    try:
        with duckdb.connect() if folder else duckdb.connect(str(where), read_only=True) as connection:
            connection.execute("SET TimeZone = 'UTC'")
            for table in schema.everything if folder else ():
                path = str(where / table.name / "*.parquet").replace("'", "''")
                connection.execute(f"CREATE VIEW {table.name} AS FROM read_parquet('{path}')")
            for question in schema.questions if folder else ():
                connection.execute(f"CREATE VIEW {question.name} AS {question.sql(DIALECT)}")
            yield connection
    except duckdb.Error as error:
        raise ConfigError(f"{where} cannot answer that: {str(error).splitlines()[0]}") from error
