"""A table as a DataFrame of pandas or polars, whichever is installed."""

# ruff: noqa: PLC0415  # neither is needed
from __future__ import annotations

from collections.abc import Iterable
from datetime import datetime
from importlib.util import find_spec
from typing import Any, Final, Literal

from ghcrawl.platforms.columns import Column
from ghcrawl.platforms.tables import Schema, Table
from ghcrawl.tables.projection import Projector, Row
from ghcrawl.values.documents import Document
from ghcrawl.values.errors import ConfigError

Library = Literal["pandas", "polars"]
PANDAS: Final = {"integer": "Int64", "real": "Float64", "boolean": "boolean", "timestamp": "datetime64[us, UTC]"}


def frame(documents: Iterable[Document], schema: Schema, table: Table, library: Library | None) -> Any:
    """A row for each document. Raises ConfigError if `library`, or without one any, is not installed."""
    chosen = _installed(library)
    projector = Projector(schema, moments=_as_it_is)
    rows = [row for one in documents for into, row in projector.rows(one) if into is table]
    columns = table.columns
    return _pandas(rows, columns) if chosen == "pandas" else _polars(rows, columns)


def _as_it_is(at: datetime) -> datetime:
    return at


def _installed(library: Library | None) -> Library:
    wanted: tuple[Library, ...] = ("pandas", "polars") if library is None else (library,)
    for name in wanted:
        if find_spec(name) is not None:
            return name
    raise ConfigError(f"a DataFrame needs {' or '.join(wanted)}; install with: pip install {wanted[0]}")


def _pandas(rows: list[Row], columns: tuple[Column, ...]) -> Any:
    import pandas

    values = zip(*rows, strict=True) if rows else ([] for _ in columns)
    series = {
        column.name: pandas.Series(list(each), dtype=PANDAS.get(column.type, "string"))
        for column, each in zip(columns, values, strict=True)
    }
    return pandas.DataFrame(series)


def _polars(rows: list[Row], columns: tuple[Column, ...]) -> Any:
    import polars

    types = {
        "integer": polars.Int64,
        "real": polars.Float64,
        "boolean": polars.Boolean,
        "timestamp": polars.Datetime("us", "UTC"),
    }
    schema = {column.name: types.get(column.type, polars.String) for column in columns}
    return polars.DataFrame(rows, schema=schema, orient="row")
