"""What goes wrong, as one line and an exit status. A person never sees a stack trace unless they ask for one."""

from __future__ import annotations

import asyncio
import errno
import os
import select
import signal
import sys
import threading
import traceback
from collections.abc import Coroutine
from typing import Any, Final, TextIO

import typer

from ghcrawl.cli.stderr import complain, redacted
from ghcrawl.values.errors import ConfigError, CrawlError

FAILED: Final = 2
BUG: Final = 70
DEBUG: Final = "GHCRAWL_DEBUG"
_FULL: Final = frozenset({errno.ENOSPC, errno.EDQUOT, errno.EFBIG, errno.EIO})
"""An OSError of a write other than to standard output is unexpected: adapters translate their own."""


def perform(work: Coroutine[Any, Any, int | None]) -> int:
    """Runs `work`. Returns the exit status: what `work` returns, None being 0.

    SIGTERM cancels it, as Ctrl-C does, so that it leaves nothing half-written.
    """
    try:
        status = asyncio.run(_cancelled_by_sigterm(work)) or 0
        sys.stdout.flush()
    except BrokenPipeError:
        if not _has_no_reader(sys.stdout):  # some connection broke, and that is no way to end well
            raise
        _let_go_of_output()
        return 0
    except OSError as error:
        if error.errno not in _FULL:
            raise
        _let_go_of_output()
        raise ConfigError(f"cannot write to standard output: {error.strerror}") from error
    return status


async def _cancelled_by_sigterm(work: Coroutine[Any, Any, int | None]) -> int | None:
    """Cancelled where it waits next, as asyncio does for Ctrl-C; the loop would do it after what is ready already."""
    if threading.current_thread() is not threading.main_thread():
        return await work
    loop, task, came = asyncio.get_running_loop(), asyncio.current_task(), asyncio.Event()
    assert task is not None, "it runs in one"

    def end(*_: object) -> None:
        came.set()
        task.cancel()
        loop.call_soon_threadsafe(lambda: None)  # wakes it

    before = signal.signal(signal.SIGTERM, end)
    try:
        return await work
    except asyncio.CancelledError:
        if not came.is_set():
            raise
        return 128 + signal.SIGTERM
    finally:
        signal.signal(signal.SIGTERM, before or signal.SIG_DFL)


def _has_no_reader(stream: TextIO) -> bool:
    """Whether the reader of the stream closed it."""
    try:
        poll = select.poll()
        poll.register(stream.fileno(), 0)
    except (OSError, ValueError):
        return False
    return any(event & (select.POLLERR | select.POLLHUP) for _, event in poll.poll(0))


def _let_go_of_output() -> None:
    """Python's own flush at exit has nothing to complain about any more."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def misused(error: typer.TyperException) -> int:
    """Says what is wrong with the words that were typed. Returns the exit status."""
    context = getattr(error, "ctx", None)
    path = context.command_path if context is not None else "ghcrawl"
    message = error.format_message().replace("\n\t", " ").strip().rstrip(".")
    if not message:  # no command of a group was named, and its help was shown
        return FAILED
    see = f"see {path} --help"
    complain(f"{message[:1].lower()}{message[1:]}{f' ({see})' if message.endswith(('?', ')')) else f'; {see}'}")
    return FAILED


def report(error: Exception) -> int:
    """Says what went wrong. Returns the exit status."""
    if os.environ.get(DEBUG):
        sys.stderr.write(redacted("".join(traceback.format_exception(error))))
    if isinstance(error, CrawlError):
        complain(str(error))
        return FAILED
    if isinstance(error, ConnectionError):
        complain(f"connection lost: {error.strerror or type(error).__name__}; run the command again")
        return FAILED
    complain(f"this is a bug in ghcrawl: {type(error).__name__}: {error}")
    if not os.environ.get(DEBUG):
        complain(f"set {DEBUG}=1 for a traceback, and please report it")
    return BUG
