"""Many deadletters, in as many answers as it takes: after each of them it is known how far it is."""

from __future__ import annotations

import asyncio
import sys
from collections.abc import Awaitable, Callable
from typing import Final, TypeVar

from ghcrawl.cli.stderr import say
from ghcrawl.cli.words import number
from ghcrawl.ports.deadletters import DeadletterFilter, Forgotten, Requeued
from ghcrawl.values.errors import CrawlError
from ghcrawl.values.frozen import replace

R = TypeVar("R", Requeued, Forgotten)

LINE_EVERY_S: Final = 10.0


async def rounds(
    once: Callable[[DeadletterFilter], Awaitable[R]],
    which: DeadletterFilter,
    *,
    of: Callable[[R], int],
    done: str,
    line_every_s: float = LINE_EVERY_S,
) -> list[R]:
    """The answers of `once`, asked again until nothing is left of what `which` meant when it was first asked.

    of: what one answer dealt with. done: their new state, as in "2,000 requeued". After an interruption or an
    error, the command says what was done and what is left. Raises what `once` raises.
    """
    progress, answers = Progress(done, line_every_s), list[R]()
    while not answers or answers[-1].left:
        asking = asyncio.ensure_future(once(which))
        try:
            answers.append(await asyncio.shield(asking))
        except (CrawlError, asyncio.CancelledError) as stop:
            if isinstance(stop, asyncio.CancelledError):  # Ctrl-C: what is under way is soon done, and counts
                await asyncio.wait([asking])
                answers += [] if asking.exception() else [asking.result()]
            progress.stopped(sum(map(of, answers)), answers[-1].left if answers else None)
            raise
        which = replace(which, before=answers[-1].before or which.before)
        if answers[-1].left:
            progress.show(sum(map(of, answers)), answers[-1].left)
    progress.clear()
    return answers


class Progress:
    """How far it is, on standard error: on a terminal one line that changes, elsewhere one now and then."""

    def __init__(self, done: str, line_every_s: float) -> None:
        self._done = done
        self._line_every_s = line_every_s
        self._monotonic = asyncio.get_running_loop().time
        self._next = self._monotonic() + line_every_s
        self._shown = False

    def show(self, done: int, left: int) -> None:
        """Show how many are done and how many are left."""
        if sys.stderr.isatty():
            self._shown = True
            sys.stderr.write(f"\r{number(done)} {self._done}, {number(left)} left \x1b[K")
            sys.stderr.flush()
        elif self._monotonic() >= self._next:
            self._next = self._monotonic() + self._line_every_s
            say(f"{number(done)} {self._done}, {number(left)} left.")

    def stopped(self, done: int, left: int | None) -> None:
        """It ends here. left: None: unknown."""
        self.clear()
        if left:
            say(f"Interrupted: {number(done)} {self._done}, {number(left)} left. Run the same command again to resume.")
        elif left is not None:
            say(f"{number(done)} {self._done}, none left.")

    def clear(self) -> None:
        """The line that changes is gone."""
        if self._shown:
            sys.stderr.write("\r\x1b[K")
            sys.stderr.flush()
            self._shown = False
