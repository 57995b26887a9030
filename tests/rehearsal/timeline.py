"""What happened, and when, for a person to read while it happens."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager


def _print(line: str) -> None:
    print(line, file=sys.stdout, flush=True)


class Timeline:
    """Lines that begin with the seconds since the start."""

    def __init__(self, write: Callable[[str], None] = _print) -> None:
        self._write = write
        self._began = time.monotonic()

    @property
    def now_s(self) -> float:
        """Seconds since the start."""
        return time.monotonic() - self._began

    def say(self, text: str) -> None:
        """One more line."""
        self._write(f"{self.now_s:6.1f} s  {text}")

    @contextmanager
    def step(self, title: str) -> Iterator[None]:
        """A part of the sequence, with how long it took."""
        began = self.now_s
        self.say(f"== {title}")
        yield
        self.say(f"   done in {self.now_s - began:.1f} s")
