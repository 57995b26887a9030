"""`ghcrawl config show | set | check`."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from ghcrawl import settings as setting
from ghcrawl.cli import live, output
from ghcrawl.cli.opening import existing, settings_of, with_memory
from ghcrawl.cli.options import Place
from ghcrawl.cli.server import running
from ghcrawl.cli.stderr import say
from ghcrawl.cli.words import counted, written
from ghcrawl.errors import ConfigError
from ghcrawl.live import Base, LiveSettings, value_of
from ghcrawl.settings import Origins
from ghcrawl.wiring import check_servers, demand_runnable, read_credentials


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
        for line in toml(values, origins):
            output.write(line)
    return 0


async def set_(place: Place, name: str, value: str | None, *, unset: bool) -> int:
    """Returns the exit status. Raises ConfigError, and then nothing was changed; StoreError."""
    if (value is None) != unset:
        raise ConfigError(f"write a value for {name}, or --unset")
    if not unset:
        live.checked(name)
    if place.server:
        return await running.change(place.server, name, value)
    async with existing(place) as opened:
        base = Base(path=place.config, environ=setting.environment(), overrides=place.overrides())
        settings = LiveSettings(opened.backend.store, opened.backend.clock, base, demand=demand_runnable)
        await settings.change({name: None if value is None else setting.typed(name, value)}, "command line")
        values = (await settings.read()).live
    said = f"{name} is {written(values[name])} from now on" if name in values else f"{name} is no longer set here"
    say(f"{said}, for whatever crawls {opened.where}.")
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
        f"All is well: {counted(len(origins), 'setting')} besides the defaults, "
        f"{counted(len(credentials), 'credential')}."
    )
    return 0


def toml(values: Mapping[str, Any], origins: Origins) -> Iterable[str]:
    """Sections of settings as a TOML file, with the origin of what is no default behind it."""
    for section, settings in values.items():
        yield f"[{section}]"
        tables = {name: value for name, value in settings.items() if isinstance(value, Mapping)}
        listed = {name: value for name, value in settings.items() if _is_tables(value)}
        for name, value in settings.items():
            if name not in tables and name not in listed:
                yield _line(name, value, origins.get(f"{section}.{name}", ""))
        for name, table in tables.items():
            yield ""
            yield f"[{section}.{name}]"
            for key, value in table.items():
                yield _line(key, value, origins.get(f"{section}.{name}.{key}", ""))
        for name, rows in listed.items():
            for row in rows:
                yield ""
                yield f"[[{section}.{name}]]"
                yield from (_line(key, value, "") for key, value in row.items())
        yield ""


def _is_tables(value: Any) -> bool:
    return isinstance(value, list) and bool(value) and all(isinstance(item, Mapping) for item in value)


def _line(name: str, value: Any, origin: str) -> str:
    text = f"{name} = {written(value)}"
    return f"{text}  # {origin}" if origin else text
