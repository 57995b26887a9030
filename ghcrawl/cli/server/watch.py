"""`ghcrawl status --watch`: facts that are shown again every moment, until Ctrl-C."""

from __future__ import annotations

import sys
from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from datetime import datetime
from typing import Any, Final, TypeAlias

from rich.cells import cell_len
from rich.console import Console
from rich.live import Live
from rich.table import Table
from rich.text import Text

from ghcrawl.cli import output
from ghcrawl.cli.kinds import type_texts
from ghcrawl.cli.server import running
from ghcrawl.cli.signals import Signals
from ghcrawl.cli.words import duration, path_of, printable
from ghcrawl.values.errors import CrawlError
from ghcrawl.values.times import moment
from ghcrawl.values.type_names import TypeName

EVERY_S: Final = 1.0
MAX_DOING: Final = 10

Facts: TypeAlias = Sequence[tuple[str, str]]
Look: TypeAlias = Callable[[], Awaitable[Facts]]


async def watch(look: Look) -> int:
    """Returns the exit status once stopped: 0. A failed look is repeated after a moment."""
    out = output.console()
    with Signals() as signals:
        if not out.is_terminal:
            while not signals.received:
                _print(await _seen(look))
                await signals.wait(EVERY_S)
            return 0
        with Live(console=out, auto_refresh=False, transient=False) as live:
            while not signals.received:
                live.update(table(await _seen(look), out), refresh=True)
                await signals.wait(EVERY_S)
    return 0


async def _seen(look: Look) -> Facts:
    try:
        return await look()
    except CrawlError as error:
        return [("error", f"{error}; retrying")]


def _print(facts: Facts) -> None:
    """For a pipe: a block of lines, and an empty one behind it."""
    output.show_facts(facts)
    output.write("")
    sys.stdout.flush()


def table(facts: Facts, out: Console) -> Table:
    """As many lines as the terminal has. Names are whole; values are cut to what room is left."""
    shown = facts[: max(1, out.height - 1)]
    names = max((cell_len(name) for name, _ in shown), default=0)
    grid = Table.grid(padding=(0, 2))
    grid.add_column(style="dim", no_wrap=True, width=names)  # or rich would cut it as well as what is too long
    grid.add_column(overflow="ellipsis", no_wrap=True, width=max(1, out.width - names - 2))
    for name, value in shown:
        grid.add_row(name, Text(printable(value)))
    return grid


async def service(url: str) -> Facts:
    """Everything about the service at `url`, and what its busy loops do. Raises ConfigError, StoreError."""
    found = await running.look(url)
    return [*running.facts(found, url), *_doing(found["loops"]["doing"], moment(found["at"]))]


def _doing(loops: Iterable[Mapping[str, Any]], now: datetime) -> Iterable[tuple[str, str]]:
    busy = sorted((loop for loop in loops if loop["url"]), key=lambda loop: str(loop["since"]))
    types = type_texts([TypeName(loop.get("platform", ""), loop["type"]) for loop in busy])
    for place, (loop, type) in enumerate(zip(busy[:MAX_DOING], types, strict=False)):
        lasts = duration(max(0.0, (now - moment(loop["since"])).total_seconds()))
        yield "" if place else "in flight", f"{type} {path_of(loop['url'])}, for {lasts}"
    if len(busy) > MAX_DOING:
        yield "", f"and {len(busy) - MAX_DOING} more"
