"""`ghcrawl crawl --dry-run`: what would be visited, and about how many calls that would take. Nothing is saved."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, Final

from msgspec import Struct
from rich.table import Table
from rich.text import Text

from ghcrawl.cli import output, roots
from ghcrawl.cli.plan import Plan
from ghcrawl.cli.roots import Root
from ghcrawl.cli.surveying import Surveyor
from ghcrawl.cli.words import counted, number
from ghcrawl.platforms.survey import Estimate
from ghcrawl.ports.clock import Clock
from ghcrawl.settings.sections import Settings
from ghcrawl.telemetry.tally import Tally
from ghcrawl.values.errors import ConfigError
from ghcrawl.wiring import Service, open_service

FEW: Final = 3
"""Calls for a single thing with what it leads to."""


class Foreseen(Struct, frozen=True, kw_only=True):
    """The estimate of a crawl. asked: calls that it took to find out; max_calls: the limit of calls.

    unasked: pages that were not looked at for lack of calls; each counts for one call. notes: what was assumed.
    """

    specs: Sequence[str]
    policy: str
    asked: int
    calls: Mapping[str, float] = {}
    documents: Mapping[str, float] = {}
    parts: int = 0
    sampled: int = 0
    part: str = "parts"
    max_calls: int | None = None
    unasked: int = 0
    notes: Sequence[str] = ()

    @property
    def total(self) -> int:
        """All calls."""
        return round(sum(self.calls.values()))

    @property
    def covered(self) -> float | None:
        """The part of all calls that may be made; None where as many may be as it takes."""
        return None if self.max_calls is None else min(1.0, self.max_calls / max(1, self.total))

    def figures(self) -> Mapping[str, Any]:
        """What `--json` prints."""
        return {
            "specs": list(self.specs),
            "policy": self.policy,
            "estimate": {
                "calls": self.total,
                "calls_by_type": _rounded(self.calls),
                "documents_by_type": _rounded(self.documents),
                "parts": self.parts,
                "parts_sampled": self.sampled,
                "repos": self.parts,  # the names of these two before there were other platforms, for one more release
                "repos_sampled": self.sampled,
                "unasked": self.unasked,
                "notes": [*self.notes],
            },
            "max_calls": self.max_calls,
            "covered": None if self.covered is None else round(self.covered, 4),
            "calls_made": self.asked,
        }


def _rounded(counts: Mapping[str, float]) -> dict[str, int]:
    return {name: round(count) for name, count in sorted(counts.items()) if round(count)}


async def foresee(plan: Plan, say: Callable[[str], None], *, clock: Clock | None = None) -> Foreseen:
    """The estimate for all specs of `plan`. Raises CrawlError for every reason that would stop the crawl.

    say: tells a person what is waited for.
    """
    if not plan.specs:
        raise ConfigError("--dry-run needs a SPEC: ghcrawl crawl --dry-run ORG")
    wanted = roots.read(plan.mounts, plan.specs, plan.policy)
    tally = Tally()
    opening = open_service(
        _forgetful(plan.settings),
        plan.credentials,
        tally,
        clock=clock,
        max_calls=plan.max_calls,
    )
    async with opening as service:
        surveyor = Surveyor(service, say=say)
        found = [await _root(service, surveyor, root, plan.policy) for root in wanted]
    calls, documents = Counter[str](), Counter[str]()
    for estimate in found:
        calls.update(estimate.calls)
        documents.update(estimate.documents)
    return Foreseen(
        specs=plan.specs,
        policy=plan.policy,
        asked=tally.calls,
        calls=calls,
        documents=documents,
        parts=sum(estimate.parts for estimate in found),
        part=" and ".join(dict.fromkeys(estimate.part for estimate in found if estimate.parts)),
        sampled=sum(estimate.sampled for estimate in found),
        max_calls=plan.max_calls,
        unasked=surveyor.unasked,
        notes=[*dict.fromkeys(note for estimate in found for note in estimate.notes)],
    )


def _forgetful(settings: Settings) -> Settings:
    """The same with nothing that is kept."""
    queue = settings.queue.model_copy(update={"provider": "memory"})
    store = settings.store.model_copy(update={"provider": "memory"})
    return settings.model_copy(update={"queue": queue, "store": store})


async def _root(service: Service, surveyor: Surveyor, root: Root, policy: str) -> Estimate:
    request = root.request
    platform = service.platforms[request.platform]
    batched = platform.batched(service.opened[request.platform].source)
    going = platform.survey(platform.scenarios, request, policy, batched)
    if going is None:
        return Estimate(calls={request.type: float(FEW)}, documents={request.type: 1.0})
    if surveyor.spent:
        surveyor.unasked += 1
        return Estimate(calls={request.type: 1.0}, documents={request.type: 1.0})
    questions = next(going)
    while True:
        replies = await asyncio.gather(*(surveyor.ask(request.platform, question) for question in questions))
        nothing = not surveyor.unasked and not any(reply.body is not None for reply in replies)
        if nothing and questions[0].url == tuple(root.asks)[-1]:
            raise ConfigError(f"{root.spec} was not found ({questions[0].url})")
        try:
            questions = going.send(replies)
        except StopIteration as done:
            estimate: Estimate = done.value
            return estimate


def show(foreseen: Foreseen) -> None:
    """The estimate for a person."""
    out = output.console()
    out.print()
    about = "At least" if foreseen.unasked else "About"
    headline = f"{about} {counted(foreseen.total, 'call')} for a first crawl of {', '.join(foreseen.specs)}"
    out.print(Text(f"{headline}; the estimate took {counted(foreseen.asked, 'call')}.", style="bold"))
    for sentence in _reservations(foreseen):
        out.print(sentence, highlight=False)
    out.print()
    grid = Table(box=None, padding=(0, 2, 0, 0), pad_edge=False)
    grid.add_column("type")
    grid.add_column("calls", justify="right")
    grid.add_column("entities", justify="right")
    calls, documents = _rounded(foreseen.calls), _rounded(foreseen.documents)
    for type in sorted({*calls, *documents}, key=lambda type: (-calls.get(type, 0), type)):
        grid.add_row(type, number(calls.get(type, 0)), number(documents.get(type, 0)) if type in documents else "")
    out.print(grid)
    if foreseen.sampled < foreseen.parts:
        out.print()
        out.print(f"Extrapolated from {foreseen.sampled} of {foreseen.parts} {foreseen.part}.")


def _reservations(foreseen: Foreseen) -> Iterable[str]:
    """What the headline does not say."""
    yield from foreseen.notes
    if foreseen.covered is not None:
        yield f"--max-calls {foreseen.max_calls} covers about {_percent(foreseen.covered)} of them."
    if foreseen.unasked:
        left = counted(foreseen.unasked, "page was", "pages were")
        yield f"{left} not read because of --max-calls; each counts as one call."


def _percent(share: float) -> str:
    return "less than 1 %" if 0 < share < 0.01 else f"{share:.0%}".replace("%", " %")
