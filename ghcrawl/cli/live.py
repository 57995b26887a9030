"""Settings that are changed while a crawl runs: kept in the store, so that every process that shares it sees them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from ghcrawl.cli.options import Place
from ghcrawl.cli.words import written
from ghcrawl.ports.store import Store
from ghcrawl.settings import loading as setting
from ghcrawl.settings.live import STATE, Holding, understood
from ghcrawl.settings.loading import Origins
from ghcrawl.wiring import SETTINGS, demand_runnable, load


async def kept(store: Store) -> Mapping[str, Any]:
    """`section.name` → value. Raises StoreError."""
    return await store.read_state(STATE) or {}


def applied(place: Place, more: Mapping[str, Any], values: Mapping[str, Any]) -> Holding:
    """The settings with `values` over file and environment, and the command line over all. Raises ConfigError.

    Those of `values` that this version cannot use are left out.
    """
    return understood(lambda live: _runnable(place, more, live), values, SETTINGS)


def _runnable(place: Place, more: Mapping[str, Any], live: Mapping[str, Any]) -> Holding:
    settings, origins = load(place.config, setting.environment(), {**place.overrides(), **more}, live)
    if origins.get("crawl.scenario") == "live":  # any other is judged by the command that uses it
        demand_runnable(settings)
    return Holding(settings=settings, origins=origins, live=live)


def changed(place: Place, more: Mapping[str, Any], before: Mapping[str, Any], now: Mapping[str, Any]) -> Holding:
    """The same in the middle of a crawl: what was changed since it began wins over the command line that began it."""
    touched = _differing(before, now)
    return applied(place, {name: value for name, value in more.items() if name not in touched}, now)


def changes(before: Mapping[str, Any], after: Mapping[str, Any], origins: Origins) -> Iterable[str]:
    """A sentence for each live setting that differs. origins: of the settings that hold now."""
    for name in sorted(_differing(before, after)):
        if name not in after:
            yield f"{name} is no longer set."
        elif origins.get(name) == "live":
            yield f"{name} is now {written(after[name])}."
        else:
            yield f"{name} is set to a value that this version does not support."


def _differing(before: Mapping[str, Any], after: Mapping[str, Any]) -> set[str]:
    """The names of the settings that were set, unset or changed."""
    return {name for name in {*before, *after} if before.get(name) != after.get(name)}
