"""`ghcrawl config show | set | check`."""

from __future__ import annotations

from collections.abc import Mapping
from functools import reduce
from typing import Any

from ghcrawl.backend import check_servers
from ghcrawl.cli import output
from ghcrawl.cli.opening import existing, settings_of, with_memory
from ghcrawl.cli.options import Place
from ghcrawl.cli.server import running
from ghcrawl.cli.stderr import say
from ghcrawl.cli.words import counted, written
from ghcrawl.settings import loading as setting
from ghcrawl.settings.live import Base, LiveSettings, checked, value_of
from ghcrawl.settings.loading import Origins
from ghcrawl.values.errors import ConfigError
from ghcrawl.wiring import SETTINGS, demand_runnable, read_credentials


async def show(place: Place, *, json: bool) -> int:
    """Returns the exit status. Raises ConfigError, StoreError."""
    if place.server:
        found = await running.settings(place.server)
        values, origins = found["settings"], found["origins"]
    else:
        settings, origins, _ = await with_memory(place)
        values = settings.model_dump(mode="json")
    if json:
        output.write_json({"settings": values, "origins": dict(origins)})
    else:
        output.write(toml(values, origins))
    return 0


async def set_(place: Place, name: str, value: str | None, *, unset: bool) -> int:
    """Returns the exit status. Raises ConfigError, and then nothing was changed; StoreError."""
    if (value is None) != unset:
        raise ConfigError(f"give either a value for {name} or --unset")
    if not unset:
        checked(name, SETTINGS)
    if place.server:
        return await running.change(place.server, name, value)
    async with existing(place) as opened:
        base = Base(path=place.config, environ=setting.environment(), overrides=place.overrides(), model=SETTINGS)
        settings = LiveSettings(opened.backend.store, opened.backend.clock, base, demand=demand_runnable)
        await settings.change({name: None if value is None else setting.typed(name, value, SETTINGS)}, "command line")
        values = (await settings.read()).live
    said = f"{name} is now {written(values[name])}" if name in values else f"{name} is unset"
    say(f"{said} for all crawls of {opened.settings.kept_in}.")
    return 0


async def check(place: Place) -> int:
    """Returns the exit status. Raises ConfigError for the first thing that cannot be run with."""
    settings, origins = settings_of(place)
    demand_runnable(settings)
    check_servers(settings)
    credentials = read_credentials(settings, setting.environment())
    for name, origin in sorted(origins.items()):
        output.write(f"{name} = {written(value_of(settings, name))}  # {origin}")
    say(
        f"The settings are valid: {counted(len(origins), 'non-default setting')}, "
        f"{counted(sum(map(len, credentials.values())), 'credential')}."
    )
    return 0


def toml(values: Mapping[str, Any], origins: Origins) -> str:
    """Sections of settings as a TOML file, with the origin of what is no default in a comment behind it."""
    import tomlkit  # noqa: PLC0415  # 50 ms that only commands which show settings need
    from tomlkit.items import AoT, Item, Table  # noqa: PLC0415

    document = tomlkit.item(dict(values))
    for name, origin in origins.items():
        *path, last = name.split(".")
        table = reduce(lambda parent, key: parent[key], path, document)
        value = table.value.item(last) if isinstance(table, Table) else None
        if isinstance(value, Item) and not isinstance(value, AoT | Table):
            value.comment(origin).trivia.comment_ws = "  "
    return tomlkit.dumps(document)
