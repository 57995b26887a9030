"""What a run builds beside its target, until it takes the target's place: by one process at a time."""

from __future__ import annotations

import fcntl
import os
import shutil
from contextlib import suppress
from pathlib import Path
from typing import Final

from ghcrawl.values.errors import ConfigError

BESIDE: Final = ("", "-journal", "-wal", "-shm", ".wal")
"""Endings of the files that databases keep beside a file."""


class Partial:
    """`NAME.partial` beside `where`, a file or a folder; and a lock, which ends with the process."""

    def __init__(self, where: Path) -> None:
        self.path: Final = where.with_name(f"{where.name}.partial")
        self._where = where
        self._lock_path = where.with_name(f"{where.name}.lock")
        self._lock: int | None = None

    def lock(self) -> None:
        """Keep other processes from writing the target until `release`. Raises ConfigError while one does, OSError."""
        while self._lock is None:
            lock = os.open(self._lock_path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o644)
            try:
                fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                os.close(lock)
                raise ConfigError(f"another process is writing {self._where}; run the command again later") from None
            if _is_at(lock, self._lock_path):  # or it was deleted by the process that held it
                self._lock = lock
            else:
                os.close(lock)

    def clear(self) -> None:
        """Delete what a killed run left behind."""
        for ending in BESIDE:
            path = Path(f"{self.path}{ending}")
            if path.is_dir() and not path.is_symlink():
                shutil.rmtree(path, ignore_errors=True)
            else:
                path.unlink(missing_ok=True)

    def release(self) -> None:
        """Delete what was built, unless it took the target's place; other processes may write the target."""
        if self._lock is None:
            return
        with suppress(OSError):
            self.clear()
        with suppress(OSError):
            self._lock_path.unlink()
        os.close(self._lock)
        self._lock = None


def _is_at(file: int, path: Path) -> bool:
    with suppress(FileNotFoundError):
        found, there = os.fstat(file), path.stat()
        return (found.st_dev, found.st_ino) == (there.st_dev, there.st_ino)
    return False
