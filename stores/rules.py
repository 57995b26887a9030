"""What a save comes to, whatever keeps the documents. Pure; every adapter goes by it."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Final

from ghcrawl.ports.store import Saved
from ghcrawl.values.model import Document, credible, moment
from ghcrawl.values.ties import unsettled

MAX_ALIASES: Final = 20
"""The page of a list that is asked for by `since=` has another URL every time; nothing is renamed as often."""
MAX_VISITS: Final = 20
"""Policies that name a date are new every day."""


@dataclass(frozen=True, slots=True)
class Held:
    """Of the document that is there, all that decides about one that comes."""

    precedence: str
    digest: str
    version: int
    deleted: bool
    link_header: Mapping[str, str]


def judge(held: Held, document: Document) -> Saved:
    """What saving `document` over `held` does.

    Content is the same if the body is, if it was made by a processor that is no newer, if both or neither are
    tombstones, and if it leads to the same next page: a full first page looks the same when a second one appears.
    """
    if _tied(held, document):
        return "tied"
    if _rank(document.precedence) < _rank(held.precedence):
        return "stale"
    same = (
        document.digest == held.digest
        and document.version <= held.version
        and (document.deleted_at is not None) == held.deleted
        and document.link_header == held.link_header
    )
    return "same" if same else "saved"


def _rank(precedence: str) -> tuple[str, str]:
    """Sorts as precedence does, and below anything that has a date what has none yet: a review nobody submitted.

    A date that cannot be is none.
    """
    changed_at, _, observed = precedence.rpartition("|")
    return credible(changed_at, moment(observed)), observed


def _tied(held: Held, document: Document) -> bool:
    changed_at, _, observed = held.precedence.rpartition("|")
    if not changed_at or changed_at != document.changed_at or document.digest == held.digest:
        return False
    if not credible(changed_at, document.observed_at):
        return False
    if held.deleted or document.deleted_at is not None:
        return False
    if document.precedence == held.precedence:
        return True
    return unsettled(changed_at, document.observed_at) and unsettled(changed_at, moment(observed))


def settled(judged: Saved, held: Held, document: Document) -> tuple[Saved, Document]:
    """What to do about it, which is never "tied", and with which document."""
    if judged != "tied":
        return judged, document
    if _rank(document.precedence) < _rank(held.precedence):
        return "stale", document
    return "saved", replace(document, digest="")


def keeps_validator(held: Held, document: Document) -> bool:
    """Whether the stored validator stays: it still describes the body, and nothing better came with it."""
    return document.validator is None and document.digest == held.digest and document.deleted_at is None


def visited(before: Mapping[str, datetime], document: Document, saved: Saved) -> Mapping[str, datetime]:
    """All visits, each with its latest moment: what was settled here stays settled, until the thing is deleted."""
    if saved == "saved" and document.deleted_at is not None:
        return document.visits
    return latest(before, document.visits)


def latest(before: Mapping[str, datetime], visits: Mapping[str, datetime]) -> Mapping[str, datetime]:
    """Both, and where both say something, the later moment; the latest of them, as many as are kept."""
    merged = {**before, **visits}
    for policy, at in before.items():
        merged[policy] = max(at, merged[policy])
    if len(merged) <= MAX_VISITS:
        return merged
    newest = sorted(merged.items(), key=lambda visit: (visit[1], visit[0]))[-MAX_VISITS:]
    return {policy: at for policy, at in merged.items() if (policy, at) in newest}


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
