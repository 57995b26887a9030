"""Rows as Arrow tables, of the declared types."""

# ruff: noqa: PLC0415  # pyarrow is an extra
from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ghcrawl.platforms.tables import ColumnType, LinkTable, Table
from ghcrawl.tables.projection import Row


def arrow_schema(table: Table | LinkTable) -> Any:
    """The declared columns of `table`."""
    import pyarrow as pa

    return pa.schema([(column.name, _type(column.type)) for column in table.columns])


def arrow_table(table: Table | LinkTable, rows: Sequence[Row]) -> Any:
    """`rows` as one Arrow table."""
    import pyarrow as pa

    schema = arrow_schema(table)
    arrays = [pa.array(values, type=field.type) for values, field in zip(zip(*rows, strict=True), schema, strict=True)]
    return pa.Table.from_arrays(arrays, schema=schema)


def _type(type: ColumnType) -> Any:
    import pyarrow as pa

    return {
        "text": pa.string(),
        "integer": pa.int64(),
        "real": pa.float64(),
        "boolean": pa.bool_(),
        "timestamp": pa.timestamp("us", tz="UTC"),
        "json": pa.string(),
    }[type]
