"""Settings that are changed while a crawl runs: kept in the store, so that every process that shares it sees them."""

from __future__ import annotations

import difflib
from collections.abc import Mapping
from typing import Any, Final

from ghcrawl import settings as setting
from ghcrawl.cli.options import Place
from ghcrawl.errors import ConfigError
from ghcrawl.ports import Store
from ghcrawl.settings import LIVE, Origins, Settings

STATE: Final = "live"


async def kept(store: Store) -> Mapping[str, Any]:
    """`section.name` → value. Raises StoreError."""
    return await store.read_state(STATE) or {}


async def keep(store: Store, values: Mapping[str, Any]) -> None:
    """These hold from now on, and no others. Raises StoreError."""
    await store.write_state(STATE, dict(values))


def applied(place: Place, more: Mapping[str, Any], values: Mapping[str, Any]) -> tuple[Settings, Origins]:
    """The settings with `values` over file and environment, and the command line over all. Raises ConfigError."""
    return setting.load(place.config, setting.environment(), {**place.overrides(), **more}, values)


def changed(
    place: Place, more: Mapping[str, Any], before: Mapping[str, Any], now: Mapping[str, Any]
) -> tuple[Settings, Origins]:
    """The same in the middle of a crawl: what was changed since it began wins over the command line that began it."""
    touched = {name for name in {*before, *now} if before.get(name) != now.get(name)}
    return applied(place, {name: value for name, value in more.items() if name not in touched}, now)


def checked(name: str) -> str:
    """`name`, if it may be set live. Raises ConfigError with the name that was probably meant."""
    if name in LIVE:
        return name
    if name in setting.names():
        raise ConfigError(
            f"{name} cannot change while a crawl runs; set it in the config file, or as "
            f"{setting.PREFIX}{name.upper().replace('.', '__')} in the environment"
        )
    known = [*LIVE, *setting.names()]
    close = difflib.get_close_matches(name, [*known, *(one.rpartition(".")[2] for one in LIVE)], n=1)
    meant = next((one for one in known if close and (one == close[0] or one.endswith(f".{close[0]}"))), "")
    raise ConfigError(
        f"no setting is called {name}; did you mean {meant}?"
        if meant
        else f"no setting is called {name}; live ones are {', '.join(LIVE)}"
    )
