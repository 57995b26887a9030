"""How a request is to be answered: fetch mode × freshness × position in the visitor map.

A spec is `name[:[scenario/]map[@path]]`: `default`, `reload:team`, `refresh:repo@/issues`; `refresh:issues/` names a
scenario and leaves the map to the kind of thing. Besides the names below, any pair may be written out as
`fetch+freshness`: `mutables+7d` asks the platform for everything that was processed more than seven days ago.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from datetime import datetime, timedelta
from enum import StrEnum
from functools import lru_cache
from typing import Final, NamedTuple

from msgspec import Struct

from ghcrawl.values.errors import PolicyError
from ghcrawl.values.frozen import replace


class Fetch(StrEnum):
    """Where a body may come from."""

    STORAGE_ONLY = "storageOnly"
    """Only our own copy; what we do not hold is skipped."""
    ORIGIN_STORAGE = "originStorage"
    """Ask the platform whether our copy is current; take what is newer."""
    STORAGE_ORIGIN_IF_MISSING = "storageOriginIfMissing"
    """Our own copy, and the platform for what we do not hold."""
    MUTABLES = "mutables"
    """`originStorage` for what can change, `storageOriginIfMissing` for what cannot (commits)."""
    ORIGIN_ONLY = "originOnly"
    """The platform, unconditionally."""


class Freshness(StrEnum):
    """When a body is processed and saved rather than only traversed."""

    ALWAYS = "always"
    MATCH = "match"
    """Unless our copy is current."""
    VERSION = "version"
    """If our copy was made by an older processor."""
    MATCH_OR_VERSION = "matchOrVersion"
    DAYS = "days"
    """If our copy was checked more than N days ago; a younger one is not even asked about."""


class Modes(NamedTuple):
    """What the name of a policy stands for.

    complete: lists are read from end to end even where one could ask for what has changed: what is gone shows so.
    insists: there is a reason to think that a thing may be there, so a remembered refusal of it does not stand.
    """

    fetch: Fetch
    freshness: Freshness
    days: int = 0
    complete: bool = False
    insists: bool = False


NAMED: Final[dict[str, Modes]] = {
    "default": Modes(Fetch.MUTABLES, Freshness.MATCH),
    "event": Modes(Fetch.MUTABLES, Freshness.MATCH, insists=True),
    "refresh": Modes(Fetch.MUTABLES, Freshness.MATCH),
    "audit": Modes(Fetch.MUTABLES, Freshness.MATCH, complete=True, insists=True),
    "reload": Modes(Fetch.ORIGIN_STORAGE, Freshness.MATCH),
    "reprocess": Modes(Fetch.STORAGE_ONLY, Freshness.VERSION),
    "reprocessAndDiscover": Modes(Fetch.STORAGE_ORIGIN_IF_MISSING, Freshness.VERSION),
    "reprocessAndUpdate": Modes(Fetch.MUTABLES, Freshness.MATCH_OR_VERSION),
    "always": Modes(Fetch.ORIGIN_ONLY, Freshness.ALWAYS),
    "reprocessAlways": Modes(Fetch.STORAGE_ONLY, Freshness.ALWAYS),
}

_SPEC = re.compile(
    r"(?P<name>[A-Za-z]+(?:\+\w+)?)(?::(?=\w)(?:(?P<scenario>\w+)/)?(?:(?P<map>\w+)(?:@(?P<path>/[\w/]+))?)?)?"
)
_DAYS = re.compile(r"(\d{1,5})d")


class Policy(Struct, frozen=True, kw_only=True):
    """A spec, read.

    map: empty until the request's kind chooses one (`placed`). days, complete, insists: as in `Modes`.
    path: position below the map's root, as link names.
    """

    name: str
    fetch: Fetch
    freshness: Freshness
    days: int = 0
    complete: bool = False
    insists: bool = False
    scenario: str = ""
    map: str = ""
    path: tuple[str, ...] = ()

    @property
    def spec(self) -> str:
        """The text that `parse` reads back into this value."""
        if not self.map:
            return f"{self.name}:{self.scenario}/" if self.scenario else self.name
        scenario = f"{self.scenario}/" if self.scenario else ""
        path = "@/" + "/".join(self.path) if self.path else ""
        return f"{self.name}:{scenario}{self.map}{path}"

    def placed(self, position: str) -> Policy:
        """The same policy at `position` (`repo`, `repo@/issues`) where the spec named none."""
        if self.map:
            return self
        name, _, path = position.partition("@")
        return self.at(name, tuple(step for step in path.split("/") if step))

    def named(self, name: str) -> Policy:
        """At the same position, with the modes of another name. Raises SpecError."""
        return replace(self, name=name, **_modes(name)._asdict())

    def stands_where(self, specs: Iterable[str]) -> bool:
        """Whether one of `specs` is at this policy's position, with any fetch mode and freshness."""
        return self.spec.partition(":")[2] in {spec.partition(":")[2] for spec in specs}

    def at(self, map_name: str, path: tuple[str, ...] = ()) -> Policy:
        """The same policy at another position."""
        return replace(self, map=map_name, path=path)

    def mode(self, *, immutable: bool) -> Fetch:
        """The fetch mode with `mutables` decided."""
        if self.fetch is not Fetch.MUTABLES:
            return self.fetch
        return Fetch.STORAGE_ORIGIN_IF_MISSING if immutable else Fetch.ORIGIN_STORAGE

    def young(self, checked_at: datetime, now: datetime) -> bool:
        """Whether a copy checked at `checked_at` is too young to ask about (day freshness only)."""
        return self.freshness is Freshness.DAYS and now - checked_at < timedelta(days=self.days)

    def processes(self, *, current: bool, stored_version: int | None, version: int) -> bool:
        """Whether a body is processed and saved, or only traversed.

        current: our copy is what the platform has, as far as anyone asked.
        stored_version: the processor version of our copy; None where we hold none.
        """
        if stored_version is None:
            return True
        match self.freshness:
            case Freshness.ALWAYS:
                return True
            case Freshness.VERSION:
                return stored_version < version
            case Freshness.MATCH_OR_VERSION:
                return not current or stored_version < version
            case Freshness.MATCH | Freshness.DAYS:
                return not current


@lru_cache(maxsize=4096)
def parse(spec: str) -> Policy:
    """The policy that `spec` writes. Raises PolicyError."""
    match = _SPEC.fullmatch(spec)
    if match is None:
        raise PolicyError(f"{spec!r} is not a policy; write name[:[scenario/]map[@path]], for example refresh:repo")
    path = tuple(step for step in (match["path"] or "").split("/") if step)
    return Policy(
        name=match["name"],
        **_modes(match["name"])._asdict(),
        scenario=match["scenario"] or "",
        map=match["map"] or "",
        path=path,
    )


def _modes(name: str) -> Modes:
    if name in NAMED:
        return NAMED[name]
    fetch, plus, freshness = name.partition("+")
    try:
        mode = Fetch(fetch)
        if days := _DAYS.fullmatch(freshness):
            return Modes(mode, Freshness.DAYS, int(days[1]))
        if plus and freshness != Freshness.DAYS:
            return Modes(mode, Freshness(freshness))
    except ValueError:
        pass
    raise PolicyError(
        f"unknown policy {name!r}; known policies: {', '.join(NAMED)}, and combinations such as mutables+7d"
    )
