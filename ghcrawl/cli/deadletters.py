"""`ghcrawl deadletters list | requeue | delete`, and which of them are meant."""

from __future__ import annotations

import shlex
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Final

from ghcrawl.cli import output
from ghcrawl.cli.desk import Desk
from ghcrawl.cli.incident import show_incident, to_json
from ghcrawl.cli.kinds import demand_known
from ghcrawl.cli.opening import desk as opened
from ghcrawl.cli.options import Place
from ghcrawl.cli.program import as_typed
from ghcrawl.cli.queues import queue_name
from ghcrawl.cli.rounds import rounds
from ghcrawl.cli.stderr import complain, say, suggest
from ghcrawl.cli.words import age, ago, counted, number, path_of, tallied
from ghcrawl.errors import ConfigError, SpecError
from ghcrawl.model import Deadletter, iso
from ghcrawl.ports import DeadletterFilter

PREFIX: Final = "urn:deadletter:"
WHOLE: Final = len(PREFIX) + 36
NOT_THERE: Final = 1


@dataclass(frozen=True, slots=True, kw_only=True)
class Which:
    """Which deadletters are meant, as typed. names: whole URNs, or the first digits of their ids."""

    names: tuple[str, ...] = ()
    types: tuple[str, ...] = ()
    kinds: tuple[str, ...] = ()
    reason: str = ""
    host: str = ""
    older_than: str = ""
    all: bool = False

    @property
    def chooses(self) -> bool:
        """Whether anything was said about which."""
        return bool(self.names or self.types or self.kinds or self.reason or self.host or self.older_than or self.all)


async def list_(place: Place, which: Which, *, limit: int, json: bool) -> int:
    """Returns the exit status. Raises ConfigError, SpecError, StoreError."""
    async with opened(place) as desk:
        found = await _filter(desk, which)
        counts = await desk.letters.count(found)
        letters = await desk.letters.list(found, limit=limit or max(1, counts.total))
        now = desk.now()
    if json:
        output.write_json(
            {
                "total": counts.total,
                "by_class": dict(counts.by_kind),
                "by_type": dict(counts.by_type),
                "deadletters": [to_json(letter) for letter in letters],
            }
        )
        return 0
    if not counts.total:
        say("There are no deadletters." if not which.chooses else "No deadletters are like that.")
        return 0
    _show_all(letters, now)
    say(f"{counted(counts.total, 'deadletter')}: {tallied(counts.by_kind)}.")
    if len(letters) < counts.total:
        say(f"These are the newest {number(len(letters))}; --limit 0 lists all.")
    suggest("the whole story of one", ("ghcrawl", "deadletters", "show", _id(letters[0]), *place.typed()))
    return 0


def _show_all(letters: Sequence[Deadletter], now: datetime) -> None:
    """A line each: for a person what fits, for a pipe everything."""
    if output.console().is_terminal:
        rows = [
            (_id(one), ago(one.last_at, now), one.kind, one.request.type, path_of(one.request.url)) for one in letters
        ]
        output.show_rows(("id", "given up", "class", "type", "path"), rows)
    else:
        titles = ("urn", "last_at", "class", "type", "url", "reason")
        output.show_rows(
            titles,
            [(one.urn, iso(one.last_at), one.kind, one.request.type, one.request.url, one.reason) for one in letters],
        )


async def show(place: Place, name: str, *, json: bool) -> int:
    """Returns the exit status: 1 where there is no such deadletter. Raises ConfigError, SpecError, StoreError."""
    async with opened(place) as desk:
        try:
            letter = await desk.letters.get(await _only(desk, PREFIX + name.removeprefix(PREFIX)))
        except _NoneSuchError:
            letter = None
        now = desk.now()
    if letter is None:
        complain(f"there is no deadletter {name}; `ghcrawl deadletters list` names them")
        return NOT_THERE
    if json:
        output.write_json(to_json(letter))
    else:
        retry: list[tuple[str, ...]] = [("deadletters", "requeue", _id(letter))]
        if not desk.attended:
            retry.append(("crawl",))
        commands = [as_typed(shlex.join(("ghcrawl", *words, *place.typed()))) for words in retry]
        show_incident(letter, now, " && ".join(commands))
    return 0


async def requeue(place: Place, which: Which, *, to: str, dry_run: bool, yes: bool) -> int:
    """Returns the exit status. Raises ConfigError, SpecError, QueueError, StoreError."""
    target = queue_name(to) if to else None
    async with opened(place) as desk:
        found = await _chosen(desk, which)
        if not await _wanted(desk, found, "requeue", dry_run=dry_run, yes=yes or bool(which.names)):
            return 0
        answers = await rounds(
            lambda rest: desk.letters.requeue(rest, to=target),
            found,
            of=lambda one: one.queued + one.bounced,
            done="requeued",
        )
    queued, bounced = sum(one.queued for one in answers), sum(one.bounced for one in answers)
    unreadable = sum(one.unreadable for one in answers)
    waited = f", {number(bounced)} of which waited already" if bounced else ""
    say(f"{counted(queued + bounced, 'request waits', 'requests wait')} again{waited}.")
    if unreadable:
        one = "deadletter never was a request this version can read, and stays"
        more = "deadletters never were requests this version can read, and stay"
        say(f"{counted(unreadable, one, more)}.")
    if not desk.attended:
        suggest("works through what waits", ("ghcrawl", "crawl", *place.typed()))
    return 0


async def delete(place: Place, which: Which, *, dry_run: bool, yes: bool) -> int:
    """Returns the exit status. Raises ConfigError, SpecError, StoreError."""
    async with opened(place) as desk:
        found = await _chosen(desk, which)
        if not await _wanted(desk, found, "delete", dry_run=dry_run, yes=yes):
            return 0
        answers = await rounds(desk.letters.delete, found, of=lambda one: one.deleted, done="deleted")
    say(f"{counted(sum(one.deleted for one in answers), 'deadletter')} deleted.")
    return 0


async def _wanted(desk: Desk, found: DeadletterFilter, verb: str, *, dry_run: bool, yes: bool) -> bool:
    """Whether it is really to be done. Says what it means where it is not."""
    counts = await desk.letters.count(found)
    if not counts.total:
        say("No deadletters are like that.")
        return False
    said = f"{verb} {counted(counts.total, 'deadletter')} ({tallied(counts.by_kind)})"
    if dry_run:
        say(f"This would {said}.")
        return False
    if not output.agreed(f"{said[0].upper()}{said[1:]}?", yes=yes):
        say("Nothing was done.")
        return False
    return True


async def _chosen(desk: Desk, which: Which) -> DeadletterFilter:
    if not which.chooses:
        raise ConfigError("say which deadletters: ids, --type, --class, --reason, --host, --older-than, or --all")
    return await _filter(desk, which)


async def _filter(desk: Desk, which: Which) -> DeadletterFilter:
    """Raises SpecError for what names no deadletter, and for a type that nothing is of."""
    if not {*which.types} <= desk.platform.kinds.keys():  # what another version buried may be of a type it had
        buried = await desk.letters.count(DeadletterFilter())
        demand_known(which.types, {*desk.platform.kinds, *buried.by_type})
    return DeadletterFilter(
        urns=tuple(await _urns(desk, which.names)),
        types=which.types,
        kinds=which.kinds,
        reason=which.reason,
        host=which.host,
        before=desk.now() - age(which.older_than) if which.older_than else None,
    )


class _NoneSuchError(SpecError):
    """No deadletter's id begins like that."""


async def _urns(desk: Desk, names: Sequence[str]) -> Sequence[str]:
    """The URNs that these names begin; a whole one as it is. Raises SpecError for what names none, or several."""
    return [await _only(desk, PREFIX + name.removeprefix(PREFIX)) for name in names]


async def _only(desk: Desk, name: str) -> str:
    if len(name) >= WHOLE:
        return name
    found, typed = await desk.letters.beginning(name), name.removeprefix(PREFIX)
    if len(found) == 1:
        return found[0]
    if not found:
        raise _NoneSuchError(f"there is no deadletter {typed}; `ghcrawl deadletters list` names them")
    raise SpecError(f"{typed} is the beginning of {len(found)} ids; add some digits")


def _id(letter: Deadletter) -> str:
    return letter.urn.removeprefix(PREFIX)[:8]
