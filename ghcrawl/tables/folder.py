"""Tables as a folder of files, Parquet or CSV. A run builds a whole new folder, and the two change places in one step.

A later run writes anew only the files of tables that changed; the others are the same files, linked.
"""

from __future__ import annotations

import ctypes
import os
import shutil
import sys
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from datetime import datetime
from pathlib import Path
from typing import Any, Final, Protocol

from ghcrawl.platforms.tables import ACCOUNTS, LinkTable, Schema, Table
from ghcrawl.tables.projection import Row
from ghcrawl.tables.target import Rows, State, by_name, not_ours
from ghcrawl.values.errors import ConfigError

STATE: Final = "_ghcrawl.json"


class RowFile(Protocol):
    """One file that rows are appended to."""

    def write(self, rows: Sequence[Row]) -> None:
        """Appends `rows`."""

    def copy(self, before: Path, gone: Collection[Any]) -> None:
        """Appends the rows of an older file, but for those whose first column is in `gone`."""

    def close(self) -> None:
        """The file is complete, header and all."""


Opens = Callable[[Path, Table | LinkTable], RowFile]


class FolderTarget:
    """The tables of `schema` in the folder `where`. path: of a table's file, below it. opens: begins such a file."""

    def __init__(self, where: Path, schema: Schema, path: Callable[[str], str], opens: Opens) -> None:
        self.where = where
        self._schema, self._tables = schema, by_name(schema)
        self._path, self._opens = path, opens
        self._partial = where.with_name(f"{where.name}.partial")
        self._files: dict[str, RowFile] = {}
        self._accounts: dict[Any, Row] = {}
        self._gone: dict[str, set[Any]] = {}
        self._whole = True

    def moments(self, at: datetime) -> datetime:
        """As it is."""
        return at

    def state(self) -> State | None:
        """As the port says. An empty folder is nothing yet."""
        with self._translated():
            if not self.where.exists() or (self.where.is_dir() and not any(self.where.iterdir())):
                return None
            file = self.where / STATE
            if not file.is_file() or not self._is_of_this_format():
                raise not_ours(self.where)
            return State.read(file.read_text(encoding="utf-8"), self.where, self._schema)

    def begin(self, *, whole: bool) -> None:
        """As the port says."""
        self._whole = whole
        with self._translated():
            shutil.rmtree(self._partial, ignore_errors=True)
            self._partial.mkdir()

    def replace(self, rows: Rows, changed: Mapping[str, Sequence[str]]) -> None:
        """As the port says."""
        with self._translated():
            for name, urns in changed.items():
                self._gone.setdefault(name, set()).update(urns)
            for name, many in rows.items():
                if name == ACCOUNTS:
                    self._accounts.update({row[0]: row for row in many})
                    continue
                self._file(name).write(many)
                if not self._whole and isinstance(self._tables[name], Table):
                    self._gone.setdefault(name, set()).update(row[0] for row in many)

    def commit(self, state: State) -> None:
        """As the port says."""
        with self._translated():
            if self._accounts:
                self._file(ACCOUNTS).write(list(self._accounts.values()))
                self._gone[ACCOUNTS] = set(self._accounts)
            for name in self._tables:
                self._finish(name)
            (self._partial / STATE).write_text(state.text(), encoding="utf-8")
            exchange(self._partial, self.where)
            shutil.rmtree(self._partial, ignore_errors=True)

    def abandon(self) -> None:
        """As the port says."""
        for file in self._files.values():
            with suppress(Exception):
                file.close()
        self._files = {}
        shutil.rmtree(self._partial, ignore_errors=True)

    def _is_of_this_format(self) -> bool:
        return (self.where / self._path(ACCOUNTS)).is_file()

    def _file(self, name: str) -> RowFile:
        if name not in self._files:
            path = self._partial / self._path(name)
            path.parent.mkdir(exist_ok=True)
            self._files[name] = self._opens(path, self._tables[name])
        return self._files[name]

    def _finish(self, name: str) -> None:
        """The file of one table, with what an earlier one held that still is true."""
        before = self.where / self._path(name)
        if not self._whole and name not in self._files and not self._gone.get(name):
            path = self._partial / self._path(name)
            path.parent.mkdir(exist_ok=True)
            _same(before, path)
            return
        file = self._file(name)
        if not self._whole:
            file.copy(before, self._gone.get(name, set()))
        del self._files[name]
        file.close()

    @contextmanager
    def _translated(self) -> Iterator[None]:
        try:
            yield
        except OSError as error:
            raise ConfigError(f"{self.where} cannot be written: {error.strerror or error}") from error


def _same(before: Path, path: Path) -> None:
    try:
        os.link(before, path)
    except OSError:  # a file system without links
        shutil.copyfile(before, path)


def exchange(new: Path, old: Path) -> None:
    """What is at `new` stands at `old`; on Linux in one step, so that nobody ever finds neither."""
    if not old.exists():
        new.rename(old)
        return
    if sys.platform == "linux" and _exchanged(new, old):
        return
    aside = old.with_name(f"{old.name}.old")
    shutil.rmtree(aside, ignore_errors=True)
    old.rename(aside)
    new.rename(old)
    shutil.rmtree(aside, ignore_errors=True)


def _exchanged(new: Path, old: Path) -> bool:
    at_working_folder, exchange_flag = -100, 2
    try:
        rename = ctypes.CDLL(None, use_errno=True).renameat2
    except (OSError, AttributeError):
        return False
    return bool(rename(at_working_folder, os.fsencode(new), at_working_folder, os.fsencode(old), exchange_flag) == 0)
