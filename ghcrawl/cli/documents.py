"""`ghcrawl documents list | show | follow | count`, and which documents are meant."""

from __future__ import annotations

import json as jsonlib
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from rich.highlighter import JSONHighlighter

from ghcrawl.cli import links, output, roots
from ghcrawl.cli.desk import Desk
from ghcrawl.cli.kinds import demand_known, entity_types, split
from ghcrawl.cli.opening import desk as opened
from ghcrawl.cli.options import Place
from ghcrawl.cli.stderr import complain, say
from ghcrawl.cli.words import counted, number, one_line, printable, since
from ghcrawl.errors import SpecError
from ghcrawl.model import Document, JsonObject, iso
from ghcrawl.ports import DocumentFilter

NOT_THERE = 1
_TITLES = ("full_name", "title", "name", "login", "tag_name", "slug", "message", "body")


@dataclass(frozen=True, slots=True, kw_only=True)
class Which:
    """Which documents are meant, as typed.

    under: a URN, a URL or a name. since, until: dates or ages, of when it was last seen to be so.
    lists: pages of lists and cursors too. deleted: None with and without.
    """

    types: tuple[str, ...] = ()
    under: str = ""
    since: str = ""
    until: str = ""
    lists: bool = False
    deleted: bool | None = None


async def list_(place: Place, which: Which, *, limit: int, json: bool) -> int:
    """Returns the exit status. Raises ConfigError, SpecError, StoreError."""
    async with opened(place) as desk:
        found = [one async for one in _limited(selected(desk, which), limit)]
    _tell(found, json=json)
    if limit and len(found) == limit:
        say(f"These are the first {number(limit)}; --limit 0 lists all, --type and --under choose.")
    return 0


async def show(place: Place, name: str, *, type: str, json: bool) -> int:
    """Returns the exit status: 1 where there is no such document. Raises ConfigError, StoreError."""
    async with opened(place) as desk:
        named = await _named(desk, name)
    found = [one for one in named if type in ("", one.type)]
    if not named:
        return _not_there(desk, name)
    if not found:
        complain(f"{name} leads to no {type}, but to {', '.join(one.type for one in named)}")
        return NOT_THERE
    if json:
        output.write_json(found[0].to_json())
    else:
        _show(found[0])
    if others := [one.type for one in found[1:]]:
        say(f"The same name leads to {', '.join(others)}; --type chooses.")
    return 0


async def follow(place: Place, name: str, link: str, *, limit: int, json: bool) -> int:
    """Returns the exit status: 1 where there is no such document, or it has no such link.

    Raises ConfigError, StoreError.
    """
    async with opened(place) as desk:
        documents = await _named(desk, name)
        if not documents:
            return _not_there(desk, name)
        start = next((document for document in documents if link in document.links), None)
        if start is None:
            known = dict.fromkeys(name for document in documents for name in document.links)
            complain(f"{documents[0].urn} has no link {link}; it has {', '.join(known)}")
            return NOT_THERE
        found = [one async for one in _limited(links.behind(desk, start.links[link]), limit)]
    _tell(found, json=json)
    if limit and len(found) == limit:
        say(f"These are the first {number(limit)}; --limit 0 lists all.")
    return 0


async def count(place: Place, *, json: bool) -> int:
    """Returns the exit status. Raises ConfigError, StoreError."""
    async with opened(place) as desk:
        counts = await desk.documents.counts()
    things, _ = split(counts, entity_types([desk.platform]))
    lists = {type: count for type, count in sorted(counts.items()) if type not in things}
    if json:
        total = sum(counts.values())
        output.write_json({"total": total, "entities": sum(things.values()), "by_type": {**things, **lists}})
        return 0
    rows = [*things.items(), *lists.items()]
    output.show_rows(("type", "documents"), [(type, str(count)) for type, count in rows], numbers=("documents",))
    rest = counted(sum(lists.values()), "page of a list or cursor", "pages of lists and cursors")
    say(f"{counted(sum(things.values()), 'thing')}, and {rest}.")
    return 0


async def selected(desk: Desk, which: Which) -> AsyncIterator[Document]:
    """The documents that `which` means, by URN. Raises SpecError for an unknown type, date, or thing to look under."""
    types = await _types(desk, which)
    begin, end = (since(text, desk.now()) if text else None for text in (which.since, which.until))
    for scope in await _scopes(desk, which.under):
        chosen = DocumentFilter(types=types, scope=scope, since=begin, deleted=which.deleted)
        async for document in desk.documents.list(chosen):
            if _seen_before(document, end):
                yield document


def _seen_before(document: Document, end: datetime | None) -> bool:
    return end is None or document.observed_at < end


async def _types(desk: Desk, which: Which) -> tuple[str, ...]:
    if not which.types:
        return () if which.lists else entity_types([desk.platform])
    if not {*which.types} <= desk.platform.kinds.keys():  # what another version saved may be of a type it had
        demand_known(which.types, {*desk.platform.kinds, *await desk.documents.counts()})
    return which.types


async def _scopes(desk: Desk, under: str) -> Sequence[str]:
    if not under:
        return [""]
    found = await _named(desk, under)
    if not found and not under.startswith("urn:"):
        raise SpecError(f"there is no document {under} to look under")
    return await links.below(desk, found[0]) if found else [under]


async def _limited(documents: AsyncIterator[Document], limit: int) -> AsyncIterator[Document]:
    taken = 0
    async for document in documents:
        yield document
        taken += 1
        if taken == limit:
            return


async def _named(desk: Desk, name: str) -> Sequence[Document]:
    """What is known under a URN, a URL, or whatever a person may call it; things before pages."""
    if name.startswith("urn:"):
        document = await desk.documents.get(name)
        return [document] if document else []
    urls = [name]
    with suppress(SpecError):
        urls += roots.read(desk.platform, [name], desk.api_url, "default")[0].own
    found = {document.urn: document for url in urls for document in await desk.documents.find(url)}
    things = entity_types([desk.platform])
    return sorted(found.values(), key=lambda document: document.type not in things)


def _not_there(desk: Desk, name: str) -> int:
    complain(f"there is no document {name} in {desk.where}; `ghcrawl documents list` names them")
    return NOT_THERE


def _tell(found: Sequence[Document], *, json: bool) -> None:
    """A line each: for a person what fits, for a pipe everything."""
    if json:
        output.write_json([_brief(one) for one in found])
    elif found:
        rows = [(one.type, one.urn, one.url, title(one.body)) for one in found]
        shown = [(type, urn, name) for type, urn, _, name in rows] if output.console().is_terminal else rows
        output.show_rows(("type", "urn", "url", "title") if shown is rows else ("type", "urn", "title"), shown)
    else:
        say("There are no such documents.")


def title(body: JsonObject) -> str:
    """What a person would call a thing, as far as one can tell without knowing its kind."""
    commit = body.get("commit")
    places: list[Mapping[str, Any]] = [body, commit] if isinstance(commit, Mapping) else [body]
    found = (place.get(name) for place in places for name in _TITLES)
    return next((one_line(value, 200) for value in found if isinstance(value, str) and value), "")


def _brief(document: Document) -> Mapping[str, Any]:
    return {
        "type": document.type,
        "urn": document.urn,
        "url": document.url,
        "title": title(document.body),
        "observedAt": iso(document.observed_at),
        "deletedAt": iso(document.deleted_at) if document.deleted_at else None,
    }


def _show(document: Document) -> None:
    facts = [
        ("type", document.type),
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
