"""Secrets from the environment and from a file that is read again when it changes."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from pathlib import Path

import structlog
from msgspec import Struct

from ghcrawl.values.errors import ConfigError

log = structlog.stdlib.get_logger(__name__)


Stamp = tuple[int, int, int]
"""Changes whenever the file is written to or replaced."""


def stamp_of(path: Path) -> Stamp:
    """The stamp of the file at `path` at this moment. Raises OSError."""
    found = path.stat()
    return found.st_mtime_ns, found.st_size, found.st_ino


def split(text: str, separators: str = "\n") -> Iterator[tuple[int, str]]:
    """The entries between separators, each with its line number. One that starts with `# ` is a comment."""
    for number, line in enumerate(text.split("\n"), start=1):
        for part in re.split(f"[{separators}]", line):
            secret = part.strip()
            if secret and not secret.startswith("# "):
                yield number, secret


class SecretKind(Struct, frozen=True, kw_only=True):
    """One kind of secrets, and how they are written.

    variable: where the environment has them. what: the file of them, for a person.
    separators: what may stand between two secrets.
    flaw: why a secret cannot be used, in words that show nothing of it; empty: it can.
    """

    variable: str
    what: str
    separators: str = "\n"
    flaw: Callable[[str], str] = lambda _: ""


class SecretLines:
    """All secrets of one kind. Asking looks at the file's date, and reads it again only if that is another one.

    text: what the environment says. file: as typed; empty: none. A file that cannot be read any more leaves what it
    last said; so does one without anything of use, if there is nothing else.
    learn: told every secret before it is ever used, so that no log shows it.
    Raises ConfigError where the file cannot be read at first, or has a flaw; later that is logged and left out.
    """

    def __init__(
        self, text: str, file: str, kind: SecretKind, *, learn: Callable[[str], None] = lambda _: None
    ) -> None:
        self._kind = kind
        self._path = Path(file).expanduser() if file else None
        self._learn = learn
        self._stamp: Stamp | None = None
        entries = re.sub(f"[{kind.separators}]", "\n", text)
        self._of_environment, flaws = self._usable(entries, f"entry {{}} of {kind.variable}")
        self._of_file: tuple[str, ...] = ()
        if self._path is not None:
            try:
                flaws += self._look(self._path)
            except (OSError, UnicodeDecodeError) as error:
                raise ConfigError(f"cannot read the {kind.what} {self._path}: {type(error).__name__}") from None
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
                    log.warning("secrets_unreadable", what=self._kind.what, error=type(error).__name__)
                self._stamp = None
        return (*self._of_environment, *self._of_file)

    def _look(self, path: Path) -> list[str]:
        """What the file says holds from now on. Returns what is wrong with it."""
        stamp = stamp_of(path)
        if stamp == self._stamp:
            return []
        secrets, flaws = self._usable(path.read_text(encoding="utf-8"), f"line {{}} of the {self._kind.what}")
        if self._of_file and not (secrets or self._of_environment):
            flaws.append(f"the {self._kind.what} is empty; keeping its previous entries")
        else:
            self._of_file = secrets
        self._stamp = stamp
        return flaws

    def _usable(self, text: str, place: str) -> tuple[tuple[str, ...], list[str]]:
        """Secrets that can be used, and what is wrong with the others. place: with {} for a number."""
        usable, flaws = [], []
        for number, secret in split(text, self._kind.separators):
            self._learn(secret)
            flaw = self._kind.flaw(secret)
            if flaw:
                flaws.append(f"{place.format(number)} {flaw}")
            else:
                usable.append(secret)
        return tuple(usable), flaws
