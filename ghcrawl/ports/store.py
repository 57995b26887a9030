"""Documents, one for each URN, and small JSON objects of our own."""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import suppress
from datetime import datetime
from secrets import token_hex
from typing import Final, Literal, Protocol

from msgspec import Struct

from ghcrawl.values.documents import Document, Validator
from ghcrawl.values.errors import StoreError
from ghcrawl.values.forms import Forms, answers
from ghcrawl.values.type_names import TypeName

Saved = Literal["saved", "same", "stale", "tied", "mixed"]
"""Result of a save: written; equal content; older than the stored one; a tie; or a document of two moments is left,
though its thing was once asked for whole."""
MAX_VISITS: Final = 20
"""Policies that name a date are new every day."""


class Stored(Struct, frozen=True, kw_only=True):
    """What is known of a stored document without reading its body: one look-up decides how to fetch.

    checked_at: when we last asked the platform and it was, or became, what we hold.
    visits, forms: as in `Document`.
    """

    urn: str
    type_name: TypeName
    url: str
    digest: str
    version: int
    observed_at: datetime
    checked_at: datetime
    processed_at: datetime
    validator: Validator | None = None
    visits: Mapping[str, datetime] = {}
    deleted_at: datetime | None = None
    forms: Forms = {}

    @property
    def answers(self) -> bool:
        """Whether it says what the thing's own URL would have said then."""
        return answers(self.forms, self.observed_at)

    def said(self, document: Document) -> bool:
        """Whether it says what `document` does, or did when it was seen in that form last."""
        last = {self.forms[form].digest for form in document.forms if form in self.forms}
        return document.digest in {self.digest, *last}


def latest(before: Mapping[str, datetime], visits: Mapping[str, datetime]) -> Mapping[str, datetime]:
    """Both merged, the later moment where both have one; the latest `MAX_VISITS` of them."""
    merged = {**before, **visits}
    for policy, at in before.items():
        merged[policy] = max(at, merged[policy])
    if len(merged) <= MAX_VISITS:
        return merged
    newest = sorted(merged.items(), key=lambda visit: (visit[1], visit[0]))[-MAX_VISITS:]
    return {policy: at for policy, at in merged.items() if (policy, at) in newest}


class Touch(Struct, frozen=True, kw_only=True):
    """A stored document was visited and not written again: remember that, and nothing else.

    visited_at: when, by our clock; policy: under which spec.
    checked_at: when the platform was asked about it; None where only our own copy was read.
    validator: the one to keep from now on; None keeps the stored one.
    """

    urn: str
    type_name: TypeName
    policy: str
    visited_at: datetime
    checked_at: datetime | None = None
    validator: Validator | None = None


class DocumentFilter(Struct, frozen=True, kw_only=True):
    """Which documents to list. Empty fields admit everything.

    after: continue behind this URN; documents are listed by URN.
    scope: URN of an ancestor: `urn:repo:12` admits everything below that repository, and itself.
    since: observed at or after this moment.
    processed_since: written, by our clock, from a request that was processed at or after this moment. Few of many are
        found by an index.
    """

    types: tuple[TypeName, ...] = ()
    platforms: tuple[str, ...] = ()
    scope: str = ""
    since: datetime | None = None
    processed_since: datetime | None = None
    deleted: bool | None = None
    after: str = ""

    def admits(self, type: TypeName) -> bool:
        """Whether documents of this type may be among them."""
        return (not self.types or type in self.types) and (not self.platforms or type.platform in self.platforms)


class Store(Protocol):
    """Documents, one a URN. Contract: `tests/contracts/store_contract.py`.

    * newer wins: `save` replaces only what has no greater `precedence`, in any order of saves;
    * equal content is not written again: "same" leaves the stored document as it is;
    * "tied": both name the same last change, say different things, and nothing tells which of them came later
      (`values.ties`). The greater precedence stays, of equal ones the last, and what is written has no digest, so
      that the next save is compared with it again: a tie is found again until the platform has been asked;
    * a document only becomes richer: what it was seen with and the one that comes does not mention stays, unless that
      is the word on it (`values.forms`); a stale one adds what is missing;
    * "mixed": the stored document is now of two moments, though the thing itself was asked for once. Each further save
      of the same form gives the same result, until the thing itself is asked for again;
    * a document once found under a URL stays found under it (aliases), until another one claims that URL;
    * JSON comes back as it went in, with any keys.
    """

    async def save(self, document: Document, *, supersede: str = "") -> Saved:
        """Keep `document` unless a truer one is there.

        supersede: once saved, remove the documents whose URN sorts from this text up to the part of
        `document.urn` before `:page:`: the older generations of a relation.
        Raises Unstorable for what no retry can save, StoreError for the rest.
        """

    async def touch(self, touch: Touch) -> None:
        """Remember a check. A document that is gone meanwhile is none of its business."""

    async def look_up(self, type: TypeName, url: str) -> Stored | None:
        """What is known of the document of this type and URL, by its own URL or an alias. One round trip."""

    async def get(self, urn: str) -> Document | None:
        """The document with this URN."""

    async def find(self, url: str) -> Sequence[Document]:
        """The documents of any type known under this URL."""

    def list(self, which: DocumentFilter) -> AsyncIterator[Document]:
        """The documents that `which` admits, by URN, without holding them all in memory."""

    async def counts(self) -> Mapping[TypeName, int]:
        """Type → number of documents that are not tombstones."""

    async def read_state(self, name: str) -> Mapping[str, object] | None:
        """A small JSON object of our own (crawls, live settings) by name."""

    async def write_state(self, name: str, value: Mapping[str, object]) -> None:
        """Replace that object."""

    async def swap_state(self, name: str, before: Mapping[str, object] | None, after: Mapping[str, object]) -> bool:
        """Replace that object by `after` if it is still `before`, as it was read; None: there is none yet.

        False: another writer replaced it meanwhile, and nothing was written. One atomic step.
        """


async def store_id(store: Store) -> str:
    """The random id that this store got when it was made; copies share it. Raises StoreError.

    Empty for a store without one, of an earlier version, that cannot be written.
    """
    known = await store.read_state("store")
    if known is None:
        with suppress(StoreError):
            await store.swap_state("store", None, {"id": token_hex(8)})
        known = await store.read_state("store")
    return str(known["id"]) if known is not None else ""
