"""From documents to a target, in batches: memory is bounded by one batch and the accounts that were named."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Final

from ghcrawl.platforms.columns import ACCOUNTS
from ghcrawl.platforms.tables import Page, Schema
from ghcrawl.tables.projection import Projector, Row
from ghcrawl.tables.target import Sink, State
from ghcrawl.values.documents import Document
from ghcrawl.values.times import iso, micros
from ghcrawl.values.type_names import TypeName

BATCH: Final = 5_000
"""Documents written at a time."""
BATCH_BYTES: Final = 32 * 2**20
HASH_BITS: Final = 64
HASH_MASK: Final = 2**HASH_BITS - 1
OVERLAP: Final = timedelta(minutes=5)
"""A document is stored a little after it was processed: this much before the cursor is read again."""

Behind = Callable[[TypeName, str], AsyncIterator[Document]]
"""Lists the documents of a type below a URN."""


@dataclass
class Filled:
    """What a run did. documents: written; rows: by table."""

    documents: int = 0
    rows: dict[str, int] = field(default_factory=dict)


@dataclass
class _Batch:
    rows: dict[str, list[Row]] = field(default_factory=dict)
    changed: dict[str, list[str]] = field(default_factory=dict)
    documents: int = 0
    size: int = 0


class Filling:
    """One run into `target`, in one transaction. started_at: before the first document is read.

    The cursor never passes that moment: a document that is processed while the run reads may have been passed already.
    """

    def __init__(
        self, target: Sink, schema: Schema, before: State | None, *, bodies: bool, started_at: datetime
    ) -> None:
        self._target, self._schema = target, schema
        self._before, self._started_at = before, started_at
        self._projector = Projector(schema, moments=target.moments, bodies=bodies)
        self._batch = _Batch()
        self._accounts: dict[int, int] = {}
        """Id → when it was seen so, and a hash of what it said: one number, since there may be millions of accounts."""
        self._fresh: dict[int, Row] = {}
        self._relations: dict[str, tuple[TypeName, str]] = {}
        self._recent: dict[str, tuple[datetime, str]] = {}
        self._forget_at = BATCH
        self._cursor = before.cursor if before is not None else None
        self.filled = Filled()

    @property
    def since(self) -> datetime | None:
        """Documents that were processed before this moment are in the target already; None: none are."""
        return None if self._before is None or self._before.cursor is None else self._before.cursor - OVERLAP

    async def take(self, documents: AsyncIterator[Document], progress: Callable[[int], None], behind: Behind) -> None:
        """Writes every document that a table is for. behind: lists the pages of a relation of which one changed."""
        async for document in documents:
            self._see(document)
            progress(self.filled.documents)
            self._flush_if_full()
        for urn, (type, owner) in self._relations.items():
            self._batch.changed.setdefault(self._schema.by_kind[type].name, []).append(owner)
            async for page in behind(type, urn):
                self._project(page)
                self._flush_if_full()
        self._flush()

    def state(self, source: str, selection: dict[str, object], store: str = "") -> State:
        """What the next run goes on from, once everything is written."""
        near = self._near(self._cursor) if self._cursor is not None else {}
        recent = {urn: mark for urn, (_, mark) in near.items()}
        return State(
            version=self._schema.version,
            source=source,
            store=store,
            selection=selection,
            written_at=self._started_at,
            cursor=self._cursor,
            recent=recent,
        )

    def _see(self, document: Document) -> None:
        table = self._schema.by_kind.get(document.type_name)
        page = Page.read(document.urn, table) if table is not None and table.pages_of else None
        if table is not None and table.pages_of and page is None:
            return
        at, mark = document.processed_at, _mark(document)
        if self._cursor is None or at > self._cursor:
            self._cursor = min(at, self._started_at)
        if at >= self._cursor - OVERLAP:
            self._recent[document.urn] = (at, mark)
            if len(self._recent) >= self._forget_at:
                self._recent = self._near(self._cursor)
                self._forget_at = 2 * len(self._recent) + BATCH
        if self._before is not None and self._before.recent.get(document.urn) == mark:
            return
        self.filled.documents += 1
        if page is None or self._before is None:
            self._project(document)
        elif table is not None:  # older generations were deleted, so all pages are read again
            owner = document.links.get(table.columns[0].path[0])
            self._relations[page.list] = (document.type_name, owner.href or "" if owner else "")

    def _near(self, cursor: datetime) -> dict[str, tuple[datetime, str]]:
        """What was processed so shortly before the cursor that the next run reads it again."""
        return {urn: found for urn, found in self._recent.items() if found[0] >= cursor - OVERLAP}

    def _project(self, document: Document) -> None:
        batch = self._batch
        batch.documents += 1
        table = self._schema.by_kind.get(document.type_name)
        if table is None:
            return
        for into, row in self._projector.rows(document):
            batch.rows.setdefault(into.name, []).append(row)
            batch.size += sum(len(value) for value in row if type(value) is str)
        if self._before is not None:
            for link in table.links:
                batch.changed.setdefault(link.name, []).append(document.urn)
        seen_at = document.observed_at
        for account in self._projector.people(document):
            mark = micros(seen_at) << HASH_BITS | hash(account) & HASH_MASK
            known = self._accounts.get(account[0])
            if known is None or (known < mark and (known ^ mark) & HASH_MASK):
                self._accounts[account[0]] = mark
                self._fresh[account[0]] = (*account, self._target.moments(seen_at))

    def _flush_if_full(self) -> None:
        if self._batch.documents >= BATCH or self._batch.size >= BATCH_BYTES:
            self._flush()

    def _flush(self) -> None:
        batch, self._batch = self._batch, _Batch()
        if self._fresh:
            batch.rows[ACCOUNTS] = [*self._fresh.values()]
            self._fresh = {}
        for name, rows in batch.rows.items():
            self.filled.rows[name] = self.filled.rows.get(name, 0) + len(rows)
        if batch.rows or batch.changed:
            self._target.replace(batch.rows, batch.changed)


def _mark(document: Document) -> str:
    """Differs where anything that a row shows differs. Without a digest, two documents differ by their moments."""
    content = document.digest or iso(document.processed_at, "microseconds")
    return f"{content}{'-' if document.deleted_at else ''}{document.url}"
