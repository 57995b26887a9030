"""`ghcrawl documents list | show | follow | count`, and which documents are meant."""

from __future__ import annotations

import json as jsonlib
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from datetime import datetime
from typing import Any

from msgspec import Struct
from rich.highlighter import JSONHighlighter

from ghcrawl.cli import links, output
from ghcrawl.cli.commands.documents import Which
from ghcrawl.cli.crawl_backend import CrawlBackend
from ghcrawl.cli.kinds import meant
from ghcrawl.cli.opening import backend as opened
from ghcrawl.cli.options import Place
from ghcrawl.cli.stderr import complain, say
from ghcrawl.cli.words import counted, number, one_line, printable, since
from ghcrawl.platforms import naming
from ghcrawl.platforms.naming import NAMES, TITLED_INSIDE, TITLES
from ghcrawl.ports.store import DocumentFilter
from ghcrawl.values.documents import Document
from ghcrawl.values.errors import SpecError
from ghcrawl.values.frozen import replace
from ghcrawl.values.jsontext import JsonObject
from ghcrawl.values.times import iso
from ghcrawl.values.type_names import TypeName, TypeNames

NOT_THERE = 1


async def list_(place: Place, which: Which, *, limit: int, json: bool) -> int:
    """Returns the exit status. Raises ConfigError, SpecError, StoreError."""
    async with opened(place) as backend:
        found = [one async for one in _limited(selected(backend, which), limit)]
    _tell(backend, found, json=json)
    if limit and len(found) == limit:
        say(f"Showing the first {number(limit)}; --limit 0 shows all, --type and --under filter.")
    return 0


async def show(place: Place, name: str, *, type: str, json: bool) -> int:
    """Returns the exit status: 1 where there is no such document. Raises ConfigError, StoreError."""
    async with opened(place) as backend:
        known = await named(backend, name)
    type_of = _names(backend, known)
    found = [one for one in known if type in ("", one.type, str(one.type_name))]
    if not known:
        return _not_there(backend, name)
    if not found:
        complain(f"{name} matches no {type}, but {', '.join(map(type_of, known))}")
        return NOT_THERE
    if json:
        output.write_json(found[0].to_json())
    else:
        _show(found[0], type_of(found[0]))
    if others := [type_of(one) for one in found[1:]]:
        say(f"The name also matches {', '.join(others)}; choose with --type.")
    return 0


async def follow(place: Place, name: str, link: str, *, limit: int, json: bool) -> int:
    """Returns the exit status: 1 where there is no such document, or it has no such link.

    Raises ConfigError, StoreError.
    """
    async with opened(place) as backend:
        documents = await named(backend, name)
        if not documents:
            return _not_there(backend, name)
        start = next((document for document in documents if link in document.links), None)
        if start is None:
            known = dict.fromkeys(name for document in documents for name in document.links)
            complain(f"{documents[0].urn} has no link {link}; it has {', '.join(known)}")
            return NOT_THERE
        found = [one async for one in _limited(links.behind(backend, start.links[link]), limit)]
    _tell(backend, found, json=json)
    if limit and len(found) == limit:
        say(f"Showing the first {number(limit)}; --limit 0 shows all.")
    return 0


async def count(place: Place, *, json: bool) -> int:
    """Returns the exit status. Raises ConfigError, StoreError."""
    async with opened(place) as backend:
        counts = await backend.documents.counts()
    entities = backend.mounts.entities
    names = TypeNames({*counts, *entities})
    things = names.shown({type: counts[type] for type in entities if counts.get(type)})
    lists = names.shown({type: count for type, count in sorted(counts.items()) if type not in entities})
    if json:
        total = sum(counts.values())
        output.write_json({"total": total, "entities": sum(things.values()), "by_type": {**things, **lists}})
        return 0
    rows = [*things.items(), *lists.items()]
    output.show_rows(("type", "documents"), [(type, str(count)) for type, count in rows], numbers=("documents",))
    rest = counted(sum(lists.values()), "list page or cursor", "list pages and cursors")
    say(f"{counted(sum(things.values()), 'entity', 'entities')}, and {rest}.")
    return 0


class Selection(Struct, frozen=True, kw_only=True):
    """What a `Which` means at a place. which: in each of `scopes`. until: processed before this moment."""

    which: DocumentFilter
    scopes: Sequence[str]
    until: datetime | None = None

    async def documents(self, backend: CrawlBackend, *, since: datetime | None = None) -> AsyncIterator[Document]:
        """Scope by scope, each by URN. since: only those that were processed at or after this moment."""
        for scope in self.scopes:
            latest = max(filter(None, (since, self.which.processed_since)), default=None)
            which = replace(self.which, scope=scope, processed_since=latest)
            async for document in backend.documents.list(which):
                if self.until is None or document.processed_at < self.until:
                    yield document


async def selection(backend: CrawlBackend, which: Which) -> Selection:
    """Raises SpecError for an unknown type, date, or document to look under; StoreError."""
    types = await _types(backend, which)
    begin, end = (since(text, backend.now()) if text else None for text in (which.since, which.until))
    chosen = DocumentFilter(types=types, platforms=which.platforms, processed_since=begin, deleted=which.deleted)
    return Selection(which=chosen, scopes=await _scopes(backend, which.under), until=end)


async def selected(backend: CrawlBackend, which: Which) -> AsyncIterator[Document]:
    """The documents that `which` means. Raises SpecError for an unknown type, date, or document to look under."""
    async for document in (await selection(backend, which)).documents(backend):
        yield document


async def _types(backend: CrawlBackend, which: Which) -> tuple[TypeName, ...]:
    types = await meant(which.types, which.platforms, backend.mounts.types, backend.documents.counts)
    return types if types or which.lists else backend.mounts.entities


async def _scopes(backend: CrawlBackend, under: str) -> Sequence[str]:
    if not under:
        return [""]
    found = await named(backend, under)
    if not found and not under.startswith("urn:"):
        raise SpecError(f"document {under} not found; name {NAMES}")
    things = [one for one in found if one.type_name in backend.mounts.entities] or found[:1]
    scopes = [scope for one in things for scope in await links.below(backend, one)]
    return list(dict.fromkeys(scopes)) or [under]


async def _limited(documents: AsyncIterator[Document], limit: int) -> AsyncIterator[Document]:
    taken = 0
    async for document in documents:
        yield document
        taken += 1
        if taken == limit:
            return


async def named(backend: CrawlBackend, name: str) -> Sequence[Document]:
    """As `platforms.naming` says."""
    return await naming.named(backend.mounts, backend.documents, name)


def _not_there(backend: CrawlBackend, name: str) -> int:
    complain(f"document {name} not found in {backend.where}; name {NAMES}")
    return NOT_THERE


def _names(backend: CrawlBackend, found: Sequence[Document]) -> Callable[[Document], str]:
    """How types are called: with their platform, where several platforms have one of that name."""
    names = TypeNames({*backend.mounts.types, *(one.type_name for one in found)})
    return lambda document: names.text(document.type_name)


def _tell(backend: CrawlBackend, found: Sequence[Document], *, json: bool) -> None:
    """A line each: for a person what fits, for a pipe everything."""
    type_of = _names(backend, found)
    if json:
        output.write_json([_brief(one) for one in found])
    elif found:
        rows = [(type_of(one), one.urn, one.url, title(one.body)) for one in found]
        shown = [(type, urn, name) for type, urn, _, name in rows] if output.console().is_terminal else rows
        output.show_rows(("type", "urn", "url", "title") if shown is rows else ("type", "urn", "title"), shown)
    else:
        say("No documents match.")


def title(body: JsonObject) -> str:
    """What a person would call a thing, as far as one can tell without knowing its kind."""
    places: list[Mapping[str, Any]] = [body]
    places += [inside for name in TITLED_INSIDE if isinstance(inside := body.get(name), Mapping)]
    found = (place.get(name) for place in places for name in TITLES)
    return next((one_line(value, 200) for value in found if isinstance(value, str) and value), "")


def _brief(document: Document) -> Mapping[str, Any]:
    return {
        "platform": document.platform,
        "type": document.type,
        "urn": document.urn,
        "url": document.url,
        "title": title(document.body),
        "observedAt": iso(document.observed_at),
        "deletedAt": iso(document.deleted_at) if document.deleted_at else None,
    }


def _show(document: Document, type: str) -> None:
    facts = [
        ("type", type),
        ("urn", document.urn),
        ("url", document.url),
        ("seen", f"{iso(document.observed_at)}, {document.origin}"),
        ("changed", document.changed_at),
        ("deleted", f"{iso(document.deleted_at)} ({document.deleted_reason})" if document.deleted_at else ""),
        ("also", "\n".join(document.aliases)),
    ]
    output.show_facts([(name, value) for name, value in facts if value])
    out = output.console()
    out.print("\nLinks", style="bold")
    output.show_facts((name, link.href or "\n".join(link.hrefs)) for name, link in document.links.items())
    out.print("\nContent", style="bold")
    text = printable(jsonlib.dumps(document.body, indent=2, ensure_ascii=False))
    out.print(JSONHighlighter()(text), soft_wrap=True)
