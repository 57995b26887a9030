"""The schema of the embedded file: which one a file has, how it is made, how an older one is migrated."""

from __future__ import annotations

import sqlite3
from collections.abc import Sequence
from pathlib import Path
from typing import Final, TypeAlias

from msgspec import Struct

from ghcrawl.values.errors import ConfigError

Migration: TypeAlias = Sequence[str]
"""The statements that bring a file from one schema to the next."""

APPLICATION_ID: Final = 0x67686377
"""`ghcw` in the file's header tells our databases from others."""
FIRST: Final = 1
"""The schema of a file that needs every migration."""


class Schema(Struct, frozen=True):
    """tables: the statements that make a new file. migrations: what older files lack, oldest first."""

    tables: Sequence[str]
    migrations: Sequence[Migration] = ()

    @property
    def newest(self) -> int:
        """The schema that this version reads and writes; each migration adds one."""
        return FIRST + len(self.migrations)

    def version(self, connection: sqlite3.Connection, path: Path) -> int:
        """The schema of our tables; 0 for a new file. Raises ConfigError for anything else."""
        (application,) = connection.execute("PRAGMA application_id").fetchone()
        (version,) = connection.execute("PRAGMA user_version").fetchone()
        (tables,) = connection.execute("SELECT COUNT(*) FROM sqlite_schema").fetchone()
        if application != APPLICATION_ID and (application or tables):
            raise ConfigError(f"{path} is the database of another program; name another file")
        if version > self.newest:
            raise ConfigError(
                f"{path} was written by a newer ghcrawl (schema {version}, this one knows {self.newest}); "
                "use that version, or another file"
            )
        if application == APPLICATION_ID and version < FIRST:
            raise ConfigError(f"{path} has schema {version}, which no ghcrawl writes; name another file")
        return int(version) if application == APPLICATION_ID else 0

    def create(self, connection: sqlite3.Connection, path: Path) -> None:
        """A new file has the newest schema."""
        connection.execute("BEGIN IMMEDIATE")
        if self.version(connection, path) == 0:  # another process may have been faster
            for statement in self.tables:
                connection.execute(statement)
            connection.execute(f"PRAGMA application_id={APPLICATION_ID}")
            connection.execute(f"PRAGMA user_version={self.newest}")
        connection.execute("COMMIT")

    def migrate(self, connection: sqlite3.Connection, path: Path) -> None:
        """An older file has the newest schema, in one transaction."""
        connection.execute("BEGIN IMMEDIATE")
        for migration in self.migrations[self.version(connection, path) - FIRST :]:
            for statement in migration:
                connection.execute(statement)
        connection.execute(f"PRAGMA user_version={self.newest}")
        connection.execute("COMMIT")
