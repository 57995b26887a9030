"""One deadletter, told like an incident: what was wanted, what led there, what went wrong and when, what to do."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from typing import Any

from rich.console import Console
from rich.text import Text

from ghcrawl.admin.shapes import FailureShape
from ghcrawl.cli import output
from ghcrawl.cli.words import ago, counted, duration, printable, stamp
from ghcrawl.values.deadletters import Deadletter
from ghcrawl.values.requests import Ancestor
from ghcrawl.values.times import iso

MAX_RAW = 2_000


def show_incident(letter: Deadletter, now: datetime, retry: str) -> None:
    """The whole story. retry: the command that tries it again."""
    out, request = output.console(), letter.request
    out.print(Text(printable(f"{letter.kind}: {letter.reason}"), style="bold red"))
    out.print()
    facts = [
        ("deadletter", letter.urn),
        ("request", f"{request.type} {request.url}"),
        ("platform", request.platform),
        ("policy", request.policy),
        ("queue", letter.queue),
        ("parent", request.context.qualifier),
        ("first failed", f"{stamp(letter.first_at)}, {ago(letter.first_at, now)}"),
        ("dead-lettered", f"{stamp(letter.last_at)}, {ago(letter.last_at, now)}, after {_attempts(letter)}"),
        ("payload", f"from a {request.payload.origin}" if request.payload else ""),
    ]
    output.show_facts([(name, value) for name, value in facts if value])
    _ancestors(out, letter)
    _failures(out, letter)
    _details(out, letter)
    out.print(Text("\nTo retry", style="bold"))
    out.print(Text(retry), soft_wrap=True)


def _attempts(letter: Deadletter) -> str:
    return counted(max(letter.request.attempt, len(letter.failures)), "attempt")


def _ancestors(out: Console, letter: Deadletter) -> None:
    if letter.request.is_root:
        return
    out.print(Text("\nHow it was discovered", style="bold"))
    itself = Ancestor(letter.request.type, letter.request.url)
    for depth, (type, url) in enumerate((*letter.request.context.history, itself)):
        out.print(Text(printable(f"{'  ' * depth}{type} {url}")), soft_wrap=True)


def _failures(out: Console, letter: Deadletter) -> None:
    out.print(Text("\nAttempts", style="bold"))
    before: datetime | None = None
    for place, failure in enumerate(letter.failures, start=1):
        later = f", {duration((failure.at - before).total_seconds())} later" if before is not None else ""
        worker = f", worker {failure.worker}" if failure.worker else ""
        out.print(Text(f"{place}. {stamp(failure.at)}{later}{worker}: {failure.cause}"), soft_wrap=True)
        out.print(Text(printable(f"   {failure.message}"), style="dim"), soft_wrap=True)
        before = failure.at


def _details(out: Console, letter: Deadletter) -> None:
    if letter.traceback:
        out.print(Text("\nTraceback", style="bold"))
        lines = [line for line in letter.traceback.splitlines() if line.strip(" ^~")]
        out.print(Text(printable("\n".join(lines)), style="dim"), soft_wrap=True)
    if letter.raw is not None:
        out.print(Text("\nUnreadable message", style="bold"))
        out.print(Text(printable(letter.raw[:MAX_RAW].decode("utf-8", "backslashreplace"))), soft_wrap=True)


def to_json(letter: Deadletter) -> Mapping[str, Any]:
    """The whole story for a program."""
    request = letter.request
    return {
        "urn": letter.urn,
        "class": letter.kind,
        "reason": letter.reason,
        "type": request.type,
        "url": request.url,
        "policy": request.policy,
        "platform": request.platform,
        "queue": letter.queue,
        "qualifier": request.context.qualifier,
        "history": [str(ancestor) for ancestor in request.context.history],
        "attempts": request.attempt,
        "first_at": iso(letter.first_at),
        "last_at": iso(letter.last_at),
        "failures": [FailureShape.of(failure).model_dump() for failure in letter.failures],
        "traceback": letter.traceback,
        "raw": letter.raw.decode("utf-8", "backslashreplace") if letter.raw is not None else None,
    }
