"""Types in text: `issue` where only one platform has a type of that name, else `mastodon/status`."""

from __future__ import annotations

import difflib
from collections.abc import Collection, Iterable, Mapping
from typing import Final, NamedTuple

from ghcrawl.values.errors import SpecError

LEGACY_PLATFORM: Final = "github"
"""The platform of all stored data that names none: it was written when there was only one."""
MAX_LISTED = 8
"""Names in an error message."""


class TypeName(NamedTuple):
    """A type of one platform: what documents and requests are counted, filtered and stored by.

    platform: as `Platform.name`, without a slash.
    """

    platform: str
    name: str

    def __str__(self) -> str:
        """`mastodon/status`: unambiguous. `ghcrawl.values.type_names` leaves out what is clear."""
        return f"{self.platform}/{self.name}"


def suggestion(text: str, known: Collection[str], *, of: str = "types") -> str:
    """What may have been meant by a name that is unknown; without a similar one, the first of those that are known."""
    close = difflib.get_close_matches(text, known, n=1)
    if close:
        return f"did you mean {close[0]}?"
    more = f" and {len(known) - MAX_LISTED} more" if len(known) > MAX_LISTED else ""
    return f"known {of}: {', '.join([*known][:MAX_LISTED])}{more}"


class TypeNames:
    """The types that are known somewhere, in text. Both forms can be read, wherever a type is asked for."""

    def __init__(self, known: Iterable[TypeName]) -> None:
        self._named: dict[str, list[TypeName]] = {}
        for type in frozenset(known):
            for text in (type.name, str(type)):
                self._named.setdefault(text, []).append(type)

    def text(self, type: TypeName) -> str:
        """The shortest form that is unambiguous here."""
        return str(type) if len(self._named.get(type.name, ())) > 1 else type.name

    def shown(self, counts: Mapping[TypeName, int]) -> dict[str, int]:
        """`counts` by text."""
        return {self.text(type): count for type, count in counts.items()}

    def read(self, text: str, platforms: Collection[str] = ()) -> TypeName | None:
        """The type that `text` names, of one of `platforms` if any are given; None: it is unknown here.

        Raises SpecError for a name that several have.
        """
        named = self._named.get(text, ())
        found = sorted(type for type in named if not platforms or type.platform in platforms)
        if len(found) > 1:
            raise SpecError(f"{text} is ambiguous; there are {', '.join(map(str, found))}")
        return found[0] if found else None
