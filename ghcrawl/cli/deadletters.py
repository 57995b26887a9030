"""`ghcrawl deadletters list | requeue | delete`, and which of them are meant."""

from __future__ import annotations

import shlex
from collections.abc import Iterable, Sequence
from datetime import datetime
from typing import Final

from ghcrawl.cli import output
from ghcrawl.cli.bulk_deadletters import rounds
from ghcrawl.cli.command_prefix import as_typed
from ghcrawl.cli.commands.deadletters import Which
from ghcrawl.cli.crawl_backend import CrawlBackend, Deadletters
from ghcrawl.cli.incident import show_incident, to_json
from ghcrawl.cli.kinds import meant, type_texts
from ghcrawl.cli.opening import backend as opened
from ghcrawl.cli.options import Place
from ghcrawl.cli.queues import queue_name
from ghcrawl.cli.stderr import complain, say, suggest
from ghcrawl.cli.words import age, ago, counted, number, path_of, tallied
from ghcrawl.ports.deadletters import DeadletterFilter
from ghcrawl.values.deadletters import Deadletter
from ghcrawl.values.errors import ConfigError, SpecError
from ghcrawl.values.times import iso
from ghcrawl.values.type_names import TypeName, TypeNames

PREFIX: Final = "urn:deadletter:"
WHOLE: Final = len(PREFIX) + 36
NOT_THERE: Final = 1
AT_ONCE: Final = 500


async def list_(place: Place, which: Which, *, limit: int, json: bool) -> int:
    """Returns the exit status. Raises ConfigError, SpecError, StoreError."""
    async with opened(place) as backend:
        found = await _filter(backend, which)
        counts = await backend.deadletters.count(found)
        deadletters = await backend.deadletters.list(found, limit=limit or max(1, counts.total))
        now = backend.now()
    if json:
        output.write_json(
            {
                "total": counts.total,
                "by_class": dict(counts.by_kind),
                "by_type": TypeNames(counts.by_type).shown(counts.by_type),
                "deadletters": [to_json(deadletter) for deadletter in deadletters],
            }
        )
        return 0
    if not counts.total:
        say("There are no deadletters." if not which.chooses else "No deadletters match.")
        return 0
    _show_all(deadletters, now)
    say(f"{counted(counts.total, 'deadletter')}: {tallied(counts.by_kind)}.")
    if len(deadletters) < counts.total:
        say(f"Showing the newest {number(len(deadletters))}; --limit 0 shows all.")
    suggest("show one in full", ("ghcrawl", "deadletters", "show", _id(deadletters[0]), *place.typed()))
    return 0


def _show_all(deadletters: Sequence[Deadletter], now: datetime) -> None:
    """A line each: for a person what fits, for a pipe everything."""
    named = list(zip(deadletters, type_texts([one.request.type_name for one in deadletters]), strict=True))
    if output.console().is_terminal:
        rows = [(_id(one), ago(one.last_at, now), one.kind, type, path_of(one.request.url)) for one, type in named]
        output.show_rows(("id", "dead-lettered", "class", "type", "path"), rows)
    else:
        titles = ("urn", "last_at", "class", "type", "url", "reason")
        output.show_rows(
            titles,
            [(one.urn, iso(one.last_at), one.kind, type, one.request.url, one.reason) for one, type in named],
        )


async def show(place: Place, name: str, *, json: bool) -> int:
    """Returns the exit status: 1 where there is no such deadletter. Raises ConfigError, SpecError, StoreError."""
    async with opened(place) as backend:
        try:
            deadletter = await backend.deadletters.get(await _only(backend, PREFIX + name.removeprefix(PREFIX)))
        except _NoneSuchError:
            deadletter = None
        now = backend.now()
    if deadletter is None:
        complain(f"deadletter {name} not found; run `ghcrawl deadletters list`")
        return NOT_THERE
    if json:
        output.write_json(to_json(deadletter))
    else:
        retry: list[tuple[str, ...]] = [("deadletters", "requeue", _id(deadletter))]
        if not backend.attended:
            retry.append(("crawl",))
        commands = [as_typed(shlex.join(("ghcrawl", *words, *place.typed()))) for words in retry]
        show_incident(deadletter, now, " && ".join(commands))
    return 0


async def requeue(place: Place, which: Which, *, to: str, dry_run: bool, yes: bool) -> int:
    """Returns the exit status. Raises ConfigError, SpecError, QueueError, StoreError."""
    target = queue_name(to) if to else None
    async with opened(place) as backend:
        found = await _chosen(backend, which)
        if not await _wanted(backend, found, "requeue", dry_run=dry_run, yes=yes or bool(which.names)):
            return 0
        answers = await rounds(
            lambda rest: backend.requeue(rest, target),
            found,
            of=lambda one: one.queued + one.bounced,
            done="requeued",
        )
    queued, bounced = sum(one.queued for one in answers), sum(one.bounced for one in answers)
    unreadable = sum(one.unreadable for one in answers)
    waited = f", {number(bounced)} of which were already queued" if bounced else ""
    say(f"{counted(queued + bounced, 'request')} requeued{waited}.")
    if unreadable:
        one = "deadletter is not a readable request and was kept"
        more = "deadletters are not readable requests and were kept"
        say(f"{counted(unreadable, one, more)}.")
    if not backend.attended:
        suggest("process the queued requests", ("ghcrawl", "crawl", *place.typed()))
    return 0


async def delete(place: Place, which: Which, *, dry_run: bool, yes: bool) -> int:
    """Returns the exit status. Raises ConfigError, SpecError, StoreError."""
    async with opened(place) as backend:
        found = await _chosen(backend, which)
        if not await _wanted(backend, found, "delete", dry_run=dry_run, yes=yes):
            return 0
        answers = await rounds(backend.forget, found, of=lambda one: one.deleted, done="deleted")
    say(f"{counted(sum(one.deleted for one in answers), 'deadletter')} deleted.")
    return 0


async def _wanted(backend: CrawlBackend, found: DeadletterFilter, verb: str, *, dry_run: bool, yes: bool) -> bool:
    """Whether it is really to be done. Says what it means where it is not."""
    counts = await backend.deadletters.count(found)
    if not counts.total:
        say("No deadletters match.")
        return False
    said = f"{verb} {counted(counts.total, 'deadletter')} ({tallied(counts.by_kind)})"
    if dry_run:
        say(f"This would {said}.")
        return False
    if not output.agreed(f"{said[0].upper()}{said[1:]}?", yes=yes):
        say("Nothing was changed.")
        return False
    return True


async def _chosen(backend: CrawlBackend, which: Which) -> DeadletterFilter:
    if not which.chooses:
        raise ConfigError("select deadletters by ID, --type, --class, --reason, --host, --older-than, or --all")
    return await _filter(backend, which)


async def _filter(backend: CrawlBackend, which: Which) -> DeadletterFilter:
    """Raises SpecError for what names no deadletter, and for a type that nothing is of."""

    async def counted() -> Iterable[TypeName]:
        return (await backend.deadletters.count(DeadletterFilter())).by_type

    return DeadletterFilter(
        urns=tuple(await _urns(backend, which.names)),
        types=await meant(which.types, which.platforms, backend.mounts.types, counted),
        platforms=which.platforms,
        kinds=which.kinds,
        reason=which.reason,
        host=which.host,
        before=backend.now() - age(which.older_than) if which.older_than else None,
    )


class _NoneSuchError(SpecError):
    """No deadletter's id starts like that."""


async def _urns(backend: CrawlBackend, names: Sequence[str]) -> Sequence[str]:
    """The URNs that start with these names; a whole URN as it is. Raises SpecError where none or several match."""
    return [await _only(backend, PREFIX + name.removeprefix(PREFIX)) for name in names]


async def _only(backend: CrawlBackend, name: str) -> str:
    if len(name) >= WHOLE:
        return name
    found, typed = await _beginning(backend.deadletters, name), name.removeprefix(PREFIX)
    if len(found) == 1:
        return found[0]
    if not found:
        raise _NoneSuchError(f"deadletter {typed} not found; run `ghcrawl deadletters list`")
    raise SpecError(f"{typed} matches {len(found)} IDs; type more digits")


async def _beginning(deadletters: Deadletters, prefix: str) -> Sequence[str]:
    """The URNs that start with `prefix`."""
    found: list[str] = []
    after = ""
    while True:
        page = await deadletters.list(DeadletterFilter(), limit=AT_ONCE, after=after)
        found += [deadletter.urn for deadletter in page if deadletter.urn.startswith(prefix)]
        if len(page) < AT_ONCE:
            return found
        after = page[-1].urn


def _id(deadletter: Deadletter) -> str:
    return deadletter.urn.removeprefix(PREFIX)[:8]
