"""What goes wrong, as one line and an exit status. A person never sees a stack trace unless they ask for one."""

from __future__ import annotations

import asyncio
import os
import sys
import traceback
from collections.abc import Coroutine
from typing import Any, Final

import typer

from ghcrawl.cli.stderr import complain, redacted
from ghcrawl.errors import CrawlError

FAILED: Final = 2
BUG: Final = 70
DEBUG: Final = "GHCRAWL_DEBUG"


def perform(work: Coroutine[Any, Any, int | None]) -> int:
    """Runs `work`. Returns the exit status: what `work` returns, None being 0."""
    try:
        status = asyncio.run(work) or 0
        sys.stdout.flush()
    except BrokenPipeError:
        # Whoever read standard output has had enough, and Python's flush at exit must not complain about it.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 0
    return status


def misused(error: typer.TyperException) -> int:
    """Says what is wrong with the words that were typed. Returns the exit status."""
    context = getattr(error, "ctx", None)
    path = context.command_path if context is not None else "ghcrawl"
    message = error.format_message().replace("\n\t", " ").strip().rstrip(".")
    if not message:  # no command of a group was named, and its help was shown
        return FAILED
    complain(f"{message[:1].lower()}{message[1:]}; see {path} --help")
    return FAILED


def report(error: Exception) -> int:
    """Says what went wrong. Returns the exit status."""
    if os.environ.get(DEBUG):
        sys.stderr.write(redacted("".join(traceback.format_exception(error))))
    if isinstance(error, CrawlError):
        complain(str(error))
        return FAILED
    complain(f"this is a bug in ghcrawl: {type(error).__name__}: {error}")
    if not os.environ.get(DEBUG):
        complain(f"set {DEBUG}=1 to see where, and please report it")
    return BUG
