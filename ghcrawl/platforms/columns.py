"""Columns of tables: what each is called, where its values come from, and in which order they stand."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final, Literal, TypeAlias

from msgspec import Struct

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
_ENUMS: Final = frozenset(
    {
        *("state", "state_reason", "status", "conclusion", "type", "event", "action", "draft", "merged"),
        *("visibility", "privacy", "permission", "language", "author_association", "severity", "side", "environment"),
        *("author_type", "object_type", "content_type", "subject_type"),
    }
)
_IDS: Final = ("id", "number", "sha", "uri", "did")
_NAMES: Final = ["name", "full_name", "login", "title", "tag_name", "slug", "handle", "acct", "display_name"]
_LONG: Final = ["body", "message", "content", "text", "note", "description", "diff_hunk", "body_html", "body_text"]


class Column(Struct, frozen=True, kw_only=True):
    """One column. references: `table.column` that its values are found in, if that was crawled. about: what it says."""

    name: str
    type: ColumnType
    source: Source = "body"
    path: tuple[str, ...] = ()
    references: str = ""
    about: str = ""

    @property
    def description(self) -> str:
        """What it says, or the path of the field that it shows; empty where its name says that."""
        if self.source == "body" and not self.about:
            return f"`{'.'.join(self.path)}`" if self.path != (self.name,) else ""
        return self.about

    @property
    def is_enum(self) -> bool:
        """Whether it has few different values."""
        return self.name in _ENUMS and self.type == "text"


BEFORE: Final = (Column(name=KEY, type="text", source="document", path=("urn",), about="its name in ghcrawl"),)
AFTER: Final = (
    Column(name="url", type="text", source="document", path=("url",), about="URL in the API"),
    Column(name=SEEN_AT, type="timestamp", source="document", path=("observed_at",), about="when the row was true"),
    Column(
        name="_deleted_at", type="timestamp", source="document", path=("deleted_at",), about="since when it is gone"
    ),
    Column(name="_deleted_reason", type="text", source="document", path=("deleted_reason",), about="how that is known"),
    Column(name="extra", type="json", source="document", path=("extra",), about="fields without a column"),
    Column(name="_body", type="json", source="document", path=("body",), about="the whole body, with --bodies"),
)
"""What every kind's table ends with."""
POSITION: Final = Column(
    name="position",
    type="integer",
    source="document",
    path=("position",),
    about="order, from 0; pages of lists leave gaps",
)


def ordered(columns: Iterable[Column]) -> tuple[Column, ...]:
    """Ids, names, what it is part of, states, people, times; then all others, long text and JSON last."""
    return tuple(sorted(columns, key=_rank))


def _rank(column: Column) -> int:
    name = column.name
    tests = (
        name in _IDS,
        name in _NAMES,
        column.source in ("above", "above_name"),
        name in _ENUMS,
        column.references.startswith(f"{ACCOUNTS}.") or name.endswith("_login"),
        column.type == "timestamp",
        column.source in ("link", "made"),
        column.type not in ("text", "json"),
        column.type == "text" and name not in _LONG,
        column.type == "text",
    )
    return next((rank for rank, holds in enumerate(tests) if holds), len(tests))


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
    return Column(
        name=f"{owner}_urn",
        type="text",
        source="document",
        path=("urn",),
        references=f"{table}.{KEY}",
        about="whose it is",
    )


def made(name: str, template: str, references: str) -> Column:
    """A URN that is made of the element and the ancestors of its owner."""
    return Column(name=name, type="text", source="made", path=(template,), references=references)


def linked(name: str, link: str, references: str) -> Column:
    """A URN that the document's own link names."""
    return Column(name=name, type="text", source="link", path=(link,), references=references)
