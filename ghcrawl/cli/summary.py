"""What a crawl came to, for a person: a table, a few lines, and what to type next."""

from __future__ import annotations

import shlex
from collections.abc import Iterable, Mapping
from typing import Final

from rich.console import Console
from rich.table import Table
from rich.text import Text

from ghcrawl.cli import output
from ghcrawl.cli.command_prefix import as_typed
from ghcrawl.cli.kinds import split
from ghcrawl.cli.result import Result
from ghcrawl.cli.snapshot import Quota
from ghcrawl.cli.words import counted, duration, number, tallied
from ghcrawl.values.outcome import DENIED
from ghcrawl.values.type_names import TypeNames

MAX_QUOTAS: Final = 5


def headline(result: Result) -> str:
    """How it ended, in one sentence."""
    saved = f"{counted(result.tally.documents, 'document')} saved in {duration(result.duration_s)}"
    if result.finished:
        return f"Finished: {saved}."
    by = {"SIGINT": " by Ctrl-C", "SIGTERM": " by SIGTERM"}.get(result.interrupted, "") if not result.trouble else ""
    if not by and not result.trouble and result.max_calls is not None:
        by = f" by --max-calls after {counted(result.max_calls, 'call')}"
    return f"Stopped{by}: {saved}; {counted(result.waiting, 'request waits', 'requests wait')} in {result.db}."


def table(result: Result) -> Table:
    """Documents by type: the things first, then all that only helps to find them."""
    tally = result.tally
    columns = [split(counts, result.entity_types) for counts in (tally.saved, tally.unchanged, result.stored)]
    grid = Table(box=None, padding=(0, 2, 0, 0), pad_edge=False, show_footer=False)
    grid.add_column("type")
    for title in ("saved", "unchanged", "in the file"):
        grid.add_column(title, justify="right")
    names = TypeNames(result.entity_types)
    for type in map(names.text, result.entity_types):
        if any(type in things for things, _ in columns):
            grid.add_row(type, *(number(things.get(type, 0)) for things, _ in columns))
    grid.add_row("lists and cursors", *(number(rest) for _, rest in columns), style="dim")
    totals = [sum(things.values()) + rest for things, rest in columns]
    grid.add_row("total", *map(number, totals), style="bold")
    return grid


def facts(result: Result) -> Iterable[tuple[str, str]]:
    """The other figures, each with its name."""
    tally = result.tally
    left = result.deadletters
    yield "calls", _calls(result)
    counts = {
        "throttled": tallied(tally.throttles),
        "skipped": tallied(_explained(tally.skipped)),
        "retried": tallied(tally.retried),
        "dead-lettered": tallied(tally.buried),
        "deadletters": f"{number(left.total)} in the file: {tallied(left.by_kind)}" if left.total else "",
    }
    yield from ((name, text) for name, text in counts.items() if text)
    yield from (("quota", _quota(quota)) for quota in result.quotas[:MAX_QUOTAS] if quota.calls or quota.trouble)


def _quota(quota: Quota) -> str:
    calls = counted(quota.calls, "call") if quota.calls else ""
    left = f"{number(quota.remaining)} of {number(quota.limit)} left" if quota.remaining is not None else ""
    return f"{quota.label}: {', '.join(filter(None, (calls, left, quota.trouble)))}"


_REASONS: Final[Mapping[str, str]] = {
    "visited": "already requested",
    "not_known": "nothing known to follow",
    "missing": "not found",
    "excluded": "excluded by settings",
    "noindex": "the author asks not to be indexed",
    "not_stored": "not stored",
    "not_ready": "not ready yet",
    "narrowed": "lists read for recent entries only",
    "partial": "pages without entries that the token may not read",
    "moved": "moved elsewhere",
    "still_refused": "refused recently, not retried yet",
    "too_large": "too large for the API to answer",
    "list_capped": "lists truncated by the API",
    **{skipped: f"denied: {why.replace('_', ' ')}" for why, skipped in DENIED.items()},
}


def _explained(skipped: Mapping[str, int]) -> Mapping[str, int]:
    """The same with reasons in words."""
    return {_in_words(reason): count for reason, count in skipped.items()}


def _in_words(reason: str) -> str:
    return _REASONS.get(reason, reason.replace("_", " "))


def _calls(result: Result) -> str:
    tally = result.tally
    text = f"{number(tally.calls)}, of which {number(tally.free)} free (304) and {number(tally.charged)} charged"
    if result.calls_per_entity is not None:
        text += f"; {result.calls_per_entity:.2f} per saved entity"
    return text


def advice(result: Result) -> Iterable[tuple[str, str]]:
    """Commands to type next, each with what it is for."""
    place = result.suggested

    def command(*words: str) -> str:
        return shlex.join(("ghcrawl", *words, *place))

    if not result.finished:
        yield result.command, "resume"
    if result.deadletters.total:
        yield command("deadletters", "list"), "list deadletters and their reasons"
    if result.stored:
        yield command("documents", "list", "--limit", "20"), "list documents"
        yield command("documents", "export", "--output", "documents.jsonl"), "export all documents, one per line"
    if result.finished and result.stored and result.specs and not result.refused:
        costs = (
            "is free from the second refresh on" if result.free_again else "is not saved again, but each call counts"
        )
        yield result.command, f"refresh; unchanged data {costs}"


def show(result: Result, *, steps: Iterable[tuple[str, str]] | None = None) -> None:
    """The whole summary. steps: what to type next, where that is not what it usually is."""
    out = output.console()
    out.print()
    out.print(Text(headline(result), style="bold"))
    if result.tally.documents or result.stored:
        out.print()
        out.print(table(result))
    out.print()
    output.show_facts(facts(result))
    if next_steps := list(advice(result) if steps is None else steps):
        out.print()
        show_steps(out, next_steps)


def show_steps(console: Console, steps: Iterable[tuple[str, str]]) -> None:
    """Commands that can be copied as they stand, each below what it does."""
    for command, purpose in steps:
        console.print(Text(f"# {purpose}", style="dim"))
        console.print(Text(as_typed(command), style="bold"), soft_wrap=True)


def complaints(result: Result) -> Iterable[str]:
    """What went wrong, a line each, for standard error."""
    for refused in result.refused:
        detail = f", {refused.detail}" if refused.detail else ""
        yield f"{refused.spec} cannot be crawled: {_in_words(refused.reason)}{detail} ({refused.url})"
    if result.restarts:
        yield f"{counted(result.restarts, 'worker')} crashed and restarted: a bug in ghcrawl; -v shows the traceback"
    if result.trouble:
        yield f"{result.trouble}. Nothing is lost: run the same command again to resume"
    elif result.interrupted and not result.drained:
        yield "some requests were interrupted; they are queued again"
