"""Which commands reach the server: round trips, as the driver itself counts them."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from pymongo import monitoring

SMALL_TALK = frozenset({"hello", "isMaster", "ismaster", "ping", "endSessions", "saslStart"})


class Commands(monitoring.CommandListener):
    """The driver's listeners cannot be taken away again, so there is one, and it listens when it is asked to."""

    def __init__(self) -> None:
        self._heard: list[str] | None = None

    @contextmanager
    def heard(self) -> Iterator[list[str]]:
        """The names of the commands that are sent until the block ends."""
        heard: list[str] = []
        self._heard = heard
        try:
            yield heard
        finally:
            self._heard = None

    def started(self, event: monitoring.CommandStartedEvent) -> None:
        if self._heard is not None and event.command_name not in SMALL_TALK:
            self._heard.append(event.command_name)

    def succeeded(self, event: monitoring.CommandSucceededEvent) -> None:
        pass

    def failed(self, event: monitoring.CommandFailedEvent) -> None:
        pass


COMMANDS = Commands()
monitoring.register(COMMANDS)
