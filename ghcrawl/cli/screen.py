"""The screen of a running crawl: one snapshot, laid out for any width."""

from __future__ import annotations

from collections.abc import Iterable

from rich.console import Group, RenderableType
from rich.progress_bar import ProgressBar
from rich.table import Table
from rich.text import Text

from ghcrawl.cli.snapshot import Quota, Snapshot, depth_line
from ghcrawl.cli.words import counted, duration, number, rate, tallied, time_of_day

MAX_QUOTAS = 6
NARROW = 60


def screen(snapshot: Snapshot, width: int) -> RenderableType:
    """`snapshot` for a terminal of `width` columns."""
    table = Table.grid(padding=(0, 2))
    table.add_column(style="dim", no_wrap=True)
    table.add_column(overflow="fold")
    for label, value in _rows(snapshot, width):
        table.add_row(label, value)
    hint = Text("Ctrl-C stops; run the same command again to resume.", style="dim")
    notes = [Text(note, style="yellow") for note in snapshot.notes.values()]
    return Group(_head(snapshot), *([_bar(snapshot, width)] if width >= NARROW else []), table, *(notes or [hint]))


def _head(snapshot: Snapshot) -> RenderableType:
    table = Table.grid(expand=True)
    table.add_column(overflow="fold")
    table.add_column(justify="right", no_wrap=True)
    table.add_row(Text(snapshot.title, style="bold"), Text(duration(round(snapshot.elapsed_s)), style="dim"))
    return table


def _bar(snapshot: Snapshot, width: int) -> RenderableType:
    """How much of what is known is done. Finding more moves it back."""
    known = max(1, snapshot.settled + snapshot.waiting)
    done = snapshot.settled / known
    said = f"{int(done * 100):3}% of {counted(known, 'request')} known"
    table = Table.grid(padding=(0, 2))
    bar = ProgressBar(total=known, completed=snapshot.settled, width=max(10, width - len(said) - 3))
    table.add_row(bar, Text(said, style="dim"))
    return table


def _rows(snapshot: Snapshot, width: int) -> Iterable[tuple[str, Text]]:
    yield "documents", _documents(snapshot)
    yield "requests", _requests(snapshot)
    yield "waiting", _waiting(snapshot, width)
    yield "calls", _calls(snapshot)
    shown = snapshot.quotas[:MAX_QUOTAS]
    for place, quota in enumerate(shown):
        yield "quota" if place == 0 else "", _quota(quota, snapshot)
    if more := len(snapshot.quotas) - len(shown):
        yield "", Text(f"and {more} more", style="dim")
    yield "errors", _trouble(snapshot)
    yield "remaining", Text(snapshot.left or "not known yet")


def _documents(snapshot: Snapshot) -> Text:
    text = Text()
    text.append(number(snapshot.saved), style="bold green")
    text.append(f" saved, {rate(snapshot.saved_per_s)}, {number(snapshot.unchanged)} unchanged")
    return text


def _requests(snapshot: Snapshot) -> Text:
    later = f", {number(snapshot.delayed)} delayed" if snapshot.delayed else ""
    in_hand = f"{number(snapshot.in_hand)} in flight"
    return Text(f"{number(snapshot.settled)} done, {rate(snapshot.settled_per_s)}, {in_hand}{later}")


def _waiting(snapshot: Snapshot, width: int) -> Text:
    return Text(depth_line(snapshot.depths) if width >= NARROW else number(snapshot.waiting - snapshot.in_hand))


def _calls(snapshot: Snapshot) -> Text:
    text = Text(f"{number(snapshot.calls)}, {number(snapshot.free)} of them free (304)")
    if snapshot.saved:
        text.append(f", {snapshot.charged / snapshot.saved:.2f} charged per document")
    return text


def _quota(quota: Quota, snapshot: Snapshot) -> Text:
    text = Text(f"{quota.label}: ")
    if quota.calls:
        text.append(f"{counted(quota.calls, 'call')}, ")
    if quota.remaining is not None:
        style = "red" if quota.remaining < quota.limit * 0.1 else ""
        text.append(f"{number(quota.remaining)} of {number(quota.limit)} left", style=style)
        if quota.reset_at is not None:
            text.append(f", resets at {time_of_day(quota.reset_at, snapshot.now)}")
    elif not quota.trouble:
        text.append("rate limit not known yet", style="dim")
    if quota.trouble:
        until = f" until {time_of_day(quota.until, snapshot.now)}" if quota.until else ""
        text.append(f"{', ' if quota.remaining is not None else ''}{quota.trouble}{until}", style="yellow")
    return text


def _trouble(snapshot: Snapshot) -> Text:
    parts = []
    if snapshot.retried:
        parts.append(f"{counted(sum(snapshot.retried.values()), 'retry', 'retries')} ({tallied(snapshot.retried)})")
    if snapshot.throttles:
        parts.append(f"{counted(sum(snapshot.throttles.values()), 'throttle')} ({tallied(snapshot.throttles)})")
    if snapshot.buried:
        parts.append(f"{counted(sum(snapshot.buried.values()), 'deadletter')} ({tallied(snapshot.buried)})")
    if snapshot.restarts:
        parts.append(f"{counted(snapshot.restarts, 'worker')} crashed and restarted (-v shows why)")
    return Text(" · ".join(parts) or "none", style="red" if snapshot.buried else "")
