"""CSV: a file for each table, UTF-8 with a header. Text is quoted and null is not, so that null and "" stay apart."""

from __future__ import annotations

import csv
from collections.abc import Collection, Iterator, Sequence
from datetime import datetime
from pathlib import Path
from typing import Any, Final, TextIO

from ghcrawl.platforms.tables import LinkTable, Schema, Table
from ghcrawl.tables.folder import FolderTarget
from ghcrawl.tables.projection import Row
from ghcrawl.values.model import iso

LONGEST: Final = 2**31 - 1
"""A field may be a whole body; the standard library stops at 128 KB unless told otherwise."""
_REPLACED: Final = "\N{REPLACEMENT CHARACTER}"


def csv_target(where: Path, schema: Schema) -> FolderTarget:
    """`where/issues.csv`, and so on."""
    return FolderTarget(where, schema, lambda name: f"{name}.csv", _opened)


def _opened(path: Path, table: Table | LinkTable) -> CsvRows:
    return CsvRows(path.open("w", encoding="utf-8", newline=""), table)


class CsvRows:
    """One open file."""

    def __init__(self, file: TextIO, table: Table | LinkTable) -> None:
        self._file = file
        self._file.write(f"{','.join(column.name for column in table.columns)}\r\n")

    def write(self, rows: Sequence[Row]) -> None:
        """As the protocol says."""
        write_rows(self._file, rows)

    def copy(self, before: Path, gone: Collection[Any]) -> None:
        """As the protocol says. Lines are copied as they are."""
        keys = {str(one) for one in gone}
        csv.field_size_limit(LONGEST)
        with before.open(encoding="utf-8", newline="") as file:
            lines = _Recorded(file)
            for place, record in enumerate(csv.reader(lines)):
                text = lines.taken()
                if place and record[0] not in keys:
                    self._file.write(text)

    def close(self) -> None:
        """As the protocol says."""
        self._file.close()


class _Recorded:
    """Lines, and what was read of them since the last look."""

    def __init__(self, file: TextIO) -> None:
        self._file, self._read = file, list[str]()

    def __iter__(self) -> Iterator[str]:
        for line in self._file:
            self._read.append(line)
            yield line

    def taken(self) -> str:
        text = "".join(self._read)
        self._read.clear()
        return text


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
