"""Secrets from the environment and from a file that is read again when it changes."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path

import structlog

from ghcrawl.errors import ConfigError

log = structlog.stdlib.get_logger(__name__)


def split(text: str, separators: str = "\n") -> tuple[str, ...]:
    """What stands between separators. What begins with `# ` is a comment."""
    parts = (part.strip() for part in re.split(f"[{separators}]", text))
    return tuple(part for part in parts if part and not part.startswith("# "))


class SecretLines:
    """All secrets of one kind. Asking looks at the file's date, and reads it again only if that is another one.

    variable: what the environment says. file: as typed; empty: none. A file that cannot be read any more leaves what
    it last said. separators: what may stand between two secrets.
    learn: told every secret before it is ever used, so that no log shows it.
    Raises ConfigError where the file cannot be read to begin with.
    """

    def __init__(
        self,
        variable: str,
        file: str,
        *,
        what: str,
        separators: str = "\n",
        learn: Callable[[str], None] = lambda _: None,
    ) -> None:
        self._separators = separators
        self._of_variable = split(variable, separators)
        self._path = Path(file).expanduser() if file else None
        self._what = what
        self._learn = learn
        self._stamp: tuple[int, int, int] | None = None
        self._of_file: tuple[str, ...] = ()
        for secret in self._of_variable:
            learn(secret)
        if self._path is not None:
            try:
                self._look(self._path)
            except (OSError, UnicodeDecodeError) as error:
                raise ConfigError(f"the {what} {self._path} cannot be read: {type(error).__name__}") from None

    def now(self) -> tuple[str, ...]:
        """The secrets, as of this moment."""
        if self._path is not None:
            try:
                self._look(self._path)
            except (OSError, UnicodeDecodeError) as error:
                if self._stamp is not None:
                    log.warning("secrets_unreadable", what=self._what, error=type(error).__name__)
                self._stamp = None
        return (*self._of_variable, *self._of_file)

    def _look(self, path: Path) -> None:
        found = path.stat()
        stamp = (found.st_mtime_ns, found.st_size, found.st_ino)
        if stamp == self._stamp:
            return
        secrets = split(path.read_text(encoding="utf-8"), self._separators)
        for secret in secrets:
            self._learn(secret)
        self._of_file, self._stamp = secrets, stamp
