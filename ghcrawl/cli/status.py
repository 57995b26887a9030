"""`ghcrawl status`: everything about a file, or a database, at a glance."""

from __future__ import annotations

import shlex
from collections.abc import Collection, Iterable, Mapping, Sequence
from datetime import datetime
from functools import partial
from pathlib import Path
from typing import Any

from msgspec import Struct

from ghcrawl.backend import Backend
from ghcrawl.cli import live, output, records
from ghcrawl.cli.kinds import entity_types, kept, split
from ghcrawl.cli.opening import existing
from ghcrawl.cli.options import Place
from ghcrawl.cli.records import Records
from ghcrawl.cli.server import running
from ghcrawl.cli.server import watch as watching
from ghcrawl.cli.snapshot import depth_line
from ghcrawl.cli.stderr import suggest
from ghcrawl.cli.unsupported_requests import depth_figures, left_waiting, ours, sentences
from ghcrawl.cli.words import ago, number, size, stamp, written
from ghcrawl.ports.deadletters import DeadletterCounts, DeadletterFilter
from ghcrawl.ports.queue import Depth, by_queue
from ghcrawl.settings.sections import Settings
from ghcrawl.values.errors import ConfigError
from ghcrawl.values.lanes import Lane
from ghcrawl.wiring import PLATFORMS, crawled_by


class State(Struct, frozen=True, kw_only=True):
    """What is known of one place. crawled_by: the process that crawls a file now.

    size_bytes: of the file; None: there is none.
    """

    where: str
    size_bytes: int | None
    now: datetime
    crawled_by: int | None
    records: Records
    depths: Mapping[Lane, Depth]
    platforms: Collection[str]
    things: Mapping[str, int]
    lists: int
    deadletters: DeadletterCounts
    live: Mapping[str, Any]

    @property
    def waiting(self) -> int:
        """Requests that are not done."""
        return sum(depth.total for depth in ours(self.depths, self.platforms).values())


async def status(place: Place, *, json: bool, watch: bool = False) -> int:
    """Returns the exit status. Raises ConfigError, QueueError, StoreError."""
    if watch and json:
        raise ConfigError("--watch and --json cannot be combined; run --json repeatedly instead")
    if watch:
        return await watching.watch(partial(watching.service, place.server) if place.server else partial(_look, place))
    if place.server:
        return await running.status(place.server, json=json)
    async with existing(place) as opened:
        state = await _state(opened.backend, opened.settings)
    if json:
        output.write_json(_figures(state))
        return 0
    output.show_facts(_facts(state))
    for purpose, words in _advice(state, place):
        suggest(purpose, words)
    return 0


async def _look(place: Place) -> Sequence[tuple[str, str]]:
    async with existing(place) as opened:
        return list(_facts(await _state(opened.backend, opened.settings)))


async def _state(backend: Backend, settings: Settings) -> State:
    path = settings.sqlite.path
    files = [path, Path(f"{path}-wal")]
    things, lists = split(await backend.store.counts(), entity_types(PLATFORMS))
    return State(
        where=settings.kept_in,
        size_bytes=sum(file.stat().st_size for file in files if file.exists())
        if settings.store.provider == "sqlite"
        else None,
        now=backend.clock.now(),
        crawled_by=crawled_by(path) if settings.embedded else None,
        records=await records.read(backend.store),
        depths=await backend.queue.depths(),
        platforms=[platform.name for platform in PLATFORMS],
        things=things,
        lists=lists,
        deadletters=await backend.deadletters.count(DeadletterFilter()),
        live=await live.kept(backend.store),
    )


def _facts(state: State) -> Iterable[tuple[str, str]]:
    if state.size_bytes is None:
        yield "store", state.where
    else:
        yield "file", f"{state.where}, {size(state.size_bytes)}"
        yield "crawled by", f"process {state.crawled_by}" if state.crawled_by else "no process"
    for record in state.records.unfinished:
        yield "unfinished", f"{', '.join(record.specs)}, started {_when(record.asked_at, state.now)}"
    if state.records.last is not None and state.records.last.finished_at is not None:
        last, finished_at = state.records.last, state.records.last.finished_at
        yield "finished", f"{', '.join(last.specs) or 'queued requests'}, {_when(finished_at, state.now)}"
    waiting = by_queue(ours(state.depths, state.platforms))
    yield "waiting", depth_line(waiting)
    if delayed := sum(depth.delayed for depth in waiting.values()):
        yield "", f"{number(delayed)} of them delayed"
    for sentence in sentences(left_waiting(state.depths, state.platforms)):
        yield "", sentence
    yield from kept(state.things, state.lists, state.deadletters)
    if state.live:
        yield "live", ", ".join(f"{name} = {written(value)}" for name, value in sorted(state.live.items()))


def _when(moment: datetime, now: datetime) -> str:
    return f"{stamp(moment)} ({ago(moment, now)})"


def _advice(state: State, place: Place) -> Iterable[tuple[str, Sequence[str]]]:
    if state.crawled_by:
        return
    for record in state.records.unfinished:
        yield f"resume {', '.join(record.specs)}", shlex.split(record.command)
    if state.waiting and not state.records.unfinished and state.size_bytes is not None:  # others work on a broker
        yield "process the queued requests", ("ghcrawl", "crawl", *place.typed())
    if state.deadletters.total:
        yield "list deadletters and their reasons", ("ghcrawl", "deadletters", "list", *place.typed())


def _figures(state: State) -> Mapping[str, Any]:
    return {
        "db": state.where,
        "size_bytes": state.size_bytes,
        "crawled_by": state.crawled_by,
        "unfinished": [record.to_json() for record in state.records.unfinished],
        "last": state.records.last.to_json() if state.records.last else None,
        "queues": depth_figures(by_queue(ours(state.depths, state.platforms))),
        "left_waiting": dict(left_waiting(state.depths, state.platforms)),
        "documents": {"entities": sum(state.things.values()), "by_type": dict(state.things), "lists": state.lists},
        "deadletters": {"total": state.deadletters.total, "by_class": dict(state.deadletters.by_kind)},
        "live": dict(state.live),
    }
