"""Ctrl-C and SIGTERM: the first asks to stop, the second does not ask."""

from __future__ import annotations

import asyncio
import os
import signal
import threading
from collections.abc import Callable
from typing import Final, Literal, Self

SignalName = Literal["", "SIGINT", "SIGTERM"]
_WATCHED: Final[dict[signal.Signals, SignalName]] = {signal.SIGINT: "SIGINT", signal.SIGTERM: "SIGTERM"}


class Signals:
    """Catches both while the block runs. at_once: restores the terminal before a second one ends the process.

    Only a process's main thread can: in another one nothing is caught.
    """

    def __init__(self, at_once: Callable[[], None] = lambda: None) -> None:
        self.received: SignalName = ""
        self._at_once = at_once
        self._came = asyncio.Event()
        self._watched = _WATCHED if threading.current_thread() is threading.main_thread() else ()

    def __enter__(self) -> Self:
        loop = asyncio.get_running_loop()
        for number in self._watched:
            loop.add_signal_handler(number, self._catch, number)
        return self

    def __exit__(self, *_: object) -> None:
        loop = asyncio.get_running_loop()
        for number in self._watched:
            loop.remove_signal_handler(number)

    async def wait(self, seconds: float) -> None:
        """Return after `seconds`, or at once when a signal comes."""
        try:
            async with asyncio.timeout(seconds):
                await self._came.wait()
        except TimeoutError:
            pass

    def _catch(self, number: signal.Signals) -> None:
        if self.received:
            self._at_once()
            os._exit(128 + number)
        self.received = _WATCHED[number]
        self._came.set()
