"""Free ports, and whether somebody who speaks AMQP is behind one."""

from __future__ import annotations

import socket
import time
from collections.abc import Callable
from contextlib import ExitStack, suppress
from random import choice
from typing import Final

SERVERS_PORTS: Final = range(15_000, 32_000)
HEADER = b"AMQP\x00\x00\x09\x01"


def free_ports(count: int) -> list[int]:
    """As many ports that nobody listens on, all different.

    Below those that systems give to clients: a test's own connections would take one before its server listens there.
    """
    with ExitStack() as stack:
        found: list[int] = []
        while len(found) < count:
            candidate = stack.enter_context(socket.socket())
            with suppress(OSError):
                candidate.bind(("127.0.0.1", choice(SERVERS_PORTS)))
                found.append(candidate.getsockname()[1])
        return found


def speaks_amqp(port: int) -> bool:
    """Whether a broker answers a handshake there."""
    try:
        with socket.create_connection(("127.0.0.1", port), timeout=2) as connection:
            connection.settimeout(5)
            connection.sendall(HEADER)
            return connection.recv(1) == b"\x01"  # a method frame: Connection.Start
    except OSError:
        return False


def until(ready: Callable[[], bool], *, failed: Callable[[], str | None], patience_s: float) -> None:
    """Return once `ready`. Raises RuntimeError with what `failed` says, or after `patience_s`."""
    deadline = time.monotonic() + patience_s
    while not ready():
        reason = failed()
        if reason is None and time.monotonic() > deadline:
            reason = f"not ready after {patience_s:g} s"
        if reason is not None:
            raise RuntimeError(reason)
        time.sleep(0.1)
