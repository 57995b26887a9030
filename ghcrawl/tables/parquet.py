"""Parquet: a folder for each table, zstd, row groups large enough to be read fast."""

# ruff: noqa: PLC0415  # pyarrow is an extra
from __future__ import annotations

from collections.abc import Collection, Sequence
from pathlib import Path
from typing import Any, Final

from ghcrawl.platforms.tables import LinkTable, Schema, Table
from ghcrawl.tables.arrow import arrow_schema, arrow_table
from ghcrawl.tables.folder import FolderTarget
from ghcrawl.tables.projection import Row

GROUP_ROWS: Final = 16_384
GROUP_BYTES: Final = 4 * 2**20


def parquet_target(where: Path, schema: Schema) -> FolderTarget:
    """`where/issues/issues.parquet`, and so on."""
    return FolderTarget(where, schema, lambda name: f"{name}/{name}.parquet", ParquetRows)


class ParquetRows:
    """One file, in row groups."""

    def __init__(self, path: Path, table: Table | LinkTable) -> None:
        import pyarrow.parquet as pq

        self._table = table
        self._writer = pq.ParquetWriter(path, arrow_schema(table), compression="zstd")
        self._held: list[Any] = []

    def write(self, rows: Sequence[Row]) -> None:
        """As the protocol says."""
        self._hold(arrow_table(self._table, rows))

    def copy(self, before: Path, gone: Collection[Any]) -> None:
        """As the protocol says."""
        import pyarrow as pa
        import pyarrow.compute as pc
        import pyarrow.parquet as pq

        schema = arrow_schema(self._table)
        dropped = pa.array(list(gone), type=schema.field(0).type)
        with pq.ParquetFile(before) as file:
            for batch in file.iter_batches(batch_size=GROUP_ROWS):
                kept = batch.filter(pc.invert(pc.is_in(batch.column(0), value_set=dropped)))
                self._hold(pa.Table.from_batches([kept], schema=schema))

    def close(self) -> None:
        """As the protocol says."""
        self._flush()
        self._writer.close()

    def _hold(self, table: Any) -> None:
        self._held.append(table)
        if (
            sum(one.num_rows for one in self._held) >= GROUP_ROWS
            or sum(one.nbytes for one in self._held) >= GROUP_BYTES
        ):
            self._flush()

    def _flush(self) -> None:
        import pyarrow as pa

        if self._held:
            self._writer.write_table(pa.concat_tables(self._held))
            self._held = []
