"""Documents in the SQLite file, beside the queue. Readers never wait for writers."""

from __future__ import annotations

import asyncio
import sqlite3
from collections.abc import AsyncIterator, Mapping, Sequence
from typing import Final

from ghcrawl.embedded.file import Row, SqliteFile, restored, storable
from ghcrawl.embedded.writer import Work
from ghcrawl.ports.store import DocumentFilter, Saved, Stored, Touch, latest
from ghcrawl.values.documents import Document
from ghcrawl.values.errors import StoreError
from ghcrawl.values.jsontext import dumps
from ghcrawl.values.times import time_text
from ghcrawl.values.type_names import TypeName
from stores import precedence
from stores.jsontext import from_text, to_text
from stores.merging import merged, wants_body
from stores.sqlite.listing import all_of, conditions, listing, spans, within
from stores.sqlite.rows import (
    DEFLATED,
    FORMS,
    MIGRATION,
    PROCESSING,
    SCHEMA,
    DocumentRow,
    aliases_of,
    document_of,
    held_of,
    kept_of,
    row_of,
    stored_of,
    visits_of,
    visits_text,
)

__all__ = ["DEFLATED", "FORMS", "MIGRATION", "PROCESSING", "SCHEMA", "SqliteStore"]

LISTED_AT_ONCE: Final = 100
FEW_PROCESSED: Final = 20_000
"""Up to this many recent documents are found by the index of `processed_at`; for more, all documents are scanned."""

_HELD: Final = """
    SELECT id, url, precedence, observed_at, checked_at, digest, version, deleted_at, validator, visits, link_header,
        aliases, forms
    FROM documents WHERE urn = ?"""
_INSERT: Final = """
    INSERT INTO documents (urn, platform, type, url, precedence, digest, version, observed_at, checked_at, processed_at,
        deleted_at, validator, visits, link_header, aliases, forms)
    VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
    ON CONFLICT DO NOTHING"""
_INSERT_BODY: Final = "INSERT INTO bodies (id, meta, body) VALUES (?, ?, ?)"
_UPDATE: Final = """
    UPDATE documents SET platform = ?, type = ?, url = ?, precedence = ?, digest = ?, version = ?, observed_at = ?,
        checked_at = ?, processed_at = ?, deleted_at = ?, validator = ?, visits = ?, link_header = ?, aliases = ?,
        forms = ?
    WHERE id = ?"""
_UPDATE_BODY: Final = "UPDATE bodies SET meta = ?, body = ? WHERE id = ?"
_RECKON: Final = """
    UPDATE documents SET precedence = ?, observed_at = ?, checked_at = ?, validator = ?, visits = ?, aliases = ?,
        forms = ?
    WHERE id = ?"""
_CLAIM: Final = """
    INSERT INTO urls (url, id, strength) VALUES (?, ?, ?)
    ON CONFLICT DO UPDATE SET strength = excluded.strength WHERE excluded.strength > strength"""
_UNCLAIM: Final = "DELETE FROM urls WHERE url = ? AND id = ?"
_OLDER: Final = "SELECT id, url, aliases FROM documents WHERE urn >= ? AND urn < ?"
_TOUCHED: Final = "SELECT id, checked_at, visits FROM documents WHERE urn = ?"
_TOUCH: Final = """
    UPDATE documents SET checked_at = ?, visits = ?, validator = COALESCE(?, validator) WHERE id = ?"""

_LOOK_UP: Final = """
    SELECT urn, platform, type, documents.url, digest, version, observed_at, checked_at, processed_at, validator,
        visits, deleted_at, forms
    FROM urls CROSS JOIN documents USING (id)
    WHERE urls.url = ? AND platform = ? AND type = ? ORDER BY strength DESC, urn DESC LIMIT 1"""
"""CROSS JOIN makes SQLite read `urls` first; otherwise it walks all documents of the type by their index."""
_FIND: Final = """
    SELECT whole_documents.* FROM urls JOIN whole_documents USING (id)
    WHERE urls.url = ? ORDER BY platform, type, strength DESC, urn DESC"""
_GET: Final = "SELECT * FROM whole_documents WHERE urn = ?"
_COUNT_RECENT: Final = "SELECT COUNT(*) FROM (SELECT 1 FROM documents WHERE processed_at >= ? LIMIT ?)"
_RECENT: Final = """
    SELECT id FROM documents INDEXED BY documents_by_processing WHERE processed_at >= ? AND {} ORDER BY urn"""
_CHOSEN: Final = "SELECT * FROM whole_documents WHERE id IN (SELECT value FROM json_each(?)) ORDER BY urn"
_WRITE_STATE: Final = "REPLACE INTO state (name, value) VALUES (?, ?)"
_BEGIN_STATE: Final = "INSERT OR IGNORE INTO state (value, name) VALUES (?, ?)"
_SWAP_STATE: Final = "UPDATE state SET value = ? WHERE name = ? AND value = ?"
_COUNTS: Final = "SELECT platform, type, COUNT(*) FROM documents WHERE deleted_at IS NULL GROUP BY platform, type"


class SqliteStore:
    """The documents in `file`."""

    def __init__(self, file: SqliteFile) -> None:
        self._file = file

    # Writing

    async def save(self, document: Document, *, supersede: str = "") -> Saved:
        """As the port says, in one transaction."""
        return await self._file.write(self.saving(document, supersede=supersede), StoreError)

    def saving(self, document: Document, *, supersede: str = "") -> Work[Saved]:
        """Save, as part of a larger transaction. Raises Unstorable for a body that is not JSON."""
        row = row_of(document)

        def run(connection: sqlite3.Connection) -> Saved:
            saved = _save(connection, document, row)
            if supersede and saved != "stale":
                _remove(connection, *precedence.older_generations(document.urn, supersede))
            return saved

        return Work(run)

    async def touch(self, touch: Touch) -> None:
        """As the port says."""
        await self._file.write(self.touching(touch), StoreError)

    def touching(self, touch: Touch) -> Work[None]:
        """Touch, as part of a larger transaction."""
        validator = None if touch.validator is None else to_text(touch.validator.to_json(), touch.urn)
        checked_at = "" if touch.checked_at is None else time_text(touch.checked_at)

        def run(connection: sqlite3.Connection) -> None:
            held = connection.execute(_TOUCHED, (storable(touch.urn),)).fetchone()
            if held is not None:
                id, held_at, visits = held
                visits = visits_text(latest(visits_of(visits), {touch.policy: touch.visited_at}))
                connection.execute(_TOUCH, (max(held_at, checked_at), visits, validator, id))

        return Work(run)

    async def write_state(self, name: str, value: Mapping[str, object]) -> None:
        """As the port says."""
        row = (storable(name), to_text(dict(value), name))
        await self._file.write(Work(lambda connection: connection.execute(_WRITE_STATE, row).rowcount), StoreError)

    async def swap_state(self, name: str, before: Mapping[str, object] | None, after: Mapping[str, object]) -> bool:
        """As the port says, in one statement."""
        values: tuple[str | bytes, ...] = (to_text(dict(after), name), storable(name))
        sql = _BEGIN_STATE
        if before is not None:
            sql, values = _SWAP_STATE, (*values, to_text(dict(before), name))
        work = Work(lambda connection: connection.execute(sql, values).rowcount)
        return await self._file.write(work, StoreError) > 0

    # Reading

    async def read_state(self, name: str) -> Mapping[str, object] | None:
        """As the port says."""
        rows = self._file.rows("SELECT value FROM state WHERE name = ?", (storable(name),), StoreError)
        return from_text(rows[0][0]) if rows else None

    async def look_up(self, type: TypeName, url: str) -> Stored | None:
        """As the port says. Reads no body."""
        rows = self._file.rows(_LOOK_UP, (storable(url), *map(storable, type)), StoreError)
        return stored_of(rows[0]) if rows else None

    async def get(self, urn: str) -> Document | None:
        """As the port says. Lets other tasks run before each read."""
        await asyncio.sleep(0)
        rows = self._file.rows(_GET, (storable(urn),), StoreError)
        return document_of(rows[0]) if rows else None

    async def find(self, url: str) -> Sequence[Document]:
        """As the port says: of each type, the document that has this URL now."""
        first: dict[TypeName, Document] = {}
        for row in self._file.rows(_FIND, (storable(url),), StoreError):
            document = document_of(row)
            first.setdefault(document.type_name, document)
        return list(first.values())

    async def list(self, which: DocumentFilter) -> AsyncIterator[Document]:
        """As the port says. Reads a hundred at a time; documents saved meanwhile may be included or not."""
        recent = await self._recent(which)
        if recent is not None:
            for ids in (recent[at : at + LISTED_AT_ONCE] for at in range(0, len(recent), LISTED_AT_ONCE)):
                for row in await self._file.scan(_CHOSEN, (dumps(ids).decode(),), StoreError):
                    yield document_of(row)
            return
        for low, high in spans(which.scope):
            start = max(low, f"{which.after}\0") if which.after else low
            while rows := await self._page(which, start, high):
                for row in rows:
                    yield document_of(row)
                start = f"{restored(rows[-1][0])}\0"

    async def counts(self) -> Mapping[TypeName, int]:
        """As the port says."""
        rows = await self._file.scan(_COUNTS, (), StoreError)
        return {TypeName(restored(platform), restored(type)): count for platform, type, count in rows}

    async def _page(self, which: DocumentFilter, start: str, high: str | bytes) -> Sequence[Row]:
        """The next `LISTED_AT_ONCE` rows from `start` on, by URN."""
        rows: list[Row] = []
        for sql, parameters in listing(which, start, high):
            rows += await self._file.scan(sql, (*parameters, LISTED_AT_ONCE), StoreError)
        return sorted(rows, key=_by_urn)[:LISTED_AT_ONCE]

    async def _recent(self, which: DocumentFilter) -> Sequence[int] | None:
        """The ids of the documents that match `which`, by URN; None unless it asks for a few recently processed."""
        if which.processed_since is None:
            return None
        since = time_text(which.processed_since)
        ((count,),) = await self._file.scan(_COUNT_RECENT, (since, FEW_PROCESSED + 1), StoreError)
        if count > FEW_PROCESSED:
            return None
        sql, parameters = all_of([("urn > ?", (storable(which.after),)), *within(which.scope), *conditions(which)])
        return [id for (id,) in await self._file.scan(_RECENT.format(sql), (since, *parameters), StoreError)]


def _by_urn(row: Row) -> tuple[bool, str | bytes]:
    """The sort key of a row, as SQLite sorts: text before bytes."""
    return isinstance(row[0], bytes), row[0]


def _save(connection: sqlite3.Connection, document: Document, row: DocumentRow) -> Saved:
    inserted = connection.execute(_INSERT, row[:-2])
    if not inserted.rowcount:
        return _settle(connection, document, row)
    connection.execute(_INSERT_BODY, (inserted.lastrowid, row.meta, row.body))
    _claim(connection, inserted.lastrowid, dict.fromkeys((document.url, *document.aliases), _strength(row)))
    return "saved"


def _settle(connection: sqlite3.Connection, document: Document, row: DocumentRow) -> Saved:
    """Save over the stored document with the same URN."""
    id, *found = connection.execute(_HELD, (row.urn,)).fetchone()
    held = held_of(found)
    whole = document_of(connection.execute(_GET, (row.urn,)).fetchone()) if wants_body(held, document) else None
    done = merged(held, document, whole)
    if done.written is not None and whole is not None:
        row = row_of(done.written)
    row = kept_of(row, done.held)
    if done.written is not None:
        connection.execute(_UPDATE, (*row[1:-2], id))
        connection.execute(_UPDATE_BODY, (row.meta, row.body, id))
    else:
        kept = (row.precedence, row.observed_at, row.checked_at, row.validator, row.visits, row.aliases, row.forms)
        connection.execute(_RECKON, (*kept, id))
    _claim(connection, id, {url: storable(strength) for url, strength in done.claims.items()})
    for name in done.forgotten:
        connection.execute(_UNCLAIM, (storable(name), id))
    return done.saved


def _strength(row: DocumentRow) -> str | bytes:
    """As `rules.claim_strength`, for a row."""
    return row.precedence if row.deleted_at is None else ""


def _claim(connection: sqlite3.Connection, id: int | None, claims: Mapping[str, str | bytes]) -> None:
    for url, strength in claims.items():
        connection.execute(_CLAIM, (storable(url), id, strength))


def _remove(connection: sqlite3.Connection, low: str, high: str) -> None:
    """Delete the documents with URNs from `low` up to `high`, exclusive, with their URLs."""
    for id, url, aliases in connection.execute(_OLDER, (storable(low), storable(high))).fetchall():
        for name in (url, *map(storable, aliases_of(aliases))):
            connection.execute(_UNCLAIM, (name, id))
        connection.execute("DELETE FROM bodies WHERE id = ?", (id,))
        connection.execute("DELETE FROM documents WHERE id = ?", (id,))
