"""Rows as Arrow tables, of the declared types."""

# ruff: noqa: PLC0415  # pyarrow is an extra
from __future__ import annotations

import sys
from collections.abc import Sequence
from importlib.abc import MetaPathFinder
from typing import Any

from ghcrawl.platforms.columns import ColumnType
from ghcrawl.platforms.tables import LinkTable, Table
from ghcrawl.tables.projection import Row


class _NoPandas(MetaPathFinder):
    """Finds no pandas."""

    def find_spec(self, fullname: str, path: object = None, target: object = None) -> None:  # noqa: ARG002  # the protocol's
        """As the protocol says."""
        if fullname == "pandas":
            raise ModuleNotFoundError("pandas is not needed here", name=fullname)


def load_without_pandas() -> None:
    """Loads pyarrow for a process of its own, in half of the time: it looks for pandas when it makes its first array.

    Where pandas is installed, pyarrow does without it in this process from then on.
    """
    import pyarrow as pa

    finder = _NoPandas()
    sys.meta_path.insert(0, finder)
    try:
        pa.array([])
    finally:
        sys.meta_path.remove(finder)


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
