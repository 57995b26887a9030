"""How a running crawl is shown, always on standard error: live on a terminal, as a line now and then elsewhere."""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Final, TextIO, cast

from rich.console import Console
from rich.file_proxy import FileProxy
from rich.live import Live

from ghcrawl.cli.screen import screen
from ghcrawl.cli.snapshot import Snapshot
from ghcrawl.cli.words import number, rate
from ghcrawl.telemetry.logs import LogLevel

LINE_EVERY_S: Final = 10.0
LOG_LEVEL: Final[LogLevel] = "critical"
"""The log level by default: what a warning would say is shown as well."""


class Reporter:
    """Shows snapshots, and says sentences between them. This one shows and says nothing.

    stream: where logs go, so that they do not tear the screen.
    """

    def __init__(self, stream: TextIO) -> None:
        self.stream = stream

    def say(self, sentence: str) -> None:
        """A line that stays."""

    def show(self, snapshot: Snapshot) -> None:
        """The present state; called several times a second."""

    def close(self) -> None:
        """The terminal is as it was before. May be called again."""


class Screen(Reporter):
    """A live screen below everything that is said."""

    def __init__(self, console: Console) -> None:
        # A FileProxy has what a log handler asks of a stream: write, flush and isatty.
        super().__init__(cast("TextIO", FileProxy(console, console.file)))
        self._console = console
        self._live = Live(
            console=console, auto_refresh=False, transient=True, redirect_stderr=False, redirect_stdout=False
        )
        self._started = False

    def say(self, sentence: str) -> None:
        """As `Reporter` says."""
        self._console.print(sentence, highlight=False, markup=False)

    def show(self, snapshot: Snapshot) -> None:
        """As `Reporter` says."""
        if not self._started:
            self._live.start()
            self._started = True
        self._live.update(screen(snapshot, self._console.width), refresh=True)

    def close(self) -> None:
        """As `Reporter` says."""
        if self._started:
            self._live.stop()


class Lines(Reporter):
    """A line every ten seconds, and one whenever an obstacle appears or disappears."""

    def __init__(self, stream: TextIO) -> None:
        super().__init__(stream)
        self._next_s = LINE_EVERY_S
        self._noted: frozenset[str] = frozenset()

    def say(self, sentence: str) -> None:
        """As `Reporter` says."""
        self.stream.write(f"{sentence}\n")
        self.stream.flush()

    def show(self, snapshot: Snapshot) -> None:
        """As `Reporter` says."""
        for reason, sentence in snapshot.notes.items():
            if reason not in self._noted:
                self.say(sentence)
        self._noted = frozenset(snapshot.notes)
        if snapshot.elapsed_s >= self._next_s:
            self._next_s = snapshot.elapsed_s + LINE_EVERY_S
            self.say(line(snapshot))


def line(snapshot: Snapshot) -> str:
    """`snapshot` as one line of text."""
    quota = [quota.remaining for quota in snapshot.quotas if quota.remaining is not None]
    parts = [
        f"{number(snapshot.saved)} documents ({rate(snapshot.saved_per_s)})",
        f"{number(snapshot.settled)} requests done ({rate(snapshot.settled_per_s)})",
        f"{number(snapshot.waiting)} waiting",
        f"{number(snapshot.calls)} calls",
        *([f"{number(sum(quota))} calls left"] if quota else []),
        *([f"{number(sum(snapshot.buried.values()))} deadletters"] if snapshot.buried else []),
        *([f"remaining: {snapshot.left}"] if snapshot.left else []),
    ]
    return f"{snapshot.now.astimezone():%H:%M:%S} {snapshot.title}: {', '.join(parts)}"


def reporter(*, quiet: bool, terminal: Callable[[], Console] = lambda: Console(stderr=True)) -> Reporter:
    """What suits standard error as it is."""
    if quiet:
        return Reporter(sys.stderr)
    console = terminal()
    return Screen(console) if console.is_terminal and not console.is_dumb_terminal else Lines(sys.stderr)
