"""The tables that a platform's documents fill: columns, keys and link tables, declared and never guessed.

A kind's table has a row for each of its documents. What of a body has no column lands in `extra`, so that a field which
the platform adds later breaks nothing; a column stays when no document has a value for it.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping
from functools import cached_property
from typing import Final

from msgspec import Struct

from ghcrawl.platforms.columns import ACCOUNTS, AFTER, BEFORE, KEY, POSITION, SEEN_AT, Column, ordered, owned_by
from ghcrawl.platforms.questions import Question
from ghcrawl.values.jsontext import JsonObject
from ghcrawl.values.type_names import TypeName

PAGE_ROWS: Final = 1_000
"""Positions that each page of a relation has, more than it has elements: they sort as the list does, with gaps."""
_PAGE: Final = re.compile(r"(?P<list>.+?)(?::(?P<generation>\d{8}T\d{9}Z))?:page:(?P<page>\d+)(?::(?P<new>new))?")


class LinkTable(Struct, frozen=True, kw_only=True):
    """Rows for what a document holds several of: one for each element of the array at `path`, in its order.

    rows: makes the elements where they are no array. link: they are what this link of the document names, as `value`.
    Its key is the owner's URN and the position.
    """

    name: str
    path: tuple[str, ...]
    columns: tuple[Column, ...]
    rows: Callable[[JsonObject], Iterable[JsonObject]] | None = None
    link: str = ""

    @property
    def key(self) -> tuple[str, ...]:
        """Its primary key."""
        return (self.columns[0].name, "position")


class Table(Struct, frozen=True, kw_only=True):
    """The table of one kind, or of several that are told apart by the column `type`.

    known: the names in a body that have a column, a link table, or are left out on purpose; others go to `extra`.
    people: where in a body accounts are named. everything_known: the names in its body are data, and none is new.
    always: written although other types are selected, since questions name its rows.
    pages_of: of a relation, how the URN of its list ends. Its documents are pages of the list, and have a row for each
    element; the first column is the link to what the list belongs to.
    """

    platform: str
    name: str
    kinds: frozenset[str]
    columns: tuple[Column, ...]
    known: frozenset[str]
    links: tuple[LinkTable, ...] = ()
    people: tuple[tuple[str, ...], ...] = ()
    everything_known: bool = False
    always: bool = False
    pages_of: str = ""

    @property
    def types(self) -> frozenset[TypeName]:
        """The types whose documents it is filled from."""
        return frozenset(TypeName(self.platform, kind) for kind in self.kinds)

    @property
    def key(self) -> tuple[str, ...]:
        """Its primary key."""
        return (self.columns[0].name, "position") if self.pages_of else (KEY,)


class Page(Struct, frozen=True):
    """A page of a relation, by its URN. generation: of which pagination; empty where its platform has none."""

    list: str
    generation: str
    position: int

    @classmethod
    def read(cls, urn: str, table: Table) -> Page | None:
        """None for a list that is another than the table's, such as one that was asked for with a filter."""
        found = _PAGE.fullmatch(urn)
        if found is None or not found["list"].endswith(table.pages_of):
            return None
        new = PAGE_ROWS // 2 if found["new"] else 0
        return cls(found["list"], found["generation"] or "", PAGE_ROWS * (int(found["page"]) - 1) + new)


class Schema(Struct, frozen=True, kw_only=True, dict=True):
    """All tables of a platform. version: raised when a column is added, renamed, or means something else."""

    version: int
    tables: tuple[Table, ...] = ()
    questions: tuple[Question, ...] = ()

    @cached_property
    def by_kind(self) -> Mapping[TypeName, Table]:
        """The table of each kind."""
        return {type: table for table in self.tables for type in table.types}

    @property
    def everything(self) -> tuple[Table | LinkTable, ...]:
        """Every table, each followed by its link tables; `accounts` is the first."""
        linked: list[Table | LinkTable] = [ACCOUNT_TABLE]
        for table in self.tables:
            linked += [table, *table.links]
        return tuple(linked)


ACCOUNT_TABLE: Final = LinkTable(
    name=ACCOUNTS,
    path=(),
    columns=(
        Column(name="id", type="integer"),
        Column(name="login", type="text"),
        Column(name="type", type="text"),
        Column(name="html_url", type="text"),
        Column(name=SEEN_AT, type="timestamp"),
    ),
)


def together(schemas: Iterable[Schema]) -> Schema:
    """The tables of several platforms as one schema; it is as new as all of them. Their names must differ."""
    found = tuple(schemas)
    names = [table.name for each in found for table in each.everything[1:]]
    twice = sorted({name for name in names if names.count(name) > 1})
    assert not twice, f"two platforms have tables of one name: {', '.join(twice)}"
    return Schema(
        version=sum(each.version for each in found),
        tables=tuple(table for each in found for table in each.tables),
        questions=tuple(question for each in found for question in each.questions),
    )


NO_TABLES: Final = Schema(version=0)
"""Of a platform without tables."""


def primary_key(table: Table | LinkTable) -> tuple[str, ...]:
    """The columns of the primary key."""
    return ("id",) if table is ACCOUNT_TABLE else table.key


def table(
    platform: str,
    kind: str,
    *own: Column,
    name: str = "",
    links: tuple[LinkTable, ...] = (),
    people: tuple[tuple[str, ...], ...] = (),
    left_out: str = "",
) -> Table:
    """The table of one kind: `own` between the columns that all kinds have.

    name: `PLATFORM_KINDs` unless given. links, people: as in `Table`. left_out: names in a body that have no column on
    purpose, separated by spaces; all others go to `extra`.
    """
    read = {column.path[0] for column in own if column.source == "body"}
    return Table(
        platform=platform,
        name=name or f"{platform}_{kind}s",
        kinds=frozenset({kind}),
        columns=(*BEFORE, *ordered(own), *AFTER),
        known=frozenset({*read, *(link.path[0] for link in links if link.path), *left_out.split()}),
        links=links,
        people=people,
    )


def several(owner: str, table: str, name: str, path: str, *own: Column, link: str = "") -> LinkTable:
    """The link table `TABLE_NAME` of what stands at `path` in a body, or behind `link`. owner: of a row, `post`."""
    at = tuple(path.split(".")) if path else ()
    return LinkTable(name=f"{table}_{name}", path=at, columns=(owned_by(owner, table), POSITION, *own), link=link)


def relation(  # as `table`, and which list
    platform: str, kind: str, owner: Column, *own: Column, name: str, pages_of: str, left_out: str = ""
) -> Table:
    """The table of a relation's pages, see `Table.pages_of`. left_out: as in `table`; empty: all that has no column."""
    return Table(
        platform=platform,
        name=name,
        kinds=frozenset({kind}),
        columns=(owner, POSITION, *ordered(own), *AFTER[1:]),
        known=frozenset({*(column.path[0] for column in own if column.source == "body"), *left_out.split()}),
        people=tuple(("elements", *each.path[:-1]) for each in own if each.references == f"{ACCOUNTS}.id"),
        everything_known=not left_out,
        pages_of=pages_of,
    )
