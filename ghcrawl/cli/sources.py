"""`ghcrawl watch` and `unwatch`: what is asked again and again, and when each is due."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, Final

from ghcrawl.cli.opening import Opened, existing
from ghcrawl.cli.options import Place
from ghcrawl.cli.output import show_facts, show_rows, write_json
from ghcrawl.cli.stderr import say
from ghcrawl.cli.words import number, stamp
from ghcrawl.platforms.contract import Feed
from ghcrawl.platforms.kind import alternative
from ghcrawl.platforms.mount import Mounts
from ghcrawl.schedule.estimator import rates
from ghcrawl.schedule.poolstate import from_json, state_name
from ghcrawl.schedule.ticker import watch as add
from ghcrawl.schedule.ticker import watched
from ghcrawl.schedule.trace import user_class
from ghcrawl.values.errors import ConfigError, SpecError
from ghcrawl.values.model import iso
from ghcrawl.values.source import Source, moment_of
from ghcrawl.wiring import mounts

AT_ONCE: Final = 500
BARS: Final = "▁▂▃▄▅▆▇█"


async def watch(place: Place, specs: Sequence[str], *, weight: float, every_d: float) -> int:
    """Add what `specs` name. Returns the exit status. Raises ConfigError, StoreError."""
    async with existing(_local(place), makes=True) as opened:
        mounted = mounts(opened.settings)
        found = [await _source(opened, mounted, spec) for spec in specs]
        wanted = [replace(each, weight=weight, pin=every_d) for each in found]
        added = await add(opened.backend.sources, opened.backend.store, _feeds(mounted), wanted)
        known = [each for each in wanted if (await _changed(opened, each))]
    there = len(wanted) - added
    changed = f", {number(len(known))} changed" if known else ""
    say(f"{number(added)} added, {number(there)} watched already{changed}.")
    return 0


async def _changed(opened: Opened, wanted: Source) -> bool:
    """Weight and pin of what is watched already become those that were typed."""
    sources = opened.backend.sources
    stored = await sources.get(wanted.key)
    while stored is not None and (stored.weight, stored.pin) != (wanted.weight, wanted.pin):
        if await sources.write([replace(stored, weight=wanted.weight, pin=wanted.pin, due=0.0)]):
            return True
        stored = await sources.get(wanted.key)
    return False


async def unwatch(place: Place, specs: Sequence[str]) -> int:
    """Remove what `specs` name; 1 where one of them was not watched. Raises ConfigError, StoreError."""
    async with existing(_local(place)) as opened:
        mounted = mounts(opened.settings)
        keys = {(await _source(opened, mounted, spec)).key for spec in specs}
        gone = await opened.backend.sources.remove(keys)
    say(f"{number(gone)} removed.")
    return 0 if gone == len(keys) else 1


async def listed(place: Place, *, json: bool, limit: int) -> int:
    """Print the sources, those due first. Raises ConfigError, StoreError."""
    async with existing(_local(place)) as opened:
        rows: list[Source] = []
        for mount in mounts(opened.settings):
            rows += await opened.backend.sources.due(mount.name, limit or 1_000_000)
        priors = {mount.name: await _prior(opened, mount.name) for mount in mounts(opened.settings)}
    rows = sorted(rows, key=lambda each: each.due)[: limit or None]
    if json:
        write_json([_shown(each, priors[each.platform]) for each in rows])
    elif rows:
        titles = ("due", "items/day", "calls", "items", "source")
        show_rows(titles, [_row(each, priors[each.platform]) for each in rows], numbers=titles[1:4])
    else:
        say("Nothing is watched; name what to watch: ghcrawl watch SPEC")
    return 0


def _row(source: Source, prior: float) -> Sequence[str]:
    never = source.estimate.last is None
    due = "now" if never else stamp(moment_of(max(source.due, source.not_before)))
    rate = "" if never else f"{rates(source.estimate, prior)[0]:.2f}"
    return due, rate, number(source.calls), number(source.items), f"{source.type} {source.url}"


async def show(place: Place, spec: str, *, json: bool) -> int:
    """Print one source with a picture of its last 30 days; 1: it is not watched. Raises ConfigError, StoreError."""
    async with existing(_local(place)) as opened:
        named = await _source(opened, mounts(opened.settings), spec)
        source = await opened.backend.sources.get(named.key)
        prior = await _prior(opened, named.platform)
    if source is None:
        say(f"{spec} is not watched.")
        return 1
    shown = _shown(source, prior)
    if json:
        write_json(shown)
        return 0
    show_facts((name, "–" if value is None else str(value)) for name, value in shown.items())
    return 0


def _shown(source: Source, prior: float) -> Mapping[str, Any]:
    """What a person and a program are shown."""
    slow, fast = rates(source.estimate, prior)
    last = source.estimate.last
    return {
        "platform": source.platform,
        "type": source.type,
        "url": source.url,
        "due": iso(moment_of(max(source.due, source.not_before))) if last is not None else None,
        "read": iso(moment_of(last)) if last is not None else None,
        "news": iso(moment_of(source.news)) if source.news > 0 else None,
        "rate": round(slow, 4),
        "now": round(fast, 4),
        "class": user_class(source.trace) if last is not None else None,
        "days": picture(source.trace.days),
        "hours": picture(source.trace.hours),
        "weight": source.weight,
        "every": source.pin or None,
        "calls": source.calls,
        "items": source.items,
        "errors": source.errors,
    }


def picture(counts: Sequence[int]) -> str:
    """A bar for each count; a dot for none."""
    most = max(counts, default=0)
    return "".join(BARS[(count * (len(BARS) - 1) + most // 2) // most] if count else "·" for count in counts)


async def _prior(opened: Opened, platform: str) -> float:
    return from_json(await opened.backend.store.read_state(state_name(platform))).pool.prior


async def _source(opened: Opened, mounted: Mounts, spec: str) -> Source:
    """The source that a spec names, of the kind that a crawl has found it to be."""
    try:
        request = mounted.read_spec(spec, opened.settings.crawl.policy)
    except SpecError as error:
        raise ConfigError(str(error)) from error
    mount = mounted[request.platform]
    kind = mount.platform.kinds[request.type]
    instead = alternative(kind, request)
    for each in (request, *([instead] if instead is not None else [])):
        found = [document for document in await opened.backend.store.find(each.url) if document.deleted_at is None]
        if found:
            request = replace(each, type=found[0].type, url=found[0].url)
            break
    return watched(request.platform, mount.platform.feed, request)


def _feeds(mounted: Mounts) -> Mapping[str, Feed | None]:
    return {mount.name: mount.platform.feed for mount in mounted}


def _local(place: Place) -> Place:
    if place.server:
        raise ConfigError(
            "what is watched is kept beside the documents: name the file or the database with --db or --config"
        )
    return place
