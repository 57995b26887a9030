"""Parquet: a folder for each table, zstd, in parts, so that a later run rewrites only those with rows that changed."""

# ruff: noqa: PLC0415  # pyarrow is an extra
from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Sequence
from contextlib import ExitStack, closing
from pathlib import Path
from typing import Any, Final

from ghcrawl.platforms.columns import ACCOUNTS
from ghcrawl.platforms.tables import LinkTable, Schema, Table
from ghcrawl.tables.arrow import arrow_schema, arrow_table
from ghcrawl.tables.folder import FolderTarget, same
from ghcrawl.tables.projection import Row

GROUP_ROWS: Final = 65_536
GROUP_BYTES: Final = 8 * 2**20
PART_ROWS: Final = 262_144
SMALL_ROWS: Final = PART_ROWS // 8
SMALL_PARTS: Final = 8
"""With more small parts than this, the next run merges them."""
DISTINCT: Final = ("urn", "url")
"""Text that is another in each row: a dictionary of it would only cost time."""


def parquet_target(where: Path, schema: Schema) -> FolderTarget:
    """`where/issues/part-00000.parquet`, and so on. Each row is in one part, so that readers may take all of them."""
    return FolderTarget(where, schema, lambda folder: bool(parts(folder / ACCOUNTS)), ParquetTable)


def parts(folder: Path) -> Sequence[Path]:
    """The files of a table."""
    return sorted(folder.glob("*.parquet"))


class ParquetTable:
    """The parts of one table."""

    def __init__(self, new: Path, before: Path | None, table: Table | LinkTable) -> None:
        self._table, self._folder = table, new / table.name
        self._before = parts(before / table.name) if before is not None else ()
        self._next = 1 + max((_number(part) for part in self._before), default=-1)
        self._open: ParquetRows | None = None
        self._folder.mkdir()

    def write(self, rows: Sequence[Row]) -> None:
        """As the protocol says."""
        self._hold(arrow_table(self._table, rows))

    def newer(self, rows: Sequence[Row]) -> Collection[Any]:
        """As the protocol says."""
        known = {row[0]: row[-1] for row in rows}
        first, *_, last = (column.name for column in self._table.columns)
        among, found = Changed(self._table, known), set[Any]()
        for part in self._before if known else ():
            for group in among.of(part, [first, last]):
                pairs = zip(*(column.to_pylist() for column in group.columns), strict=True)
                found.update(key for key, at in pairs if at > known[key])
        return found

    def finish(self, gone: Collection[Any]) -> None:
        """As the protocol says."""
        if not gone and len(self._before) <= SMALL_PARTS:
            for part in self._before:
                same(part, self._folder / part.name)
            self._complete()
            return
        changed = Changed(self._table, gone)
        with ExitStack() as stack:
            files = {part: stack.enter_context(_opened(part, changed.encoded)) for part in self._before}
            small = [part for part, file in files.items() if file.metadata.num_rows < SMALL_ROWS]
            merged = small if len(small) > SMALL_PARTS else []
            for part, file in files.items():
                if part in merged:
                    for rows in changed.kept(file):
                        self._hold(rows.cast(arrow_schema(self._table)))
                elif changed.touches(file):
                    self._rewrite(part, changed.kept(file))
                else:
                    same(part, self._folder / part.name)
        self._complete()

    def _complete(self) -> None:
        if self._open is None and not parts(self._folder):
            self._hold(arrow_schema(self._table).empty_table())  # a reader of the folder finds the columns
        self.close()

    def close(self) -> None:
        """As the protocol says."""
        if self._open is not None:
            self._open.close()
            self._open = None

    def _hold(self, rows: Any) -> None:
        if self._open is None:
            self._open = ParquetRows(self._folder / f"part-{self._next:05}.parquet", self._table)
            self._next += 1
        self._open.hold(rows)
        if self._open.rows >= PART_ROWS:
            self.close()

    def _rewrite(self, part: Path, groups: Iterable[Any]) -> None:
        path, rows = self._folder / part.name, 0
        with closing(_writer(path, encoded_schema(self._table))) as file:
            for group in groups:
                rows += group.num_rows
                file.write_table(group)
        if not rows:
            path.unlink()


class Changed:
    """The rows of `table` whose first column is in `gone`: what a later run replaces or drops.

    encoded: the columns that are read as dictionaries, see `encoded_schema`.
    """

    def __init__(self, table: Table | LinkTable, gone: Collection[Any]) -> None:
        import pyarrow as pa

        first, *_ = arrow_schema(table)
        self.encoded = [field.name for field in encoded_schema(table) if pa.types.is_dictionary(field.type)]
        self._key = first.name
        self._gone = pa.array(list(gone), type=first.type)

    def touches(self, file: Any) -> bool:
        """Whether one of them is there."""
        return len(self._gone) > 0 and any(self._among(group).true_count for group in _groups(file, [self._key]))

    def of(self, part: Path, columns: Sequence[str]) -> Iterator[Any]:
        """These columns of those rows, a row group at a time."""
        with _opened(part, ()) as file:
            for group in _groups(file, columns):
                yield group.filter(self._among(group))

    def kept(self, file: Any) -> Iterator[Any]:
        """All other rows there, a row group at a time."""
        import pyarrow.compute as pc

        for group in _groups(file):
            among = self._among(group)
            yield group.filter(pc.invert(among)) if among.true_count else group

    def _among(self, group: Any) -> Any:
        import pyarrow.compute as pc

        return pc.is_in(group.column(0).combine_chunks(), value_set=self._gone)


class ParquetRows:
    """One file, in row groups. rows: that it was given."""

    def __init__(self, path: Path, table: Table | LinkTable) -> None:
        self.rows = 0
        self._table = table
        self._writer = _writer(path, arrow_schema(table))
        self._held: list[Any] = []

    def write(self, rows: Sequence[Row]) -> None:
        """As the protocol of a file says."""
        self.hold(arrow_table(self._table, rows))

    def hold(self, table: Any) -> None:
        """Appends an Arrow table, which is kept in memory until a row group is full."""
        self.rows += table.num_rows
        self._held.append(table)
        if (
            sum(one.num_rows for one in self._held) >= GROUP_ROWS
            or sum(one.nbytes for one in self._held) >= GROUP_BYTES
        ):
            self._flush()

    def close(self) -> None:
        """As the protocol of a file says."""
        self._flush()
        self._writer.close()

    def _flush(self) -> None:
        import pyarrow as pa

        if self._held:
            self._writer.write_table(pa.concat_tables(self._held))
            self._held = []


def encoded_schema(table: Table | LinkTable) -> Any:
    """The columns of `table`, most text as dictionaries: read and written as they are in the file, but for the key."""
    import pyarrow as pa

    def encoded(field: Any) -> Any:
        if field.type != pa.string() or field.name in DISTINCT:
            return field
        return field.with_type(pa.dictionary(pa.int32(), field.type))

    first, *others = arrow_schema(table)
    return pa.schema([first, *map(encoded, others)])


def _writer(path: Path, schema: Any) -> Any:
    """Without statistics of text, which cost time and help only searches by a key."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    text = (pa.string(), pa.dictionary(pa.int32(), pa.string()))
    known = [field.name for field in schema if field.type not in text or field.name.endswith("urn")]
    repeated = [field.name for field in schema if field.name not in DISTINCT]
    return pq.ParquetWriter(
        path, schema, compression="zstd", use_dictionary=repeated, write_statistics=known, store_schema=False
    )


def _opened(part: Path, encoded: Sequence[str]) -> Any:
    import pyarrow.parquet as pq

    return pq.ParquetFile(part, read_dictionary=list(encoded))


def _groups(file: Any, columns: Sequence[str] | None = None) -> Iterator[Any]:
    for number in range(file.num_row_groups):
        yield file.read_row_group(number, columns=columns, use_threads=False)


def _number(part: Path) -> int:
    digits = part.stem.rpartition("-")[2]
    return int(digits) if digits.isdecimal() else 0
