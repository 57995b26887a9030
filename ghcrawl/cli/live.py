"""Settings that are changed while a crawl runs: kept in the store, so that every process that shares it sees them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from msgspec import Struct

from ghcrawl.cli.options import Place
from ghcrawl.ports.store import Store
from ghcrawl.settings import sections as setting
from ghcrawl.settings.live import STATE, checked, understood
from ghcrawl.settings.sections import Origins, Settings
from ghcrawl.wiring import SETTINGS, demand_runnable, load

__all__ = ["Applied", "applied", "changed", "checked", "kept"]


async def kept(store: Store) -> Mapping[str, Any]:
    """`section.name` → value. Raises StoreError."""
    return await store.read_state(STATE) or {}


class Applied(Struct, frozen=True, kw_only=True):
    """The settings that hold, and where each that is no default comes from.

    strange: what is set live and cannot be used by this version → why.
    """

    settings: Settings
    origins: Origins
    strange: Mapping[str, str]


def applied(place: Place, more: Mapping[str, Any], values: Mapping[str, Any]) -> Applied:
    """The settings with `values` over file and environment, and the command line over all. Raises ConfigError.

    Those of `values` that this version cannot use are left out.
    """
    found = understood(lambda live: _runnable(place, more, live), values, SETTINGS)
    settings, origins = found.held
    return Applied(settings=settings, origins=origins, strange=found.strange)


def _runnable(place: Place, more: Mapping[str, Any], live: Mapping[str, Any]) -> tuple[Settings, Origins]:
    settings, origins = load(place.config, setting.environment(), {**place.overrides(), **more}, live)
    if origins.get("crawl.scenario") == "live":  # any other is judged by the command that uses it
        demand_runnable(settings)
    return settings, origins


def changed(place: Place, more: Mapping[str, Any], before: Mapping[str, Any], now: Mapping[str, Any]) -> Applied:
    """The same in the middle of a crawl: what was changed since it began wins over the command line that began it."""
    touched = {name for name in {*before, *now} if before.get(name) != now.get(name)}
    return applied(place, {name: value for name, value in more.items() if name not in touched}, now)
