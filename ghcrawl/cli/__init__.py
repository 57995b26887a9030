"""The command line: turns a person's words into calls that exist already, and their answers back into words."""

from __future__ import annotations

import gc
from collections.abc import Sequence
from functools import cache, partial
from typing import Final

import typer
from typer.main import get_command

from ghcrawl.cli.app import app
from ghcrawl.cli.failures import misused, report
from ghcrawl.cli.stderr import complain

__all__ = ["main"]


_command = cache(partial(get_command, app))
"""Every command with its options: takes long enough to be made once where a process runs several."""


COLLECTED_AFTER: Final = 10_000
"""New objects before cycles among them are looked for. Python's 700 costs a crawl a thirtieth of its CPU: it makes
hardly any cycles, and every request makes hundreds of objects."""


def main(arguments: Sequence[str] | None = None) -> int:
    """Runs one command. Returns its exit status."""
    gc.set_threshold(COLLECTED_AFTER, *gc.get_threshold()[1:])
    try:
        words = None if arguments is None else list(arguments)
        status = _command().main(words, prog_name="ghcrawl", standalone_mode=False)
    except typer.TyperException as error:
        return misused(error)
    except typer.Abort:
        complain("cancelled; nothing was changed")
        return 1
    except Exception as error:  # noqa: BLE001  # the last place where it can become a sentence
        return report(error)
    return status if isinstance(status, int) else 0
