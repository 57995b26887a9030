"""Compares the stored document with a new one, for every store. Pure."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from datetime import UTC, datetime
from typing import Final

from msgspec import Struct

from ghcrawl.ports.store import Saved, latest
from ghcrawl.values.documents import Document, Validator, precedence
from ghcrawl.values.forms import Form, Forms, Known
from ghcrawl.values.ties import unsettled
from ghcrawl.values.times import credible, moment

MAX_ALIASES: Final = 20
"""Limits aliases of list pages fetched with `since=`, whose URL differs every time. Renames never reach it."""


class StoredState(Struct, frozen=True, kw_only=True):
    """What is remembered of a stored document beside body and links: enough to decide about most saves.

    The fields are those of `Document`, and `checked_at` is that of `Stored`.
    """

    url: str
    changed_at: str
    observed_at: datetime
    checked_at: datetime
    digest: str
    version: int
    deleted: bool
    link_header: Mapping[str, str]
    validator: Validator | None
    visits: Mapping[str, datetime]
    aliases: tuple[str, ...]
    forms: Forms

    @property
    def precedence(self) -> str:
        """As `Document.precedence`."""
        return precedence(self.changed_at, self.observed_at)

    @classmethod
    def of(cls, document: Document) -> StoredState:
        """What is remembered of a document that was just fetched."""
        return cls(
            url=document.url,
            changed_at=document.changed_at,
            observed_at=document.observed_at,
            checked_at=document.fetched_at,
            digest=document.digest,
            version=document.version,
            deleted=document.deleted_at is not None,
            link_header=document.link_header,
            validator=document.validator,
            visits=document.visits,
            aliases=document.aliases,
            forms=document.forms,
        )


def form_of(document: Document) -> tuple[Form, Known] | None:
    """The form in which a document was just seen. None for tombstones, and unless it has exactly one form."""
    if document.deleted_at is not None or len(document.forms) != 1:
        return None
    return next(iter(document.forms.items()))


def says_the_same(held: StoredState, document: Document) -> bool:
    """Whether the digest of `document` equals that of the stored one, or of the body last seen in the same form."""
    if not document.digest:
        return not held.digest
    form = form_of(document)
    last = held.forms.get(form[0]) if form else None
    return document.digest in (held.digest, last.digest if last else None)


def judge(held: StoredState, document: Document) -> Saved:
    """The result of saving `document` over `held`, judged without their bodies.

    "same" means: equal bodies, made by a processor that is no newer; both or neither are tombstones; and equal `Link`
    headers, because a full first page stays equal when a second page appears.
    """
    same_body = says_the_same(held, document)
    if not same_body and may_tie(held, document):
        return "tied"
    if older(document, held):
        return "stale"
    same = (
        same_body
        and document.version <= held.version
        and (document.deleted_at is not None) == held.deleted
        and document.link_header == held.link_header
    )
    return "same" if same else "saved"


def older(document: Document, held: StoredState) -> bool:
    """Whether `held` is newer than `document`: by the last change, else by when each was observed.

    Changes are compared to the second, and more finely if both have fractions of a second.
    """
    new, known = _rank(document.precedence), _rank(held.precedence)
    if new[0] and new[0] == known[0] and "." in document.changed_at and "." in held.changed_at:
        ours, theirs = moment(document.changed_at, zone=UTC), moment(held.changed_at, zone=UTC)
        if ours != theirs:
            return ours < theirs
    return new < known


def _rank(precedence: str) -> tuple[str, str]:
    """The sort key of a precedence. A thing without a date, such as a draft review, sorts below all dates.

    An impossible date counts as none.
    """
    changed_at, _, observed = precedence.rpartition("|")
    return credible(changed_at, moment(observed)), observed


def may_tie(held: StoredState, document: Document) -> bool:
    """Whether different bodies are a tie: equal dates of change, and no way to tell which came later.

    A document processed again from the store is never part of a tie.
    """
    changed_at = held.changed_at
    if not changed_at or changed_at != document.changed_at or document.origin == "storage":
        return False
    if not credible(changed_at, document.observed_at):
        return False
    if held.deleted or document.deleted_at is not None:
        return False
    if document.precedence == held.precedence:
        return True
    return unsettled(changed_at, document.observed_at) and unsettled(changed_at, held.observed_at)


def visited(before: Mapping[str, datetime], document: Document, saved: Saved) -> Mapping[str, datetime]:
    """The visits of both, the later moment for each policy. A tombstone that is saved keeps only its own visits."""
    if saved == "saved" and document.deleted_at is not None:
        return document.visits
    return latest(before, document.visits)


def known_as(document: Document, url: str, own: str, before: tuple[str, ...]) -> tuple[str, ...]:
    """The aliases: URLs other than `url` that have led to the document, the oldest first; the last `MAX_ALIASES`.

    own, before: URL and aliases of the stored document.
    """
    if not document.aliases and document.url == own == url:
        return before
    names = dict.fromkeys((*before, own, *document.aliases, document.url))
    names.pop(url, None)
    return tuple(names)[-MAX_ALIASES:]


def forgotten(document: Document, own: str, before: tuple[str, ...], kept: Collection[str]) -> Collection[str]:
    """The URLs that no longer lead to the document because it has too many. kept: its URL and aliases."""
    if len(kept) <= MAX_ALIASES:
        return ()
    return {*before, own, *document.aliases, document.url}.difference(kept)


def claim_strength(document: Document) -> str:
    """How strongly `document` claims its URLs: the newest has the strongest claim, a tombstone the weakest."""
    return "" if document.deleted_at is not None else document.precedence


def older_generations(urn: str, supersede: str) -> tuple[str, str]:
    """The range of URNs, start and exclusive end, of the generations before that of `urn`."""
    return supersede, urn.rpartition(":page:")[0] or urn
