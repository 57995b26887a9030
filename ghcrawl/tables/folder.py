"""Tables as a folder of files, Parquet or CSV. A run builds a whole new folder, and the two change places in one step.

A later run rewrites only files with changed rows; the others are the same files, linked.
"""

from __future__ import annotations

import ctypes
import os
import shutil
import sys
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, suppress
from datetime import datetime
from errno import EBUSY
from pathlib import Path
from typing import Any, Final, Protocol

from ghcrawl.platforms.columns import ACCOUNTS
from ghcrawl.platforms.tables import LinkTable, Schema, Table
from ghcrawl.tables.partial import Partial
from ghcrawl.tables.projection import Row
from ghcrawl.tables.target import Rows, State, by_name, not_ours
from ghcrawl.values.errors import ConfigError

STATE: Final = "_ghcrawl.json"
AT_ONCE: Final = 4
"""Tables finished at a time: reading and writing Parquet leaves the interpreter to others."""


class RowFile(Protocol):
    """One file that rows are appended to."""

    def write(self, rows: Sequence[Row]) -> None:
        """Appends `rows`."""

    def close(self) -> None:
        """The file is complete, header and all."""


class TableFiles(Protocol):
    """The files of one table in the folder that a run builds."""

    def write(self, rows: Sequence[Row]) -> None:
        """Appends `rows`."""

    def newer(self, rows: Sequence[Row]) -> Collection[Any]:
        """The first columns of those `rows` that the run before has with a later last column."""

    def finish(self, gone: Collection[Any]) -> None:
        """Takes over the rows of the run before, but for those whose first column is in `gone`."""

    def close(self) -> None:
        """Closes open files, complete or not. Harmless after `finish`."""


Opens = Callable[[Path, Path | None, Table | LinkTable], TableFiles]
"""Opens the files of a table, given the folder to write and that of the run before, if its rows are kept."""


class FolderTarget:
    """The tables of `schema` in the folder `where`. holds: whether a folder has this format. opens: opens a table."""

    def __init__(self, where: Path, schema: Schema, holds: Callable[[Path], bool], opens: Opens) -> None:
        self.where = where
        self._schema, self._tables = schema, by_name(schema)
        self._holds, self._opens = holds, opens
        self._partial = Partial(where)
        self._files: dict[str, TableFiles] = {}
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
            if not file.is_file() or not self._holds(self.where):
                raise not_ours(self.where)
            return State.read(file.read_text(encoding="utf-8"), self.where, self._schema)

    def begin(self, *, whole: bool) -> None:
        """As the port says."""
        self._whole = whole
        with self._translated():
            self._partial.lock()
            self._partial.clear()
            self._partial.path.mkdir()

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
                accounts = self._file(ACCOUNTS)
                kept = accounts.newer([] if self._whole else list(self._accounts.values()))
                if rows := [row for id, row in self._accounts.items() if id not in kept]:
                    accounts.write(rows)
                    self._gone[ACCOUNTS] = {row[0] for row in rows}
            with ThreadPoolExecutor(min(AT_ONCE, os.cpu_count() or 1)) as pool:
                list(pool.map(self._finish, self._tables))
            (self._partial.path / STATE).write_text(state.text(), encoding="utf-8")
            exchange(self._partial.path, self.where)

    def abandon(self) -> None:
        """As the port says."""
        for file in self._files.values():
            with suppress(Exception):
                file.close()
        self._files = {}
        self._partial.release()

    def _file(self, name: str) -> TableFiles:
        if name not in self._files:
            before = None if self._whole else self.where
            self._files[name] = self._opens(self._partial.path, before, self._tables[name])
        return self._files[name]

    def _finish(self, name: str) -> None:
        self._file(name).finish(self._gone.get(name, set()))

    @contextmanager
    def _translated(self) -> Iterator[None]:
        try:
            yield
        except OSError as error:
            why = "it is a mount point; name a folder below it" if error.errno == EBUSY else error.strerror or error
            raise ConfigError(f"{self.where} cannot be written: {why}") from error


def same(before: Path, path: Path) -> None:
    """The file at `before` stands at `path` too."""
    try:
        os.link(before, path)
    except OSError:  # a file system without links
        shutil.copyfile(before, path)


def exchange(new: Path, old: Path) -> None:
    """Put `new` in the place of `old`; on Linux in one step, so that there is always one of them."""
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
