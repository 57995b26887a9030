"""Free ports, and whether somebody who speaks AMQP is behind one."""

from __future__ import annotations

import socket
import time
from collections.abc import Callable
from contextlib import ExitStack

HEADER = b"AMQP\x00\x00\x09\x01"


def free_ports(count: int) -> list[int]:
    """As many ports that nobody listens on, all different."""
    with ExitStack() as stack:
        sockets = [stack.enter_context(socket.socket()) for _ in range(count)]
        for each in sockets:
            each.bind(("127.0.0.1", 0))
        return [each.getsockname()[1] for each in sockets]


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
