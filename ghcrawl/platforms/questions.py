"""Questions that people ask of a platform's tables, as SQL that every database takes."""

from __future__ import annotations

import re
from collections.abc import Callable
from datetime import datetime
from typing import Final

from msgspec import Struct

_READ: Final = re.compile(r"\b(?:FROM|JOIN) (\w+)")
NOW: Final = "(SELECT written_at FROM _ghcrawl)"
"""When the run started that wrote the tables last."""


def text_literal(value: str) -> str:
    """`value` in SQL of any dialect."""
    return "'" + value.replace("'", "''") + "'"


class Dialect(Struct, frozen=True, kw_only=True):
    """What a question is written with where databases differ; all but `literal` take SQL and make SQL.

    hours, days: from one timestamp to another, as a fraction. month: of a timestamp in UTC, `2026-11`.
    literal: a moment, to be compared with a timestamp.
    """

    hours: Callable[[str, str], str]
    days: Callable[[str, str], str]
    month: Callable[[str], str]
    literal: Callable[[datetime], str]


class Asked(Struct, frozen=True, kw_only=True):
    """How a question is asked. within: name of the one thing that it is asked of; empty: of all.

    since: leave out what happened before. bots: count what bots did, too.
    """

    dialect: Dialect
    within: str = ""
    since: datetime | None = None
    bots: bool = False


class Question(Struct, frozen=True, kw_only=True):
    """A view: its name, what it answers, and how it is asked. within: the `table.column` that `Asked.within` names."""

    name: str
    about: str
    sql: Callable[[Asked], str]
    within: str = ""

    def view(self, dialect: Dialect) -> str:
        """The statement that makes the view."""
        return f"CREATE VIEW {self.name} AS {self.sql(Asked(dialect=dialect))}"

    def reads(self, dialect: Dialect) -> frozenset[str]:
        """The names behind FROM and JOIN: its tables, and what its SQL calls its parts."""
        return frozenset(_READ.findall(self.sql(Asked(dialect=dialect))))
