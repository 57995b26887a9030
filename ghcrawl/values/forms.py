"""Forms: one thing is told in several ways, and most of them leave something out.

    own      its own URL: the whole resource, as far as the credential may see it
    list     an element of a list        webhook  part of a delivery
    event    part of an event feed       batch    part of an answer about many things at once

What a form leaves out is not gone. So a document keeps what the body that comes does not mention, unless that body is
the word on it: the thing's own answer, or a newer one of the only form in which the field can have been seen. Nested
objects are joined likewise if both are of one thing, which their identity tells; lists are taken as they come.

`Known.partial` says that a body lacked fields which its form is known to leave out. `answers` says by that whether
what is stored is as good as the thing's own answer.
"""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from typing import Any, Final, Literal

from msgspec import Struct

from ghcrawl.values.jsontext import Json, JsonObject
from ghcrawl.values.times import moment, time_text

Form = Literal["own", "list", "webhook", "event", "batch"]
"""A representation of one thing: at its own URL, or in one of the shorter ones, each of which may omit fields."""
_IDENTITIES: Final = ("id", "node_id", "sha", "url", "key", "raw_url")


class Known(Struct, frozen=True, kw_only=True):
    """Since when one form of a thing is known, see `ghcrawl.values.forms`.

    changed_at, observed_at: as of the document that came in this form last.
    digest: of its body; empty once another form said otherwise, or nothing tells which is true.
    partial: it lacked fields that this form is known to leave out.
    """

    observed_at: datetime
    digest: str
    changed_at: str = ""
    partial: bool = False

    @property
    def rank(self) -> tuple[str, datetime]:
        """Sorts by how true it is."""
        return self.changed_at, self.observed_at

    def to_json(self) -> dict[str, Json]:
        """JSON with the metadata's camelCase names; moments to the microsecond."""
        value: dict[str, Json] = {"observedAt": time_text(self.observed_at), "digest": self.digest}
        if self.changed_at:
            value["changedAt"] = self.changed_at
        return {**value, "partial": True} if self.partial else value

    @classmethod
    def from_json(cls, value: JsonObject) -> Known:
        """What `to_json` wrote."""
        return cls(
            observed_at=moment(value["observedAt"]),
            digest=value["digest"],
            changed_at=value.get("changedAt", ""),
            partial=value.get("partial", False),
        )


Forms = Mapping[Form, Known]
"""The forms in which a thing was seen. None: it was saved before forms were told apart, or it has but one."""


def forms_json(forms: Forms) -> dict[str, Json]:
    """As `_metadata.forms` has them."""
    return {form: known.to_json() for form, known in forms.items()}


def forms_of(value: JsonObject) -> Forms:
    """What `forms_json` wrote."""
    return {form: Known.from_json(known) for form, known in value.items()}  # type: ignore[misc]  # ours, as written


def answers(forms: Forms, observed_at: datetime) -> bool:
    """Whether a document in these forms, last observed then, says what the thing's own URL would have said.

    One that was saved before forms were told apart does.
    """
    return not forms or any(
        (form == "own" or not known.partial) and (bool(known.digest) or known.observed_at >= observed_at)
        for form, known in forms.items()
    )


def covers(forms: Forms, form: Form, known: Known) -> bool:
    """Whether what `known` said and these forms do not is gone: only the thing itself, or the same form, says so.

    One list may leave out what another tells: a partial form says nothing of what it lacks.
    """
    found = (forms[each] for each in ("own", form) if each in forms)
    return any(not each.partial and each.rank >= known.rank for each in found)


def joined(newer: JsonObject, older: JsonObject) -> dict[str, Json]:
    """All that `newer` says of a thing, and what only `older` does."""
    return _joined(newer, older, of_one=True)


def agree(one: Json, other: Json) -> bool:
    """Whether two bodies say the same as far as both speak."""
    if isinstance(one, Mapping) and isinstance(other, Mapping):
        return all(agree(value, other[name]) for name, value in one.items() if name in other)
    return bool(one == other)


def contains(whole: Json, part: Json) -> bool:
    """Whether `whole` says all that `part` does."""
    if isinstance(whole, Mapping) and isinstance(part, Mapping):
        return all(name in whole and contains(whole[name], value) for name, value in part.items())
    return bool(whole == part)


def mentions(body: Json, other: Json) -> bool:
    """Whether `body` has all fields of `other`, with any values."""
    if isinstance(body, Mapping) and isinstance(other, Mapping):
        return all(name in body and mentions(body[name], value) for name, value in other.items())
    return True


def lacks(body: JsonObject, paths: frozenset[str]) -> bool:
    """Whether a field is missing. paths: names, with dots where they lie deeper; what has no such object lacks none."""
    return any(_lacks(body, path.split(".")) for path in paths)


def _lacks(body: JsonObject, path: list[str]) -> bool:
    for name in path[:-1]:
        inner = body.get(name)
        if not isinstance(inner, Mapping):
            return False
        body = inner
    return path[-1] not in body


def _joined(newer: JsonObject, older: JsonObject, *, of_one: bool) -> dict[str, Json]:
    found: dict[str, Any] = dict(newer)
    for name, value in older.items():
        if name not in newer:
            if of_one:
                found[name] = value
        elif isinstance(value, Mapping) and isinstance(newer[name], Mapping):
            found[name] = _joined(newer[name], value, of_one=_one_thing(newer[name], value))
    return found


def _one_thing(one: JsonObject, other: JsonObject) -> bool:
    """Whether both name themselves, and alike: by the first name that both have, for URLs change."""
    shared = next((name for name in _IDENTITIES if name in one and name in other), None)
    return shared is not None and bool(one[shared] == other[shared])
