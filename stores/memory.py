"""Documents and deadletters in this process's memory: the reference implementation.

Bodies are kept as JSON text, as in the other stores: a later change to a body does not reach the saved one, and values
that are not JSON are refused.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import AsyncIterator, Mapping, Sequence
from datetime import datetime

from msgspec import Struct

from ghcrawl.ports.deadletters import DeadletterCounts, DeadletterFilter
from ghcrawl.ports.store import DocumentFilter, Saved, Stored, Touch, latest
from ghcrawl.values.deadletters import Deadletter
from ghcrawl.values.documents import Document
from ghcrawl.values.frozen import replace
from ghcrawl.values.type_names import TypeName
from stores import precedence
from stores.deadletters import admits
from stores.jsontext import from_text, to_text
from stores.merging import merged, wants_body


class _Kept(Struct, frozen=True):
    """document: without its body. claims: URL → how strongly the document claims it."""

    document: Document
    body: str
    checked_at: datetime
    claims: Mapping[str, str] = {}

    @property
    def held(self) -> precedence.StoredState:
        return replace(precedence.StoredState.of(self.document), checked_at=self.checked_at)

    def whole(self) -> Document:
        return replace(self.document, body=from_text(self.body))


class MemoryStore:
    """No method awaits anything, so each is atomic."""

    def __init__(self) -> None:
        self._kept: dict[str, _Kept] = {}
        self._claimed: dict[str, set[str]] = {}
        self._state: dict[str, str] = {}

    async def save(self, document: Document, *, supersede: str = "") -> Saved:
        """As the port says."""
        body = to_text(document.body, document.urn)
        before = self._kept.get(document.urn)
        held = before.held if before else None
        whole = before.whole() if before and wants_body(held, document) else None
        done = merged(held, document, whole)
        claims = dict(before.claims) if before else {}
        for url, strength in done.claims.items():
            claims[url] = max(strength, claims.get(url, ""))
            self._claimed.setdefault(url, set()).add(document.urn)
        for url in done.forgotten:
            self._claimed[url].discard(document.urn)
            del claims[url]
        if done.written is not None:
            body = body if whole is None else to_text(done.written.body, document.urn)
            self._kept[document.urn] = _Kept(_as_held(done.written, done.held), body, done.held.checked_at, claims)
        elif before is not None:
            self._kept[document.urn] = replace(
                before,
                document=_as_held(before.document, done.held),
                checked_at=done.held.checked_at,
                claims=claims,
            )
        if supersede and done.saved != "stale":
            low, high = precedence.older_generations(document.urn, supersede)
            for urn in [urn for urn in self._kept if low <= urn < high]:
                self._remove(urn)
        return done.saved

    async def touch(self, touch: Touch) -> None:
        """As the port says."""
        kept = self._kept.get(touch.urn)
        if kept is None:
            return
        document = replace(
            kept.document,
            visits=latest(kept.document.visits, {touch.policy: touch.visited_at}),
            validator=touch.validator or kept.document.validator,
        )
        checked_at = max(kept.checked_at, touch.checked_at or kept.checked_at)
        self._kept[touch.urn] = replace(kept, document=document, checked_at=checked_at)

    async def look_up(self, type: TypeName, url: str) -> Stored | None:
        """As the port says."""
        found = [kept for kept in self._claimants(url) if kept.document.type_name == type]
        return _stored(found[0]) if found else None

    async def get(self, urn: str) -> Document | None:
        """As the port says."""
        kept = self._kept.get(urn)
        return kept.whole() if kept else None

    async def find(self, url: str) -> Sequence[Document]:
        """As the port says: of each type, the document that has this URL now."""
        first: dict[TypeName, Document] = {}
        for kept in self._claimants(url):
            first.setdefault(kept.document.type_name, kept.whole())
        return list(first.values())

    async def list(self, which: DocumentFilter) -> AsyncIterator[Document]:
        """As the port says."""
        for urn in sorted(self._kept):
            kept = self._kept.get(urn)
            if kept is not None and _listed(which, kept.document):
                yield kept.whole()

    async def counts(self) -> Mapping[TypeName, int]:
        """As the port says."""
        return Counter(kept.document.type_name for kept in self._kept.values() if kept.document.deleted_at is None)

    async def read_state(self, name: str) -> Mapping[str, object] | None:
        """As the port says."""
        text = self._state.get(name)
        return from_text(text) if text is not None else None

    async def write_state(self, name: str, value: Mapping[str, object]) -> None:
        """As the port says."""
        self._state[name] = to_text(dict(value), name)

    async def swap_state(self, name: str, before: Mapping[str, object] | None, after: Mapping[str, object]) -> bool:
        """As the port says."""
        if self._state.get(name) != (None if before is None else to_text(dict(before), name)):
            return False
        self._state[name] = to_text(dict(after), name)
        return True

    def _claimants(self, url: str) -> Sequence[_Kept]:
        """The documents that claim `url`, the strongest claim first."""
        found = [self._kept[urn] for urn in self._claimed.get(url, ())]
        return sorted(found, key=lambda kept: (kept.claims[url], kept.document.urn), reverse=True)

    def _remove(self, urn: str) -> None:
        for url in self._kept.pop(urn).claims:
            self._claimed[url].discard(urn)


def _as_held(document: Document, held: precedence.StoredState) -> Document:
    """The document without its body, updated by what is remembered of it."""
    return replace(
        document,
        body={},
        url=held.url,
        changed_at=held.changed_at,
        observed_at=held.observed_at,
        digest=held.digest,
        validator=held.validator,
        visits=held.visits,
        aliases=held.aliases,
        forms=held.forms,
    )


def _stored(kept: _Kept) -> Stored:
    document = kept.document
    return Stored(
        urn=document.urn,
        type_name=document.type_name,
        url=document.url,
        digest=document.digest,
        version=document.version,
        observed_at=document.observed_at,
        checked_at=kept.checked_at,
        processed_at=document.processed_at,
        validator=document.validator,
        visits=document.visits,
        deleted_at=document.deleted_at,
        forms=document.forms,
    )


def _listed(which: DocumentFilter, document: Document) -> bool:
    return (
        document.urn > which.after
        and which.admits(document.type_name)
        and (not which.scope or document.urn == which.scope or document.urn.startswith(f"{which.scope}:"))
        and (which.since is None or document.observed_at >= which.since)
        and (which.processed_since is None or document.processed_at >= which.processed_since)
        and (which.deleted is None or (document.deleted_at is not None) == which.deleted)
    )


class MemoryDeadletters:
    """Deadletters in a dictionary."""

    def __init__(self) -> None:
        self._kept: dict[str, Deadletter] = {}

    async def bury(self, deadletter: Deadletter) -> None:
        """As the port says."""
        self._kept.setdefault(deadletter.urn, deadletter)

    async def list(self, which: DeadletterFilter, *, limit: int, after: str = "") -> Sequence[Deadletter]:
        """As the port says. If `after` was deleted meanwhile, starts with the newest again."""
        letters = sorted(self._kept.values(), key=_age, reverse=True)
        last = self._kept.get(after)
        behind = [letter for letter in letters if last is None or _age(letter) < _age(last)]
        return [letter for letter in behind if admits(which, letter)][:limit]

    async def count(self, which: DeadletterFilter) -> DeadletterCounts:
        """As the port says."""
        letters = [letter for letter in self._kept.values() if admits(which, letter)]
        return DeadletterCounts.of((letter.request.type_name, letter.kind, 1) for letter in letters)

    async def get(self, urn: str) -> Deadletter | None:
        """As the port says."""
        return self._kept.get(urn)

    async def delete(self, urns: Sequence[str]) -> int:
        """As the port says."""
        return sum([self._kept.pop(urn, None) is not None for urn in urns])


def _age(deadletter: Deadletter) -> tuple[datetime, str]:
    return deadletter.last_at, deadletter.urn
