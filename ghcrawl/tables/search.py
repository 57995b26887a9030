"""What makes a SQLite file of tables useful at once: full-text search, and Datasette's metadata."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Collection, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Final

from ghcrawl.platforms.tables import LinkTable, Schema, Table
from ghcrawl.tables.target import STATE

_SEARCHED: Final = ("title", "full_name", "name", "login", "description", "message", "bio", "body")
_TELLING: Final = frozenset({"title", "full_name", "message", "body"})
"""A table is searched if it has one of these."""
_LABELS: Final = ("full_name", "title", "login", "tag_name", "name", "sha")
WRITTEN: Final = "ghcrawl_digest"
"""Of the rest of the metadata, tells whether a person changed it."""
FACETS: Final = 4
"""Columns of a table that Datasette counts the values of."""


def searched(table: Table | LinkTable) -> Sequence[str]:
    """Its columns with words in them; none for a table without full-text search."""
    names = {column.name for column in table.columns if column.type == "text"}
    found = [name for name in _SEARCHED if name in names]
    return found if isinstance(table, Table) and _TELLING & names else []


def search_tables(schema: Schema) -> Iterator[str]:
    """Statements that index what is there, and keep the index as rows change. Run once the tables are filled."""
    for table in schema.everything:
        names = searched(table)
        if not names:
            continue
        fts, listed = f"{table.name}_fts", ", ".join(names)
        new, old = (", ".join(f"{row}.{name}" for name in names) for row in ("new", "old"))
        forget = f"INSERT INTO {fts} ({fts}, rowid, {listed}) VALUES ('delete', old.rowid, {old});"
        add = f"INSERT INTO {fts} (rowid, {listed}) VALUES (new.rowid, {new});"
        yield f"CREATE VIRTUAL TABLE {fts} USING fts5({listed}, content='{table.name}')"
        yield f"INSERT INTO {fts} ({fts}) VALUES ('rebuild')"
        yield f"CREATE TRIGGER {fts}_added AFTER INSERT ON {table.name} BEGIN {add} END"
        yield f"CREATE TRIGGER {fts}_gone AFTER DELETE ON {table.name} BEGIN {forget} END"
        yield f"CREATE TRIGGER {fts}_changed AFTER UPDATE ON {table.name} BEGIN {forget} {add} END"


def metadata_beside(where: Path) -> Path:
    """`acme.sqlite` → `acme.metadata.json`."""
    return where.with_name(f"{where.stem}.metadata.json")


def metadata(where: Path, schema: Schema, empty: Collection[str]) -> str:
    """Datasette's metadata for the file `where`, as JSON. empty: names of tables that are not shown."""
    hidden = {"hidden": True}
    tables = {table.name: _described(table) | (hidden if table.name in empty else {}) for table in schema.everything}
    views = {question.name: {"description": question.about} for question in schema.questions}
    databases = {where.stem: {"tables": {**tables, **views, STATE: hidden}}}
    about = {"title": f"{where.stem}, crawled by ghcrawl", "databases": databases}
    return json.dumps({**about, WRITTEN: _digest(about)}, indent=1, ensure_ascii=False)


def is_ours(path: Path) -> bool:
    """Whether `path` is as `metadata` wrote it, or missing."""
    try:
        found = json.loads(path.read_text(encoding="utf-8"))
        return bool(found.pop(WRITTEN, "") == _digest(found))
    except FileNotFoundError:
        return True
    except (OSError, ValueError, AttributeError):
        return False


def _digest(about: Mapping[str, Any]) -> str:
    return hashlib.sha256(json.dumps(about, sort_keys=True).encode()).hexdigest()[:16]


def _described(table: Table | LinkTable) -> dict[str, Any]:
    names = [column.name for column in table.columns]
    label = next((name for name in _LABELS if name in names), None)
    facts: dict[str, Any] = {"label_column": label} if label else {}
    if searched(table):
        facts |= {"fts_table": f"{table.name}_fts", "fts_pk": "rowid"}
    if "created_at" in names:
        facts["sort_desc"] = "created_at"
    if facets := [column.name for column in table.columns if column.is_enum]:
        facts["facets"] = facets[:FACETS]
    facts["columns"] = {column.name: column.description for column in table.columns if column.description}
    return facts
