"""The tables that a platform's documents fill: columns, keys and link tables, declared and never guessed.

A kind's table has a row for each of its documents. What of a body has no column lands in `extra`, so that a field which
the platform adds later breaks nothing; a column stays when no document has a value for it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from functools import cached_property
from typing import Final, Literal, TypeAlias

from msgspec import Struct

from ghcrawl.platforms.questions import Question
from ghcrawl.values.jsontext import JsonObject
from ghcrawl.values.type_names import TypeName

ColumnType: TypeAlias = Literal["text", "integer", "real", "boolean", "timestamp", "json"]
Source: TypeAlias = Literal["body", "link", "above", "above_name", "made", "document"]
"""Where a value comes from.

body: at `path` in the body, or in the element of a link table. link: URN that the document's link `path[0]` names.
above: URN of the ancestor of kind `path[0]`. above_name: what that ancestor is called below its own parent.
made: `path[0]` is a template of a URN: `{repo}` is the ancestor's URN, any other field is taken from the element.
document: the field `path[0]` of the document itself.
"""
KEY: Final = "urn"
ACCOUNTS: Final = "accounts"
"""The table of all accounts that documents name, so that every `…_id` of a person resolves."""
SEEN_AT: Final = "_observed_at"
"""The column that says when a row was true."""


class Column(Struct, frozen=True, kw_only=True):
    """One column. references: `table.column` that its values are found in, if that was crawled."""

    name: str
    type: ColumnType
    source: Source = "body"
    path: tuple[str, ...] = ()
    references: str = ""


class LinkTable(Struct, frozen=True, kw_only=True):
    """Rows for what a document holds several of: one for each element of the array at `path`, in its order.

    rows: makes the elements where they are no array. Its key is the owner's URN and the position.
    """

    name: str
    path: tuple[str, ...]
    columns: tuple[Column, ...]
    rows: Callable[[JsonObject], Iterable[JsonObject]] | None = None

    @property
    def key(self) -> tuple[str, ...]:
        """Its primary key."""
        return (self.columns[0].name, "position")


class Table(Struct, frozen=True, kw_only=True):
    """The table of one kind, or of several that are told apart by the column `type`.

    known: the names in a body that have a column, a link table, or are left out on purpose; others go to `extra`.
    people: where in a body accounts are named. everything_known: the names in its body are data, and none is new.
    always: written although other types are selected, since questions name its rows.
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

    @property
    def key(self) -> tuple[str, ...]:
        """Its primary key."""
        return (KEY,)


class Schema(Struct, frozen=True, kw_only=True, dict=True):
    """All tables of a platform. version: raised when a column is added, renamed, or means something else."""

    version: int
    tables: tuple[Table, ...] = ()
    questions: tuple[Question, ...] = ()

    @cached_property
    def by_kind(self) -> Mapping[TypeName, Table]:
        """The table of each kind."""
        return {TypeName(table.platform, kind): table for table in self.tables for kind in table.kinds}

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


BEFORE: Final = (
    Column(name=KEY, type="text", source="document", path=("urn",)),
    Column(name="url", type="text", source="document", path=("url",)),
)
AFTER: Final = (
    Column(name=SEEN_AT, type="timestamp", source="document", path=("observed_at",)),
    Column(name="_deleted_at", type="timestamp", source="document", path=("deleted_at",)),
    Column(name="_deleted_reason", type="text", source="document", path=("deleted_reason",)),
    Column(name="extra", type="json", source="document", path=("extra",)),
    Column(name="_body", type="json", source="document", path=("body",)),
)
"""What every kind's table ends with. `_body` is the whole body, where that was asked for."""
POSITION: Final = Column(name="position", type="integer", source="document", path=("position",))


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
        columns=(*BEFORE, *own, *AFTER),
        known=frozenset({*read, *(link.path[0] for link in links if link.path), *left_out.split()}),
        links=links,
        people=people,
    )


def columns(type: ColumnType, names: str) -> tuple[Column, ...]:
    """Columns from their names: `title`, or `commit_sha=commit.sha` for what stands deeper in the body."""
    pairs = (name.partition("=") for name in names.split())
    return tuple(Column(name=name, type=type, path=tuple((path or name).split("."))) for name, _, path in pairs)


def person(name: str, path: tuple[str, ...] | None = None) -> tuple[Column, Column]:
    """`user_id` and `user_login`."""
    at = (name,) if path is None else path
    return (
        Column(name=f"{name}_id", type="integer", path=(*at, "id"), references=f"{ACCOUNTS}.id"),
        Column(name=f"{name}_login", type="text", path=(*at, "login")),
    )


def owned_by(owner: str, table: str) -> Column:
    """The first column of a link table: whose row it is."""
    return Column(name=f"{owner}_urn", type="text", source="document", path=("urn",), references=f"{table}.{KEY}")


def made(name: str, template: str, references: str) -> Column:
    """A URN that is made of the element and the ancestors of its owner."""
    return Column(name=name, type="text", source="made", path=(template,), references=references)


def linked(name: str, link: str, references: str) -> Column:
    """A URN that the document's own link names."""
    return Column(name=name, type="text", source="link", path=(link,), references=references)
