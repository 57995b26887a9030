"""Converts documents to rows of the SQLite file and back, and defines their schema.

`documents` holds what look-ups need and touches change, in rows of a few hundred bytes. `bodies` holds the JSON,
deflated to a quarter of its size in 40 µs per document; texts of older versions are plain until they are saved again.
`urls` maps each URL to the documents that claim it; the strongest claim wins. The view `saved_documents` is for users
who write SQL: its columns are stable.
"""

from __future__ import annotations

import zlib
from collections.abc import Mapping
from datetime import datetime
from typing import Final, NamedTuple

from ghcrawl.embedded.file import Row, restored, storable
from ghcrawl.ports.store import Stored
from ghcrawl.values.documents import Document, Link, Validator
from ghcrawl.values.forms import Forms, forms_json, forms_of
from ghcrawl.values.times import moment, time_text
from ghcrawl.values.type_names import LEGACY_PLATFORM, TypeName
from stores.jsontext import from_text, to_text
from stores.precedence import StoredState

SCHEMA: Final = (
    """CREATE TABLE documents (
        id INTEGER PRIMARY KEY,
        urn TEXT NOT NULL UNIQUE,
        platform TEXT NOT NULL,
        type TEXT NOT NULL,
        url TEXT NOT NULL,
        precedence TEXT NOT NULL,
        digest TEXT NOT NULL,
        version INTEGER NOT NULL,
        observed_at TEXT NOT NULL,
        checked_at TEXT NOT NULL,
        processed_at TEXT NOT NULL,
        deleted_at TEXT,
        validator TEXT,
        visits TEXT,
        link_header TEXT,
        aliases TEXT,
        forms TEXT
    )""",
    "CREATE INDEX documents_by_type ON documents (platform, type, urn, deleted_at)",
    "CREATE TABLE bodies (id INTEGER PRIMARY KEY, meta TEXT NOT NULL, body TEXT NOT NULL)",
    """CREATE TABLE urls (
        url TEXT NOT NULL,
        id INTEGER NOT NULL,
        strength TEXT NOT NULL,
        PRIMARY KEY (url, id)
    ) WITHOUT ROWID""",
    """CREATE VIEW whole_documents AS
        SELECT urn, platform, type, url, digest, version, observed_at, checked_at, processed_at, validator, visits,
            deleted_at, forms, precedence, link_header, aliases, meta, body, id
        FROM documents JOIN bodies USING (id)""",
    "CREATE TABLE state (name TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID",
    "CREATE INDEX documents_by_processing ON documents (processed_at)",
    """CREATE VIEW saved_documents AS
        SELECT platform, type, urn, url, substr(precedence, 1, instr(precedence, '|') - 1) AS changed_at, observed_at,
            checked_at, processed_at, deleted_at
        FROM documents""",
)

MIGRATION: Final = (
    f"ALTER TABLE documents ADD COLUMN platform TEXT NOT NULL DEFAULT '{LEGACY_PLATFORM}'",
    "DROP INDEX documents_by_type",
    SCHEMA[1],
    "DROP VIEW whole_documents",
    SCHEMA[4],
)
"""Adds the platform to older files, in which documents had only a type."""
PROCESSING: Final = (SCHEMA[6],)
"""Adds the index on `processed_at` to older files, for incremental reads."""
FORMS: Final = ("ALTER TABLE documents ADD COLUMN forms TEXT", "DROP VIEW whole_documents", SCHEMA[4])
"""Adds the forms in which a document was seen. The documents in older files have none."""
DEFLATED: Final = (SCHEMA[7],)
"""Adds the view `saved_documents`. The new schema version keeps older programs from reading deflated bodies."""
DEFLATED_FROM: Final = 1_000
"""Characters. Shorter texts are stored uncompressed: halving them would take a twentieth of the CPU time of a turn."""
LEVEL: Final = 3
WINDOW_BITS: Final = 13
MEMORY_LEVEL: Final = 6
"""Limits the compressor to 64 KiB. Larger allocations are mapped and unmapped each time, which takes longer than the
compression."""
STORED: Final = 13
"""Columns of `whole_documents` that a look-up reads."""


class DocumentRow(NamedTuple):
    """The columns of a document as SQL parameters. Empty JSON is None."""

    urn: str | bytes
    platform: str | bytes
    type: str | bytes
    url: str | bytes
    precedence: str | bytes
    digest: str | bytes
    version: int
    observed_at: str
    checked_at: str
    processed_at: str
    deleted_at: str | None
    validator: str | None
    visits: str | None
    link_header: str | None
    aliases: str | None
    forms: str | None
    meta: str | bytes
    body: str | bytes


def row_of(document: Document) -> DocumentRow:
    """The row of a document that was just fetched. Raises Unstorable for a body that is not JSON."""
    urn, fetched_at = document.urn, time_text(document.fetched_at)
    meta = {
        "links": {name: link.to_json() for name, link in document.links.items()},
        "root": document.root,
        "origin": document.origin,
        "fetched_at": fetched_at,
        "deleted_reason": document.deleted_reason,
    }
    return DocumentRow(
        urn=storable(urn),
        platform=storable(document.platform),
        type=storable(document.type),
        url=storable(document.url),
        precedence=storable(document.precedence),
        digest=storable(document.digest),
        version=document.version,
        observed_at=time_text(document.observed_at),
        checked_at=fetched_at,
        processed_at=time_text(document.processed_at),
        deleted_at=None if document.deleted_at is None else time_text(document.deleted_at),
        validator=validator_text(document.validator),
        visits=visits_text(document.visits),
        link_header=to_text(dict(document.link_header), urn) if document.link_header else None,
        aliases=aliases_text(document.aliases),
        forms=forms_text(document.forms),
        meta=_packed(to_text(meta, urn)),
        body=_packed(to_text(document.body, urn)),
    )


def kept_of(row: DocumentRow, held: StoredState) -> DocumentRow:
    """The row with the columns that `held` holds replaced."""
    return row._replace(
        url=storable(held.url),
        precedence=storable(held.precedence),
        observed_at=time_text(held.observed_at),
        checked_at=time_text(held.checked_at),
        digest=storable(held.digest),
        validator=validator_text(held.validator),
        visits=visits_text(held.visits),
        aliases=aliases_text(held.aliases),
        forms=forms_text(held.forms),
    )


def held_of(row: Row) -> StoredState:
    """Read the columns of `documents` that a save compares or changes."""
    url, precedence, observed_at, checked_at, digest, version, deleted_at, validator, visits, link, aliases, forms = row
    return StoredState(
        url=restored(url),
        changed_at=restored(precedence).rpartition("|")[0],
        observed_at=moment(observed_at),
        checked_at=moment(checked_at),
        digest=restored(digest),
        version=version,
        deleted=deleted_at is not None,
        link_header=links_of(link),
        validator=None if validator is None else Validator.from_json(from_text(validator)),
        visits=visits_of(visits),
        aliases=aliases_of(aliases),
        forms=forms_of_text(forms),
    )


def stored_of(row: Row) -> Stored:
    """Read the first columns of `whole_documents`, up to `forms`."""
    urn, platform, type, url, digest, version, observed_at, checked_at, processed_at, *rest = row
    validator, visits, deleted_at, forms = rest
    return Stored(
        urn=restored(urn),
        type_name=TypeName(restored(platform), restored(type)),
        url=restored(url),
        digest=restored(digest),
        version=version,
        observed_at=moment(observed_at),
        checked_at=moment(checked_at),
        processed_at=moment(processed_at),
        validator=None if validator is None else Validator.from_json(from_text(validator)),
        visits=visits_of(visits),
        deleted_at=None if deleted_at is None else moment(deleted_at),
        forms=forms_of_text(forms),
    )


def document_of(row: Row) -> Document:
    """Read a row of `whole_documents`."""
    stored = stored_of(row[:STORED])
    precedence, link_header, aliases, meta_text, body, _ = row[STORED:]
    meta = from_text(_unpacked(meta_text))
    return Document(
        platform=stored.type_name.platform,
        type=stored.type_name.name,
        url=stored.url,
        urn=stored.urn,
        body=from_text(_unpacked(body)),
        links={name: Link.from_json(link) for name, link in meta["links"].items()},
        observed_at=stored.observed_at,
        fetched_at=moment(meta["fetched_at"]),
        processed_at=stored.processed_at,
        version=stored.version,
        digest=stored.digest,
        changed_at=restored(precedence).rpartition("|")[0],
        validator=stored.validator,
        link_header=links_of(link_header),
        root=meta["root"],
        origin=meta["origin"],
        aliases=aliases_of(aliases),
        visits=stored.visits,
        deleted_at=stored.deleted_at,
        deleted_reason=meta["deleted_reason"],
        forms=stored.forms,
    )


def validator_text(validator: Validator | None) -> str | None:
    """The value of the column `validator`."""
    return None if validator is None else to_text(validator.to_json(), "validator")


def forms_text(forms: Forms) -> str | None:
    """The value of the column `forms`."""
    return to_text(forms_json(forms), "forms") if forms else None


def forms_of_text(text: str | None) -> Forms:
    """The inverse of `forms_text`."""
    return forms_of(from_text(text)) if text else {}


def _packed(text: str) -> str | bytes:
    if len(text) < DEFLATED_FROM:
        return text
    compressor = zlib.compressobj(LEVEL, wbits=WINDOW_BITS, memLevel=MEMORY_LEVEL)
    return compressor.compress(text.encode()) + compressor.flush()


def _unpacked(value: str | bytes) -> str:
    return value if isinstance(value, str) else zlib.decompress(value).decode()


def visits_text(visits: Mapping[str, datetime]) -> str | None:
    """The value of the column `visits`."""
    return to_text({policy: time_text(at) for policy, at in visits.items()}, "visits") if visits else None


def visits_of(text: str | None) -> Mapping[str, datetime]:
    """The inverse of `visits_text`."""
    if text is None:
        return {}
    return {policy: moment(at) for policy, at in from_text(text).items()}


def links_of(text: str | None) -> Mapping[str, str]:
    """Read the column `link_header`."""
    return from_text(text) if text else {}


def aliases_text(aliases: tuple[str, ...]) -> str | None:
    """The value of the column `aliases`."""
    return to_text(aliases, "aliases") if aliases else None


def aliases_of(text: str | None) -> tuple[str, ...]:
    """The inverse of `aliases_text`."""
    return tuple(from_text(text)) if text else ()
