"""`ghcrawl queue` and `ghcrawl requests`."""

from __future__ import annotations

import difflib
import json as jsonlib
import sys
from collections.abc import Iterable, Sequence

from ghcrawl.cli import output, roots
from ghcrawl.cli.crawl_backend import Reading
from ghcrawl.cli.kinds import type_texts
from ghcrawl.cli.opening import backend as opened
from ghcrawl.cli.opening import reading
from ghcrawl.cli.options import Place
from ghcrawl.cli.stderr import say, suggest
from ghcrawl.cli.unsupported_requests import depth_figures
from ghcrawl.cli.words import counted, number, path_of, stamp
from ghcrawl.ports.queue import by_queue
from ghcrawl.values.errors import SpecError
from ghcrawl.values.frozen import replace
from ghcrawl.values.lanes import QUEUES, QueueName
from ghcrawl.values.requests import Push, Request
from ghcrawl.values.times import iso
from ghcrawl.wiring import read_message


def queue_name(text: str) -> QueueName:
    """The queue of that name. Raises SpecError with the one that was probably meant."""
    found = next((name for name in QUEUES if name == text.strip().lower()), None)
    if found is None:
        close = difflib.get_close_matches(text.lower(), QUEUES, n=1)
        meant = f"did you mean {close[0]}?" if close else f"known queues: {', '.join(QUEUES)}"
        raise SpecError(f"unknown queue {text}; {meant}")
    return found


async def depths(place: Place, *, json: bool) -> int:
    """Returns the exit status. Raises ConfigError, QueueError."""
    async with opened(place) as backend:
        found = by_queue(await backend.queues.depths())
    if json:
        output.write_json(depth_figures(found))
        return 0
    rows = [
        (name, number(depth.ready), number(depth.delayed), number(depth.in_flight)) for name, depth in found.items()
    ]
    output.show_rows(("queue", "ready", "delayed", "in flight"), rows, numbers=("ready", "delayed", "in flight"))
    return 0


async def purge(place: Place, name: str, *, yes: bool) -> int:
    """Returns the exit status. Raises ConfigError, SpecError, QueueError.

    A queue in which nothing is seen is emptied as well: what seems to wait in a broker that was lost is forgotten so.
    """
    queue = queue_name(name)
    async with opened(place) as backend:
        depth = by_queue(await backend.queues.depths())[queue]
        waiting = depth.ready + depth.delayed
        question = f"Permanently delete {counted(waiting, 'request')} in queue {queue}?"
        if waiting and not output.agreed(question, yes=yes):
            say("Nothing was changed.")
        elif purged := await backend.queues.purge(queue):
            say(f"{counted(purged, 'request')} deleted.")
        else:
            say(f"Queue {queue} is empty.")
    return 0


async def peek(place: Place, name: str, *, limit: int, json: bool) -> int:
    """Returns the exit status. Raises ConfigError, SpecError, QueueError."""
    queue = queue_name(name)
    async with opened(place) as backend:
        depth = by_queue(await backend.queues.depths())[queue]
        waiting = depth.ready + depth.delayed
        found = await backend.queues.peek(queue, limit=limit or max(1, waiting))
    if json:
        output.write_json([_brief(request) for request in found])
        return 0
    whole = not output.console().is_terminal
    named = zip(found, type_texts([one.type_name for one in found]), strict=True)
    rows = [(type, one.policy, str(one.attempt), one.url if whole else path_of(one.url)) for one, type in named]
    if rows:
        output.show_rows(("type", "policy", "failures", "path"), rows, numbers=("failures",))
    if len(found) < waiting:
        say(f"Showing {number(len(found))} of {number(waiting)}; --limit 0 shows all.")
    if not found:
        say(f"Queue {queue} is empty.")
    return 0


async def push(place: Place, typed: Sequence[str], *, queue: str, policy: str | None, dry_run: bool = False) -> int:
    """Returns the exit status. Raises ConfigError, SpecError, DecodeError, QueueError."""
    to = queue_name(queue)
    read = await reading(place, policy)
    requests = [_request(one, read) for one in _words(typed)]
    if dry_run:
        for request in requests:
            say(f"Would queue in {to}: {request.type} {request.url} ({request.policy})")
        return 0
    async with opened(place, makes=True) as backend:
        now = backend.now()
        asked = [request if request.asked_at else replace(request, asked_at=now) for request in requests]
        pushed = await backend.queues.push([Push(request=request, queue=to) for request in asked])
    waited = f", {number(pushed.bounced)} of which were already queued" if pushed.bounced else ""
    waiting = counted(pushed.queued + pushed.bounced, "request")
    say(f"{waiting} queued in {to}{waited}.")
    if not backend.attended:
        suggest("process the queued requests", ("ghcrawl", "crawl", *place.typed()))
    return 0


def _words(typed: Sequence[str]) -> Iterable[str]:
    """What was typed; `-` stands for the lines of standard input."""
    for word in typed:
        if word == "-":
            yield from (line.strip() for line in sys.stdin if line.strip())
        else:
            yield word


def _request(text: str, read: Reading) -> Request:
    if not text.lstrip().startswith("{"):
        return roots.read(read.mounts, [text], read.policy)[0].request
    try:
        value = jsonlib.loads(text)
    except ValueError as error:
        raise SpecError(f"{text[:60]!r} is not a JSON object: {error}") from None
    defaults = {"v": 1, "policy": read.policy, "platform": read.mounts.default.name}
    request = read_message(jsonlib.dumps({**defaults, **value}).encode())
    read.mounts.demand(request)
    return request


def _brief(request: Request) -> dict[str, object]:
    return {
        "type": request.type,
        "url": request.url,
        "policy": request.policy,
        "platform": request.platform,
        "qualifier": request.context.qualifier,
        "attempt": request.attempt,
        "asked_at": iso(request.asked_at) if request.asked_at else None,
        "carries_body": request.payload is not None,
        "last_failure": f"{request.failures[-1].cause}, {stamp(request.failures[-1].at)}" if request.failures else None,
    }
