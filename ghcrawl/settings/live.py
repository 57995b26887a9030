"""Settings that change while processes run: kept in the store, so that every process that shares it takes them.

    live        {"crawl.loops": 5, …}
    live-audit  {"entries": [{"at", "who", "name", "from", "to"}, …]}, newest first

A change is checked against everything else that is set before anything is written. Who changes two settings at once
changes both or none. Of two who change different settings in the same moment, on whichever replicas, none undoes what
the other did: each writes only over what it has read.

Replicas of two versions share one store while one takes over from the other. What this version cannot use of what is
kept holds nothing up: it is left out, named, and kept for the version that knows it, until an operator unsets it.
"""

from __future__ import annotations

import difflib
import random
from collections.abc import Callable, Mapping, Sequence
from datetime import datetime
from pathlib import Path
from typing import Any, Final

from msgspec import Struct

from ghcrawl.ports.clock import Clock
from ghcrawl.ports.store import Store
from ghcrawl.settings import loading as setting
from ghcrawl.settings.loading import Origins
from ghcrawl.settings.sections import Settings
from ghcrawl.values.errors import ConfigError, StoreError
from ghcrawl.values.frozen import replace
from ghcrawl.values.times import iso, moment

STATE: Final = "live"
AUDIT: Final = "live-audit"
MAX_ENTRIES: Final = 200
MAX_TRIES: Final = 50
RETRY_S: Final = 0.02
"""The longest wait before the second try; each one after it may be longer by as much."""


class Contended(StoreError):
    """Others changed the same thing again and again while this one tried. Nothing was changed."""


class Entry(Struct, frozen=True, kw_only=True):
    """A change of one setting. before, after: None where it was, or is, not set live."""

    at: datetime
    who: str
    name: str
    before: Any
    after: Any

    def to_json(self) -> dict[str, Any]:
        """As it is kept."""
        return {"at": iso(self.at), "who": self.who, "name": self.name, "from": self.before, "to": self.after}

    @classmethod
    def from_json(cls, value: Mapping[str, Any]) -> Entry:
        """What `to_json` wrote."""
        at, who, name = moment(value["at"]), value["who"], value["name"]
        return cls(at=at, who=who, name=name, before=value["from"], after=value["to"])


class Holding(Struct, frozen=True, kw_only=True):
    """The settings that hold. origins: where each that is no default comes from; live: what is set in the store.

    strange: what is set there and cannot be used by this version → why.
    """

    settings: Settings
    origins: Origins
    live: Mapping[str, Any] = {}
    strange: Mapping[str, str] = {}


class Base(Struct, frozen=True, kw_only=True):
    """Everything but the live settings: the file, the environment, and what was said on the command line.

    model: the settings with the sections of the platforms.
    """

    path: Path | None = None
    environ: Mapping[str, str] = {}
    overrides: Mapping[str, Any] = {}
    model: type[Settings] = Settings

    def holding(self, live: Mapping[str, Any]) -> Holding:
        """The settings with `live` on top: a change at run time wins over how the process was started.

        Raises ConfigError.
        """
        overrides = {name: value for name, value in self.overrides.items() if name not in live}
        settings, origins = setting.load(self.path, self.environ, overrides, live, model=self.model)
        return Holding(settings=settings, origins=origins, live=live)


def understood(hold: Callable[[Mapping[str, Any]], Holding], kept: Mapping[str, Any], model: type[Settings]) -> Holding:
    """What holds with as much of `kept` as can hold together.

    hold: raises ConfigError for what cannot. Raises ConfigError where nothing at all can.
    """
    strange = {name: why for name in kept if (why := _unknown(name, model))}
    usable = {name: value for name, value in kept.items() if name not in strange}
    try:
        return replace(hold(usable), strange=strange)
    except ConfigError:
        if not usable:
            raise
    held, fitting = hold({}), dict[str, Any]()
    for name, value in sorted(usable.items()):
        try:
            held = hold({**fitting, name: value})
        except ConfigError as error:
            strange[name] = str(error)
        else:
            fitting[name] = value
    return replace(held, strange=strange)


def _unknown(name: str, model: type[Settings]) -> str:
    """Why `name` cannot be set live; empty where it can."""
    try:
        checked(name, model)
    except ConfigError as error:
        return str(error)
    return ""


class LiveSettings:
    """The live settings of all processes that share `store`.

    demand: raises ConfigError for settings that it refuses.
    """

    def __init__(
        self, store: Store, clock: Clock, base: Base, *, demand: Callable[[Settings], None] = lambda _: None
    ) -> None:
        self._store = store
        self._clock = clock
        self._base = base
        self._demand = demand

    @property
    def model(self) -> type[Settings]:
        """The settings with the sections of the platforms."""
        return self._base.model

    async def read(self) -> Holding:
        """What holds now, without what cannot be used of what is kept. Raises StoreError, ConfigError."""
        return self._understood(await self._store.read_state(STATE) or {})

    async def change(self, wanted: Mapping[str, Any], who: str) -> Sequence[Entry]:
        """`wanted` holds from now on, `section.name` → value; None: it is no longer set live (any name).

        Returns what that changed. Raises ConfigError or Contended, and then nothing was changed; StoreError.
        """
        for tries in range(MAX_TRIES):
            before = await self._store.read_state(STATE)
            after = self._after(before or {}, wanted)
            entries = self._entries(before or {}, after, who)
            if not entries:
                return entries
            if await self._store.swap_state(STATE, before, after):
                await self._write_down(entries)
                return entries
            await self._wait(tries)
        raise Contended("concurrent changes to the settings; try again")

    def _after(self, before: Mapping[str, Any], wanted: Mapping[str, Any]) -> Mapping[str, Any]:
        """What is set live once `wanted` holds. Raises ConfigError."""
        for name, value in wanted.items():
            if value is not None or name not in before:
                checked(name, self._base.model)
        usable, strange = dict[str, Any](), dict[str, str]()
        if before:  # else nothing has to hold yet: what is wanted may be what makes the rest hold
            holding = self._understood(before)
            usable, strange = {**holding.live}, {**holding.strange}
        after = {name: value for name, value in {**usable, **wanted}.items() if value is not None}
        settings = self._holding(after).settings
        left = {name: before[name] for name in strange if name not in wanted}
        return {**left, **{name: value_of(settings, name) for name in after}}

    def _understood(self, kept: Mapping[str, Any]) -> Holding:
        """What holds with as much of `kept` as can be used. Raises ConfigError."""
        return understood(self._holding, kept, self._base.model)

    def _holding(self, live: Mapping[str, Any]) -> Holding:
        """What holds with these, and can be run with. Raises ConfigError."""
        holding = self._base.holding(live)
        self._demand(holding.settings)
        return holding

    async def audit(self) -> Sequence[Entry]:
        """Who changed what, newest first. Raises StoreError."""
        kept: Any = (await self._store.read_state(AUDIT) or {}).get("entries", ())
        return [Entry.from_json(each) for each in kept]

    def _entries(self, before: Mapping[str, Any], after: Mapping[str, Any], who: str) -> Sequence[Entry]:
        names = sorted(name for name in {*before, *after} if before.get(name) != after.get(name))
        at = self._clock.now()
        return [Entry(at=at, who=who, name=name, before=before.get(name), after=after.get(name)) for name in names]

    async def _write_down(self, entries: Sequence[Entry]) -> None:
        new = [entry.to_json() for entry in entries]
        for tries in range(MAX_TRIES):
            before: Any = await self._store.read_state(AUDIT)
            kept = [*new, *(before or {}).get("entries", ())][:MAX_ENTRIES]
            if await self._store.swap_state(AUDIT, before, {"entries": kept}):
                return
            await self._wait(tries)
        raise StoreError("the settings were changed, but the change was not logged")

    async def _wait(self, tries: int) -> None:
        await self._clock.sleep(random.random() * RETRY_S * (tries + 1))  # noqa: S311  # keeps rivals apart


def value_of(settings: Settings, name: str) -> Any:
    """The value of `section.name`, as JSON has it; None where nothing is called that."""
    found: Any = settings.model_dump(mode="json")
    for part in name.split("."):
        found = found[part] if isinstance(found, Mapping) and part in found else None
    return found


def checked(name: str, model: type[Settings]) -> str:
    """`name`, if it may be set live. Raises ConfigError with the name that was probably meant."""
    live, names = model.live_names(), setting.names(model)
    if name in live:
        return name
    if name in names:
        sentence = (
            f"{name} cannot be changed at run time; set it in the config file, or as "
            f"{setting.PREFIX}{name.upper().replace('.', '__')} in the environment"
        )
        raise ConfigError(sentence, problems=[(name, sentence)])
    known = [*live, *names]
    close = difflib.get_close_matches(name, [*known, *(one.rpartition(".")[2] for one in live)], n=1)
    meant = next((one for one in known if close and (one == close[0] or one.endswith(f".{close[0]}"))), "")
    instead = f"did you mean {meant}?" if meant else f"live settings: {', '.join(live)}"
    sentence = f"unknown setting {name}; {instead}"
    raise ConfigError(sentence, problems=[(name, sentence)])
