"""The result of a save, for every store. Pure."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Final

from ghcrawl.ports.store import Saved, latest
from ghcrawl.values.model import Document, Form, Forms, Known, Validator, credible, moment, precedence
from ghcrawl.values.ties import unsettled

MAX_ALIASES: Final = 20
"""The page of a list that is asked for by `since=` has another URL every time; nothing is renamed as often."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Held:
    """What is remembered of a document beside body and links: all that decides about one that comes.

    The fields are as in `Document`, and `checked_at` as in `Stored`.
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
        """As of the document."""
        return precedence(self.changed_at, self.observed_at)

    @classmethod
    def of(cls, document: Document) -> Held:
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
    """The form in which a living document was just seen; None where it is of no form, or put together."""
    if document.deleted_at is not None or len(document.forms) != 1:
        return None
    return next(iter(document.forms.items()))


def says_the_same(held: Held, document: Document) -> bool:
    """Whether `document` is known to say what is held, or what it said in its form last, which still holds."""
    if not document.digest:
        return not held.digest
    form = form_of(document)
    last = held.forms.get(form[0]) if form else None
    return document.digest in (held.digest, last.digest if last else None)


def judge(held: Held, document: Document) -> Saved:
    """What saving `document` over `held` does, as far as can be told without their bodies.

    Content is the same if the body is, if it was made by a processor that is no newer, if both or neither are
    tombstones, and if it leads to the same next page: a full first page looks the same when a second one appears.
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


def older(document: Document, held: Held) -> bool:
    """Whether what is held is truer: changed later, to the second or finer where both say so; else seen later."""
    new, known = _rank(document.precedence), _rank(held.precedence)
    if new[0] and new[0] == known[0] and "." in document.changed_at and "." in held.changed_at:
        ours, theirs = moment(document.changed_at, zone=UTC), moment(held.changed_at, zone=UTC)
        if ours != theirs:
            return ours < theirs
    return new < known


def _rank(precedence: str) -> tuple[str, str]:
    """Sorts by precedence; a thing without a date yet, such as a review in draft, sorts below all dates.

    A date that cannot be is none.
    """
    changed_at, _, observed = precedence.rpartition("|")
    return credible(changed_at, moment(observed)), observed


def may_tie(held: Held, document: Document) -> bool:
    """Whether it is a tie if they say different things. What comes from our own copy says nothing new."""
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
    """All visits, each with its latest moment: what was settled here stays settled, until the thing is deleted."""
    if saved == "saved" and document.deleted_at is not None:
        return document.visits
    return latest(before, document.visits)


def known_as(document: Document, url: str, own: str, before: tuple[str, ...]) -> tuple[str, ...]:
    """The URLs except `url` under which it was found, the oldest first, as many as are kept.

    own, before: URL and aliases of the stored document.
    """
    if not document.aliases and document.url == own == url:
        return before
    names = dict.fromkeys((*before, own, *document.aliases, document.url))
    names.pop(url, None)
    return tuple(names)[-MAX_ALIASES:]


def forgotten(document: Document, own: str, before: tuple[str, ...], kept: Collection[str]) -> Collection[str]:
    """The URLs that led to it, or were about to, and do no more: all but `kept`, its URL and aliases by now."""
    if len(kept) <= MAX_ALIASES:
        return ()
    return {*before, own, *document.aliases, document.url}.difference(kept)


def claim_strength(document: Document) -> str:
    """How strongly `document` claims its URLs: the truest representation has them, and a tombstone takes none away."""
    return "" if document.deleted_at is not None else document.precedence


def older_generations(urn: str, supersede: str) -> tuple[str, str]:
    """From which URN up to which (exclusive) the generations before the one of `urn` lie."""
    return supersede, urn.rpartition(":page:")[0] or urn
