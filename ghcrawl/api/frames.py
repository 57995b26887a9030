"""A table as a DataFrame of pandas or polars, whichever is installed."""

# ruff: noqa: PLC0415  # neither is needed
from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from importlib.util import find_spec
from typing import Any, Final, Literal, get_args

from ghcrawl.cli.crawl_backend import CrawlBackend
from ghcrawl.cli.documents import Selection
from ghcrawl.platforms.columns import ACCOUNTS, Column
from ghcrawl.platforms.tables import ACCOUNT_TABLE, LinkTable, Schema, Table
from ghcrawl.tables.fill import Filling
from ghcrawl.tables.projection import Row
from ghcrawl.tables.target import Rows
from ghcrawl.values.errors import ConfigError, SpecError
from ghcrawl.values.type_names import TypeName, TypeNames, suggestion

Library = Literal["pandas", "polars"]
PANDAS: Final = {"integer": "Int64", "real": "Float64", "boolean": "boolean", "timestamp": "datetime64[us, UTC]"}


def meant(name: str, schema: Schema, names: TypeNames) -> tuple[Table | LinkTable, Sequence[TypeName]]:
    """The table that a type or a table is called, and the types whose documents fill it. Raises SpecError."""
    type = names.read(name)
    if type is not None and type in schema.by_kind:
        return schema.by_kind[type], [type]
    for table in schema.tables:
        named = {each.name: each for each in table.links} | {table.name: table}
        if name in named:
            return named[name], sorted(table.types)
    if name == ACCOUNTS:
        return ACCOUNT_TABLE, list(schema.by_kind)
    known = {*map(names.text, schema.by_kind), *(each.name for each in schema.everything)}
    raise SpecError(f"{name} has no table; {suggestion(name, sorted(known), of='types and tables')}")


async def rows(backend: CrawlBackend, chosen: Selection, schema: Schema, table: Table | LinkTable) -> Sequence[Row]:
    """The rows of `table` that the chosen documents fill."""
    kept = _Kept(table.name)
    filling = Filling(kept, schema, None, bodies=False, started_at=datetime.now(UTC))
    await filling.take(chosen.documents(backend), lambda _: None, lambda _type, _urn: chosen.documents(backend))
    return list(kept.rows.values())


class _Kept:
    """Keeps the rows of one table; the last row of an account stays."""

    def __init__(self, name: str) -> None:
        self.rows: dict[object, Row] = {}
        self._name = name

    def moments(self, at: datetime) -> datetime:
        return at

    def replace(self, rows: Rows, _changed: Mapping[str, Sequence[str]]) -> None:
        for row in rows.get(self._name, ()):
            self.rows[row[0] if self._name == ACCOUNTS else len(self.rows)] = row


def frame(rows: Sequence[Row], columns: tuple[Column, ...], library: Library) -> Any:
    """As a DataFrame."""
    return _pandas(rows, columns) if library == "pandas" else _polars(rows, columns)


def installed(library: Library | None) -> Library:
    """`library`, or without one the first that is installed. Raises ConfigError if it is not, or none is."""
    both: tuple[Library, ...] = get_args(Library)
    if library is not None and library not in both:
        raise ConfigError(f"unknown library {library}; use {' or '.join(both)}")
    wanted = both if library is None else (library,)
    for name in wanted:
        if find_spec(name) is not None:
            return name
    raise ConfigError(f"a DataFrame needs {' or '.join(wanted)}; install with: pip install {wanted[0]}")


def _pandas(rows: Sequence[Row], columns: tuple[Column, ...]) -> Any:
    import pandas

    values = zip(*rows, strict=True) if rows else ([] for _ in columns)
    series = {
        column.name: pandas.Series(list(each), dtype=PANDAS.get(column.type, "string"))
        for column, each in zip(columns, values, strict=True)
    }
    return pandas.DataFrame(series)


def _polars(rows: Sequence[Row], columns: tuple[Column, ...]) -> Any:
    import polars

    types = {
        "integer": polars.Int64,
        "real": polars.Float64,
        "boolean": polars.Boolean,
        "timestamp": polars.Datetime("us", "UTC"),
    }
    schema = {column.name: types.get(column.type, polars.String) for column in columns}
    return polars.DataFrame(rows, schema=schema, orient="row")
