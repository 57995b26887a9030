"""Saved documents, for scripts and notebooks."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator, Mapping
from datetime import date
from typing import Any, Literal, Self, TypeAlias

from ghcrawl.api.background import Background
from ghcrawl.api.frames import frame, installed, meant, rows
from ghcrawl.cli import links
from ghcrawl.cli.commands.documents import Which
from ghcrawl.cli.crawl_backend import CrawlBackend
from ghcrawl.cli.documents import named, selected, selection
from ghcrawl.cli.opening import backend
from ghcrawl.cli.options import Place
from ghcrawl.cli.tables import tables_of
from ghcrawl.values.documents import Document
from ghcrawl.values.errors import SpecError
from ghcrawl.values.type_names import TypeNames, suggestion

__all__ = ["Saved"]

Moment: TypeAlias = str | date
"""`2026-11-01`, `7d` (ago), a date or a datetime; in UTC if no zone is said."""


class Saved:
    """The saved documents of a file, a database or a service, open until `close` or the end of a `with` block.

    Not for several threads at once.
    """

    def __init__(self, place: Place) -> None:
        self._background = Background()
        self._closing = asyncio.Event()
        try:
            self._backend = self._background.run(self._open(place))
        except BaseException:
            self._background.close()
            raise

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Closes it. May be called again."""
        self._background.call(self._closing.set)
        self._background.close()

    @property
    def where(self) -> str:
        """The file, database or service, in words."""
        return self._backend.where

    def documents(
        self, *types: str, under: str = "", since: Moment = "", until: Moment = "", deleted: bool | None = None
    ) -> Iterator[Document]:
        """Documents ordered by URN, read as you iterate.

        types: names such as `issue`; none: every entity. under: only this document and its descendants, by name, URL or
        URN. since, until: only what was saved last (new, changed, deleted) in that span, as a date, a time or an age
        such as `7d`. deleted: False leaves out tombstones, True gives only those.
        Raises SpecError for an unknown type, name or date, StoreError if reading fails.
        """
        which = Which(types=types, under=under, since=_text(since), until=_text(until), deleted=deleted)
        return self._background.iterate(selected(self._backend, which))

    def get(self, name: str, type: str = "") -> Document | None:
        """The document with this name (`acme/web#5`), URL or URN; None if there is none.

        type: which one, where a name has several. Without it, `acme/web#5` is the pull request if there is one.
        Raises SpecError for an unknown type, and the start of several SHAs; StoreError.
        """
        if type:
            self._background.run(selection(self._backend, Which(types=(type,))))
        found = self._background.run(named(self._backend, name))
        return next((one for one in found if type in ("", one.type, str(one.type_name))), None)

    def follow(self, document: Document, link: str) -> Iterator[Document]:
        """The saved documents that a link of `document` leads to. Raises SpecError without such a link, StoreError."""
        if link not in document.links:
            raise SpecError(f"{document.urn} has no link {link}; {suggestion(link, document.links, of='links')}")
        return self._background.iterate(links.behind(self._backend, document.links[link]))

    def counts(self) -> Mapping[str, int]:
        """Documents by type, without tombstones, list pages and cursors included. Raises StoreError."""
        counts = self._background.run(self._backend.documents.counts())
        return TypeNames({*counts, *self._backend.mounts.types}).shown(dict(sorted(counts.items())))

    def frame(
        self,
        name: str,
        *,
        under: str = "",
        since: Moment = "",
        until: Moment = "",
        deleted: bool | None = None,
        library: Literal["pandas", "polars"] | None = None,
    ) -> Any:
        """A table as a DataFrame, with the columns and types of docs/tables.md.

        name: a type (`issue`), or a table (`issues`, `issue_labels`, `accounts`). library: the one that is installed,
        pandas first, unless named. The other arguments are those of `documents`.
        Raises SpecError for a name without a table, ConfigError if neither library is installed, StoreError.
        """
        schema = tables_of(self._backend)
        table, types = meant(name, schema, TypeNames(self._backend.mounts.types))
        into = installed(library)
        which = Which(
            types=tuple(map(str, types)), under=under, since=_text(since), until=_text(until), deleted=deleted
        )
        chosen = self._background.run(selection(self._backend, which))
        return frame(self._background.run(rows(self._backend, chosen, schema, table)), table.columns, into)

    async def _open(self, place: Place) -> CrawlBackend:
        """The backend, which a task of its own opens and closes."""
        opened: asyncio.Future[CrawlBackend] = asyncio.get_running_loop().create_future()
        self._holder = asyncio.create_task(self._hold(place, opened))
        return await opened

    async def _hold(self, place: Place, opened: asyncio.Future[CrawlBackend]) -> None:
        try:
            async with backend(place) as found:
                opened.set_result(found)
                await self._closing.wait()
        except BaseException as error:
            if opened.done():
                raise
            opened.set_exception(error)


def _text(moment: Moment) -> str:
    return moment if isinstance(moment, str) else moment.isoformat()
