"""Computes the result of saving a document over a stored one, for every store. Adapters only write it.

Usually `stores.precedence` decides without the bodies. If the thing was seen in several forms, the two bodies are
joined (`ghcrawl.values.forms`): then `wants_body` returns True, and the adapter reads the whole stored document.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Literal

from msgspec import Struct

from ghcrawl.ports.store import Saved
from ghcrawl.values import forms
from ghcrawl.values.documents import Document, Validator
from ghcrawl.values.forms import Form, Forms, Known
from ghcrawl.values.frozen import replace
from ghcrawl.values.jsontext import digest
from stores import precedence
from stores.precedence import StoredState


class Merged(Struct, frozen=True, kw_only=True):
    """The result of a save.

    saved: what `Store.save` returns. held: what is remembered of the document from now on.
    written: the document whose body and links replace the stored ones; None keeps those.
    claims: URL → how strongly it is claimed. forgotten: URLs that no longer lead to the document.
    """

    saved: Saved
    held: StoredState
    written: Document | None
    claims: Mapping[str, str]
    forgotten: Collection[str] = ()


def wants_body(held: StoredState | None, document: Document) -> bool:
    """Whether `merged` needs the whole stored document, because some of its fields may still be valid."""
    form = precedence.form_of(document)
    if held is None or form is None or held.deleted:
        return False
    judged = precedence.judge(held, document)
    if judged == "same":
        return False
    if judged == "stale":
        return not forms.covers(held.forms, *form)
    if judged == "tied" and held.forms and form[0] not in held.forms:
        return True
    if not held.forms:
        return form[0] != "own" or form[1].partial
    return not all(forms.covers(document.forms, *each) for each in held.forms.items())


def merged(held: StoredState | None, document: Document, whole: Document | None = None) -> Merged:
    """The result of saving `document` over `held`. whole: the stored document, if `wants_body` is True."""
    if held is None:
        names = precedence.known_as(document, document.url, document.url, ())
        new = replace(StoredState.of(document), aliases=names)
        return Merged(saved="saved", held=new, written=document, claims=_claims(document))
    if whole is not None:
        return _joined(held, document, whole)
    judged = precedence.judge(held, document)
    if judged == "tied":
        document = _undecided(document)
    stale = precedence.older(document, held)
    known = held.forms
    if not stale and judged != "same" and document.origin != "storage":
        known = {**_overtaken(held.forms), **document.forms}
    elif judged == "same" and precedence.form_of(document):
        known = {**held.forms, **document.forms}
    effect: Effect = "stale" if stale else "same" if judged == "same" else "saved"
    keeps = document.validator is None and precedence.says_the_same(held, document)
    after = _after(held, document, effect, keeps_validator=keeps and document.deleted_at is None)
    after = replace(after, forms=known)
    written = replace(document, forms=known) if effect == "saved" else None
    return _with_names(judged, held, after, document, written)


Effect = Literal["saved", "same", "stale"]
"""Which document is valid from now on: the new one, both, or the stored one."""


def _joined(held: StoredState, document: Document, whole: Document) -> Merged:
    """Merge both bodies: fields of either are kept, and where both have a field, the newer document's value."""
    stale = precedence.older(document, held)
    top, bottom = (whole, document) if stale else (document, whole)
    body = forms.joined(top.body, bottom.body)
    nothing_new, still_true = body == whole.body, forms.contains(body, whole.body)
    differs = not held.digest or not forms.agree(document.body, whole.body)
    tied = precedence.may_tie(held, document) and differs
    known = {**(held.forms if still_true else _overtaken(held.forms)), **_seen(held, document, body, tied=tied)}
    poorer = "own" in known and not forms.answers(known, top.observed_at)
    mixed = not tied and poorer and not forms.mentions(top.body, bottom.body)
    if mixed:
        known = _overtaken(known, but="own")
    effect: Effect = "stale" if stale else "same" if nothing_new and document.version <= held.version else "saved"
    keeps = document.validator is None and still_true and not tied
    after = replace(_after(held, document, effect, keeps_validator=keeps), forms=known)
    if nothing_new and effect != "saved":
        return _with_names(_answer(effect, tied=tied, mixed=mixed), held, after, document, None)
    kept = {name: link for name, link in bottom.links.items() if name in body and name not in top.body}
    links = {**kept, **top.links}
    after = replace(after, digest="" if tied and (not stale or not held.digest) else _digest(body, document))
    written = replace(top, body=body, links=links, digest=after.digest, processed_at=document.processed_at)
    written = replace(written, forms=known)
    return _with_names(_answer("saved", tied=tied, mixed=mixed), held, after, document, written)


def _answer(effect: Effect, *, tied: bool, mixed: bool) -> Saved:
    return "tied" if tied else "mixed" if mixed else effect


def _seen(held: StoredState, document: Document, body: Mapping[str, object], *, tied: bool) -> dict[Form, Known]:
    """The form in which `document` was seen, unless the stored document has a newer body of that form."""
    form = precedence.form_of(document)
    if form is None:
        return {}
    name, known = form
    if name in held.forms and held.forms[name].rank > known.rank:
        return {}
    said = not tied and forms.contains(body, document.body)
    return {name: known if said else replace(known, digest="")}


def _overtaken(known: Forms, but: str = "") -> dict[Form, Known]:
    return {form: each if form == but else replace(each, digest="") for form, each in known.items()}


def _undecided(document: Document) -> Document:
    """The document without digests, so that the next save is compared with it again."""
    return replace(document, digest="", forms=_overtaken(document.forms))


def _digest(body: Mapping[str, object], document: Document) -> str:
    return document.digest if body == document.body else digest(body)


def _after(held: StoredState, document: Document, effect: Effect, *, keeps_validator: bool) -> StoredState:
    """What is remembered after the save, without forms and names."""
    if effect == "stale":
        return replace(held, visits=precedence.visited(held.visits, document, effect))
    validator: Validator | None = held.validator if keeps_validator else document.validator
    after = held if effect == "same" else replace(StoredState.of(document), aliases=held.aliases)
    return replace(
        after,
        changed_at=document.changed_at,
        observed_at=document.observed_at,
        checked_at=max(held.checked_at, document.fetched_at),
        validator=validator,
        visits=precedence.visited(held.visits, document, effect),
    )


def _with_names(
    saved: Saved, held: StoredState, after: StoredState, document: Document, written: Document | None
) -> Merged:
    """Add the URLs under which the document is found: also those of a stale or equal one."""
    names = precedence.known_as(document, after.url, held.url, held.aliases)
    return Merged(
        saved=saved,
        held=replace(after, aliases=names),
        written=written,
        claims=_claims(document),
        forgotten=precedence.forgotten(document, held.url, held.aliases, (after.url, *names)),
    )


def _claims(document: Document) -> Mapping[str, str]:
    return dict.fromkeys((document.url, *document.aliases), precedence.claim_strength(document))
