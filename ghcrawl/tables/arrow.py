"""Rows as Arrow tables, of the declared types."""

# ruff: noqa: PLC0415  # pyarrow is an extra
from __future__ import annotations

import sys
from collections.abc import Sequence
from datetime import UTC, datetime
from importlib.abc import MetaPathFinder
from pathlib import Path
from typing import Any, Final

from ghcrawl.platforms.columns import ColumnType
from ghcrawl.platforms.tables import LinkTable, Table
from ghcrawl.tables.projection import Row

ABLE_WITHOUT: Final = ("numpy", "pandas")
"""What pyarrow loads where it is installed; both take longer to load than pyarrow itself."""


class _Without(MetaPathFinder):
    """Finds none of these."""

    def find_spec(self, fullname: str, path: object = None, target: object = None) -> None:  # noqa: ARG002  # the protocol's
        """As the protocol says."""
        if fullname in ABLE_WITHOUT:
            raise ModuleNotFoundError(f"{fullname} is not needed here", name=fullname)


def load_alone() -> None:
    """Loads pyarrow for a process of its own, in a third of the time: it looks for numpy and pandas when it starts.

    Pyarrow does without them in this process from then on, and crashes if one of them is loaded later. So nothing is
    done where the process is another program's.
    """
    program = Path(sys.argv[0])
    if program.name != "ghcrawl" and program.parts[-2:] != ("ghcrawl", "__main__.py"):
        return
    without = _Without()
    sys.meta_path.insert(0, without)
    try:
        import pyarrow as pa
        import pyarrow.compute
        import pyarrow.parquet

        pa.array([datetime.now(UTC)]).to_pylist()
    finally:
        sys.meta_path.remove(without)


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
