"""CSV: a file for each table, UTF-8 with a header. Text is quoted and null is not, so that null and "" stay apart."""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Collection, Iterable, Iterator, Sequence
from datetime import datetime
from pathlib import Path
from typing import Any, BinaryIO, Final, TextIO

from ghcrawl.platforms.columns import ACCOUNTS
from ghcrawl.platforms.tables import LinkTable, Schema, Table
from ghcrawl.tables.folder import FolderTarget, same
from ghcrawl.tables.projection import Row
from ghcrawl.values.times import iso

_REPLACED: Final = "\N{REPLACEMENT CHARACTER}"
_FIRST: Final = re.compile(rb'"(?:[^"]|"")*"|[^,\r\n]*')
"""The first field of a record. No line ends within it: it is a key."""
_START: Final = b'\n"urn:'
"""Only before a record: within a quoted field a quote is doubled, or ends it."""
_URNS: Final = re.compile(rb'\n("urn:[^"]*(?:""[^"]*)*")')
"""The first fields of many records."""
CHUNK_BYTES: Final = 16_384
"""Few records, so that most chunks hold none that changed. Those are copied without a look at each line."""


def csv_target(where: Path, schema: Schema) -> FolderTarget:
    """`where/issues.csv`, and so on."""
    return FolderTarget(where, schema, lambda folder: _file(folder, ACCOUNTS).is_file(), CsvTable)


def _file(folder: Path, table: str) -> Path:
    return folder / f"{table}.csv"


class CsvTable:
    """The file of one table."""

    def __init__(self, new: Path, before: Path | None, table: Table | LinkTable) -> None:
        self._table, self._path = table, _file(new, table.name)
        self._before = _file(before, table.name) if before is not None else None
        self._open: CsvRows | None = None

    def write(self, rows: Sequence[Row]) -> None:
        """As the protocol says."""
        if self._open is None:
            self._open = CsvRows(self._path.open("w", encoding="utf-8", newline=""), self._table)
        self._open.write(rows)

    def newer(self, rows: Sequence[Row]) -> Collection[Any]:
        """As the protocol says."""
        known = {cell(row[0]): row for row in rows}
        if self._before is None or not known:
            return ()
        with self._before.open(encoding="utf-8", newline="") as file:
            records = (record for record in csv.reader(file) if record[0] in known)
            return {known[first][0] for first, *_, last in records if last > cell(known[first][-1])}

    def finish(self, gone: Collection[Any]) -> None:
        """As the protocol says."""
        if self._before is not None and self._open is None and not gone:
            same(self._before, self._path)
            return
        self.write([])
        self.close()
        if self._before is not None:
            append_records(self._path, self._before, gone)

    def close(self) -> None:
        """As the protocol says."""
        if self._open is not None:
            self._open.close()
            self._open = None


class CsvRows:
    """One open file."""

    def __init__(self, file: TextIO, table: Table | LinkTable) -> None:
        self._file = file
        self._file.write(f"{','.join(column.name for column in table.columns)}\r\n")

    def write(self, rows: Sequence[Row]) -> None:
        """As the protocol of a file says."""
        write_rows(self._file, rows)

    def close(self) -> None:
        """As the protocol of a file says."""
        self._file.close()


def append_records(path: Path, before: Path, gone: Collection[Any]) -> None:
    """Appends the records of an older file as they are, but for those whose first field is in `gone`."""
    keys = {cell(one).encode() for one in gone}
    with before.open("rb") as file, path.open("ab") as into:
        next(file)  # the header
        if not file.peek(len(_START)).startswith(_START[1:]):  # accounts: their key is a number
            into.writelines(_without(keys, file))
            return
        for records in _chunks(file):
            if keys.isdisjoint(_URNS.findall(b"\n" + records)):
                into.write(records)
            else:
                into.writelines(_without(keys, io.BytesIO(records)))


def _chunks(file: BinaryIO) -> Iterator[bytes]:
    """Whole records, several at a time."""
    rest = b""
    while more := file.read(max(CHUNK_BYTES, len(rest))):
        rest += more
        if cut := rest.rfind(_START) + 1:
            yield rest[:cut]
            rest = rest[cut:]
    yield rest


def _without(keys: Collection[bytes], lines: Iterable[bytes]) -> Iterator[bytes]:
    """Those `lines` that belong to none of the records with `keys`."""
    inside = kept = False
    for line in lines:
        if not inside:
            first = _FIRST.match(line)
            kept = first is None or first[0] not in keys
        if kept:
            yield line
        if line.count(b'"') % 2:
            inside = not inside


def write_rows(file: TextIO, rows: Sequence[Row]) -> None:
    """Appends `rows` to an open file."""
    file.writelines(f"{','.join(map(cell, row))}\r\n" for row in rows)


def cell(value: Any) -> str:
    """One value: null is empty, and no reader of CSV stands a NUL."""
    if value is None:
        return ""
    if isinstance(value, str):
        return '"' + value.replace("\0", _REPLACED).replace('"', '""') + '"'
    if isinstance(value, bool):
        return "true" if value else "false"
    return iso(value) if isinstance(value, datetime) else str(value)
