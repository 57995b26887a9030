"""`ghcrawl watch` and `unwatch`: what is asked again and again, and when each is due."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from ghcrawl.cli.kinds import type_texts
from ghcrawl.cli.opening import backend
from ghcrawl.cli.options import Place
from ghcrawl.cli.output import show_facts, show_rows, write_json
from ghcrawl.cli.stderr import say
from ghcrawl.cli.words import number, stamp
from ghcrawl.schedule.watching import MOST, Watched
from ghcrawl.values.type_names import TypeName

BARS: Final = "▁▂▃▄▅▆▇█"


async def watch(place: Place, specs: Sequence[str], *, weight: float, every_d: float) -> int:
    """Add what `specs` name. Returns the exit status. Raises ConfigError, SpecError, StoreError."""
    async with backend(place, makes=True) as opened:
        done = await opened.watching.add(specs, weight=weight, every_d=every_d)
    changed = f", {number(done.changed)} changed" if done.changed else ""
    say(f"{number(done.added)} added, {number(done.known + done.changed)} watched already{changed}.")
    return 0


async def unwatch(place: Place, specs: Sequence[str]) -> int:
    """Remove what `specs` name; 1 where one of them was not watched. Raises ConfigError, SpecError, StoreError."""
    async with backend(place) as opened:
        gone = await opened.watching.remove(specs)
    say(f"{number(gone)} removed.")
    return 0 if gone == len(set(specs)) else 1


async def listed(place: Place, *, json: bool, limit: int) -> int:
    """Print the sources, those due first. Raises ConfigError, StoreError."""
    async with backend(place) as opened:
        rows = await opened.watching.list(limit=min(limit or MOST, MOST))
    if json:
        write_json([each.model_dump(mode="json") for each in rows])
    elif rows:
        types = type_texts([TypeName(each.platform, each.type) for each in rows])
        titles = ("due", "items/day", "calls", "items", "source")
        show_rows(titles, [_row(each, type) for each, type in zip(rows, types, strict=True)], numbers=titles[1:4])
    else:
        say("Nothing is watched; name what to watch: ghcrawl watch SPEC")
    return 0


def _row(source: Watched, type: str) -> Sequence[str]:
    due = "now" if source.due is None else stamp(source.due)
    rate = "" if source.read is None else f"{source.rate:.2f}"
    return due, rate, number(source.calls), number(source.items), f"{type} {source.url}"


async def show(place: Place, spec: str, *, json: bool) -> int:
    """Print one source with a picture of its last 30 days; 1: it is not watched.

    Raises ConfigError, SpecError, StoreError.
    """
    async with backend(place) as opened:
        source = await opened.watching.show(spec)
    if source is None:
        say(f"{spec} is not watched.")
        return 1
    shown = source.model_dump(mode="json")
    if json:
        write_json(shown)
        return 0
    drawn = {**shown, "days": picture(source.days), "hours": picture(source.hours)}
    show_facts((name, "–" if value is None else str(value)) for name, value in drawn.items())
    return 0


def picture(counts: Sequence[int]) -> str:
    """A bar for each count; a dot for none."""
    most = max(counts, default=0)
    return "".join(BARS[(count * (len(BARS) - 1) + most // 2) // most] if count else "·" for count in counts)
