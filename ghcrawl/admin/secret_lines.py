"""Secrets from the environment and from a file that is read again when it changes."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from pathlib import Path

import structlog

from ghcrawl.errors import ConfigError

log = structlog.stdlib.get_logger(__name__)


Stamp = tuple[int, int, int]
"""Another one for whatever was written to a file, or put into its place, since it was looked at."""


def stamp_of(path: Path) -> Stamp:
    """The stamp of the file at `path` at this moment. Raises OSError."""
    found = path.stat()
    return found.st_mtime_ns, found.st_size, found.st_ino


def split(text: str, separators: str = "\n") -> Iterator[tuple[int, str]]:
    """What stands between separators, each with the number of its line. What begins with `# ` is a comment."""
    for number, line in enumerate(text.split("\n"), start=1):
        for part in re.split(f"[{separators}]", line):
            secret = part.strip()
            if secret and not secret.startswith("# "):
                yield number, secret


class SecretLines:
    """All secrets of one kind. Asking looks at the file's date, and reads it again only if that is another one.

    variable: what the environment says under the name `named`. file: as typed; empty: none. A file that cannot be read
    any more leaves what it last said; so does one without anything of use, if there is nothing else.
    separators: what may stand between two secrets.
    learn: told every secret before it is ever used, so that no log shows it.
    flaw: why a secret cannot be used, in words that show nothing of it; empty: it can.
    Raises ConfigError where the file cannot be read to begin with, or has a flaw; later that is logged and left out.
    """

    def __init__(  # noqa: PLR0913  # each of them differs between tokens and webhook secrets
        self,
        variable: str,
        file: str,
        *,
        what: str,
        named: str = "the environment",
        separators: str = "\n",
        learn: Callable[[str], None] = lambda _: None,
        flaw: Callable[[str], str] = lambda _: "",
    ) -> None:
        self._separators = separators
        self._path = Path(file).expanduser() if file else None
        self._what = what
        self._learn = learn
        self._flaw = flaw
        self._stamp: Stamp | None = None
        entries = re.sub(f"[{separators}]", "\n", variable)
        self._of_variable, flaws = self._usable(entries, f"entry {{}} of {named}")
        self._of_file: tuple[str, ...] = ()
        if self._path is not None:
            try:
                flaws += self._look(self._path)
            except (OSError, UnicodeDecodeError) as error:
                raise ConfigError(f"the {what} {self._path} cannot be read: {type(error).__name__}") from None
        if flaws:
            raise ConfigError(flaws[0])

    def now(self) -> tuple[str, ...]:
        """The secrets, as of this moment."""
        if self._path is not None:
            try:
                for flaw in self._look(self._path):
                    log.warning("secret_ignored", reason=flaw)
            except (OSError, UnicodeDecodeError) as error:
                if self._stamp is not None:
                    log.warning("secrets_unreadable", what=self._what, error=type(error).__name__)
                self._stamp = None
        return (*self._of_variable, *self._of_file)

    def _look(self, path: Path) -> list[str]:
        """What the file says holds from now on. Returns what is wrong with it."""
        stamp = stamp_of(path)
        if stamp == self._stamp:
            return []
        secrets, flaws = self._usable(path.read_text(encoding="utf-8"), f"line {{}} of the {self._what}")
        if self._of_file and not (secrets or self._of_variable):
            flaws.append(f"there is nothing of use in the {self._what} any more; what it said before still holds")
        else:
            self._of_file = secrets
        self._stamp = stamp
        return flaws

    def _usable(self, text: str, place: str) -> tuple[tuple[str, ...], list[str]]:
        """Secrets that can be used, and what is wrong with the others. place: with {} for a number."""
        usable, flaws = [], []
        for number, secret in split(text, self._separators):
            self._learn(secret)
            flaw = self._flaw(secret)
            if flaw:
                flaws.append(f"{place.format(number)} {flaw}")
            else:
                usable.append(secret)
        return tuple(usable), flaws
