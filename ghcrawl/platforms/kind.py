"""Kinds of a platform: one closed sum, so that no impossible combination of traits can be written.

    Kind = Thing | List | Part | Event | Cursor | Batch | Reconciliation | Planning

The engine matches on it; `position` and `version` mean the same for all that a processor turns into documents:

position: where its requests stand in the visitor map when their policy names no map: `repo`, `repo@/issues`.
version: of the processor; raised when its documents change shape, so that `reprocess` finds the old ones.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from datetime import datetime
from operator import attrgetter
from typing import ClassVar, TypeAlias, assert_never

from msgspec import Struct

from ghcrawl.values.documents import Document
from ghcrawl.values.frozen import replace
from ghcrawl.values.jsontext import JsonObject
from ghcrawl.values.outcome import Processor, Save, Skip
from ghcrawl.values.requests import Push, Request
from ghcrawl.values.visitor_map import NextHops


class Thing(Struct, frozen=True, kw_only=True):
    """One thing at a URL.

    immutable: a stored copy stays valid.
    listed: it is found in lists only, and no URL answers with it alone.
    referred: others refer to it who cannot know whether it is shown; a refusal of it is remembered by its URL.
    private: whether a document may be one that only some credentials may see, so that others are told 404.
    fallback: another request for the same end, when this one's URL does not exist and we hold nothing of it.
    """

    processor: Processor
    position: str
    version: int = 1
    immutable: bool = False
    listed: bool = False
    referred: bool = False
    private: Callable[[Document], bool] = lambda _document: False
    fallback: Callable[[Request], Request | None] | None = None


class Part(Struct, frozen=True, kw_only=True):
    """A part of a thing, which has exactly one of it, at a path below its own.

    refusal: URN of the record that it was refused (see `ghcrawl.engine.refusals`).
    limited: of too much of it the platform says 422 instead: that is how it is, and remembered like a refusal.
    fallback: as for a thing.
    """

    processor: Processor
    position: str
    refusal: Callable[[Request], str]
    version: int = 1
    limited: bool = False
    fallback: Callable[[Request], Request | None] | None = None


class Continuation(Struct, frozen=True, kw_only=True):
    """How a list is read on from where it was read to.

    cursor: URN of the document that remembers how far that was.
    resume: the request that continues from that document (None: never read); None where the reading that it remembers
        answers the request as well. Pure.
    restart: the request that reads the whole list instead, when that URL does not exist; None where it is the whole.
    optional: whether page 1 may be known although there is no such document.
    """

    cursor: Callable[[Request], str]
    resume: Callable[[Request, Document | None], Request | None]
    restart: Callable[[Request], Request | None] = lambda _request: None
    optional: Callable[[Request], bool] = lambda _request: False


class List(Struct, frozen=True, kw_only=True):
    """Pages of a list. A list is gone with what it is of, which says so itself.

    refusal: URN of the record that it was refused; None: this request's refusal is not recorded.
    continuation: None where every page is asked for each time.
    """

    processor: Processor
    position: str
    version: int = 1
    refusal: Callable[[Request], str | None] = lambda _request: None
    continuation: Continuation | None = None


class Event(Struct, frozen=True, kw_only=True):
    """Something happened; that stays true when what it lies in is gone.

    It is told once: a request that carries one that is stored already is nothing new.
    """

    processor: Processor
    position: str
    version: int = 1


class Cursor(Struct, frozen=True, kw_only=True):
    """The document that remembers how far a list was read; its requests carry it."""

    processor: Processor
    position: str = "self"
    version: int = 1


class Batch(Struct, frozen=True, kw_only=True):
    """Asks in one call for what a list leaves out of many entities. Leaves no document; each entity is saved alone.

    Its requests carry their members. What we hold already is asked for separately, conditionally; what the platform
    does not give in a batch is, too.

    of: type of the members' own requests. members: these, of a request; chosen: the same request for only some of them.
    """

    of: str
    members: Callable[[Request], Sequence[Push]]
    chosen: Callable[[Request, Sequence[int]], Request]
    processor: Processor
    version: int = 1
    position: ClassVar[str] = "self"


class Comparison(Struct, frozen=True, kw_only=True):
    """A complete list, to be compared with the stored documents.

    pages: URNs of the pages' documents; each has a link `resources` to what it names, and where that lies below the
    owner, URN and URL of each in the `elements` of its body.
    listed: the same of the last page, which may not be stored yet: URN → URL.
    type: of the elements. owner: URN of what they are of; below: their URNs start with it, else they link to it.
    permanent_url: the URL at which exactly this one answers, even after its name went to another.
    """

    pages: tuple[str, ...]
    listed: Mapping[str, str]
    type: str
    owner: str
    below: bool
    permanent_url: Callable[[Document], str] = attrgetter("url")


class Reconciliation(Struct, frozen=True, kw_only=True):
    """Compares what a complete list named with what is stored; it is not processed and leaves no document.

    comparison: what a request of this kind carries.
    """

    comparison: Callable[[Request], Comparison]
    position: ClassVar[str] = "self"


class Prospect(Struct, frozen=True, kw_only=True):
    """All that a plan is made from. now: by our clock; plans hold none. documents: as stored, by URN."""

    request: Request
    documents: Sequence[Document]
    next_hops: NextHops
    version: int
    now: datetime


class Planning(Struct, frozen=True, kw_only=True):
    """Decides what to ask next from what is stored; asks the platform nothing itself.

    scope: URN below which documents are read, of `types`. plan: pure; keeps its own state in the document it saves.
    """

    scope: Callable[[Request], str]
    types: tuple[str, ...]
    plan: Callable[[Prospect], Save | Skip]
    position: str
    version: int = 1


Processed: TypeAlias = Thing | List | Part | Event | Cursor
"""The kinds whose bodies a processor turns into documents."""


class Described(Struct, frozen=True, kw_only=True):
    """An entity, named by a prefix of its id or by a field of its body.

    types: that it may be of. above: URL of its parent; empty: its URN is its own. name: what its URN has behind the
    parent's, as far as it is known. is_it: whether a body is its body.
    """

    types: tuple[str, ...]
    above: str = ""
    name: str = ""
    is_it: Callable[[JsonObject], bool] = lambda _body: True


class OtherSpelling(Struct, frozen=True, kw_only=True):
    """A URL with a name whose case does not matter.

    named: URL of what has the name, in lower case; its document is saved under that URL, too. below: the rest.
    """

    named: str
    below: str = ""


Kind: TypeAlias = Processed | Batch | Reconciliation | Planning


def alternative(kind: Kind, request: Request) -> Request | None:
    """Another request for the same end, when the URL of `request` does not exist."""
    match kind:
        case Thing(fallback=fallback) | Part(fallback=fallback):
            return fallback(request) if fallback else None
        case List(continuation=continuation):
            return continuation.restart(request) if continuation else None
        case Event() | Cursor() | Batch() | Reconciliation() | Planning():
            return None
        case _:
            assert_never(kind)


def refusal_of(kind: Processed, request: Request) -> str | None:
    """URN of the record that the list or part was refused; None: not recorded."""
    return kind.refusal(request) if isinstance(kind, List | Part) else None


def with_processor(kind: Kind, wrap: Callable[[Processor], Processor]) -> Kind:
    """The same kind with its processor wrapped."""
    return kind if isinstance(kind, Reconciliation | Planning) else replace(kind, processor=wrap(kind.processor))
