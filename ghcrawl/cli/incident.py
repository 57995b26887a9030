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


def show_incident(deadletter: Deadletter, now: datetime, retry: str) -> None:
    """The whole story. retry: the command that tries it again."""
    out, request = output.console(), deadletter.request
    out.print(Text(printable(f"{deadletter.kind}: {deadletter.reason}"), style="bold red"))
    out.print()
    facts = [
        ("deadletter", deadletter.urn),
        ("request", f"{request.type} {request.url}"),
        ("platform", request.platform),
        ("policy", request.policy),
        ("queue", deadletter.queue),
        ("parent", request.context.qualifier),
        ("first failed", f"{stamp(deadletter.first_at)}, {ago(deadletter.first_at, now)}"),
        (
            "dead-lettered",
            f"{stamp(deadletter.last_at)}, {ago(deadletter.last_at, now)}, after {_attempts(deadletter)}",
        ),
        ("payload", f"from a {request.payload.origin}" if request.payload else ""),
    ]
    output.show_facts([(name, value) for name, value in facts if value])
    _ancestors(out, deadletter)
    _failures(out, deadletter)
    _details(out, deadletter)
    out.print(Text("\nTo retry", style="bold"))
    out.print(Text(retry), soft_wrap=True)


def _attempts(deadletter: Deadletter) -> str:
    return counted(max(deadletter.request.attempt, len(deadletter.failures)), "attempt")


def _ancestors(out: Console, deadletter: Deadletter) -> None:
    if deadletter.request.is_root:
        return
    out.print(Text("\nHow it was discovered", style="bold"))
    itself = Ancestor(deadletter.request.type, deadletter.request.url)
    for depth, (type, url) in enumerate((*deadletter.request.context.history, itself)):
        out.print(Text(printable(f"{'  ' * depth}{type} {url}")), soft_wrap=True)


def _failures(out: Console, deadletter: Deadletter) -> None:
    out.print(Text("\nAttempts", style="bold"))
    before: datetime | None = None
    for place, failure in enumerate(deadletter.failures, start=1):
        later = f", {duration((failure.at - before).total_seconds())} later" if before is not None else ""
        worker = f", worker {failure.worker}" if failure.worker else ""
        out.print(Text(f"{place}. {stamp(failure.at)}{later}{worker}: {failure.cause}"), soft_wrap=True)
        out.print(Text(printable(f"   {failure.message}"), style="dim"), soft_wrap=True)
        before = failure.at


def _details(out: Console, deadletter: Deadletter) -> None:
    if deadletter.traceback:
        out.print(Text("\nTraceback", style="bold"))
        lines = [line for line in deadletter.traceback.splitlines() if line.strip(" ^~")]
        out.print(Text(printable("\n".join(lines)), style="dim"), soft_wrap=True)
    if deadletter.raw is not None:
        out.print(Text("\nUnreadable message", style="bold"))
        out.print(Text(printable(deadletter.raw[:MAX_RAW].decode("utf-8", "backslashreplace"))), soft_wrap=True)


def to_json(deadletter: Deadletter) -> Mapping[str, Any]:
    """The whole story for a program."""
    request = deadletter.request
    return {
        "urn": deadletter.urn,
        "class": deadletter.kind,
        "reason": deadletter.reason,
        "type": request.type,
        "url": request.url,
        "policy": request.policy,
        "platform": request.platform,
        "queue": deadletter.queue,
        "qualifier": request.context.qualifier,
        "history": [str(ancestor) for ancestor in request.context.history],
        "attempts": request.attempt,
        "first_at": iso(deadletter.first_at),
        "last_at": iso(deadletter.last_at),
        "failures": [FailureShape.of(failure).model_dump() for failure in deadletter.failures],
        "traceback": deadletter.traceback,
        "raw": deadletter.raw.decode("utf-8", "backslashreplace") if deadletter.raw is not None else None,
    }
