"""Request ⇄ bytes: the message that every queue carries, and that deadletters keep.

A message is one JSON object with `"v": 1`. Fields that stand at their defaults are left out; fields that a
reader does not know are ignored, so a field may be added without a new version. A version is raised when an old
reader would misunderstand a message; an old reader then refuses it instead of guessing.

Moments keep their microseconds: what is popped equals what was pushed.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from datetime import UTC, datetime
from typing import Any, Final

from ghcrawl.values.documents import Validator
from ghcrawl.values.errors import DecodeError, Unstorable
from ghcrawl.values.jsontext import dumps, loads
from ghcrawl.values.requests import Ancestor, Context, DeferredRequest, Failure, Pagination, Payload, Proof, Request
from ghcrawl.values.times import moment
from ghcrawl.values.type_names import LEGACY_PLATFORM

VERSION: Final = 1

_NO_CONTEXT: Final = Context()
_NO_WALK: Final = Pagination()


def encode(request: Request) -> bytes:
    """The message that `decode` reads. Raises Unstorable for a payload that is not JSON."""
    try:
        return dumps(_message(request))
    except (TypeError, ValueError, RecursionError) as error:
        raise Unstorable(f"{request.name[:200]} cannot be written as JSON: {error}") from error


def decode(body: bytes) -> Request:
    """The request in a message. Raises DecodeError, which keeps the bytes, for anything that is none."""
    try:
        value = loads(body)
    except (ValueError, RecursionError) as error:
        raise DecodeError(f"the message is not JSON: {error}", body=body) from error
    if not isinstance(value, dict):
        raise DecodeError(f"the message is {_kind(value)} and no JSON object", body=body)
    version = value.get("v")
    if type(version) is not int or version < 1:
        raise DecodeError(f"the message says no version that can be read: {str(version)[:40]!r}", body=body)
    if version > VERSION:
        reason = f"the message has version {version} and this program reads up to {VERSION}: a newer ghcrawl wrote it"
        raise DecodeError(reason, body=body)
    try:
        return _request(value)
    except KeyError as error:
        raise DecodeError(f"the message lacks {error}", body=body) from error
    except (TypeError, ValueError, OverflowError) as error:
        raise DecodeError(f"the message is malformed: {error}", body=body) from error


# Writing -----------------------------------------------------------------------------------------------------


def _message(request: Request) -> dict[str, Any]:
    message: dict[str, Any] = {
        "v": VERSION,
        "type": request.type,
        "url": request.url,
        "policy": request.policy,
        "platform": request.platform,
    }
    if request.context != _NO_CONTEXT:
        message["context"] = _context(request.context)
    if request.payload is not None:
        message["payload"] = _payload(request.payload)
    if request.attempt:
        message["attempt"] = request.attempt
    if request.failures:
        message["failures"] = [failure.to_json(at=_time(failure.at)) for failure in request.failures]
    if request.asked_at is not None:
        message["asked_at"] = _time(request.asked_at)
    if request.root:
        message["root"] = request.root
    return message


def _context(context: Context) -> dict[str, Any]:
    value: dict[str, Any] = {
        "qualifier": context.qualifier,
        "urn": context.urn,
        "scope": context.scope,
        "notes": context.notes,
        "private": context.private,
        "history": [str(ancestor) for ancestor in context.history],
        "only_known": context.only_known,
        "changed_at": context.changed_at,
        "proof": context.proof.to_json(),
    }
    value = {name: item for name, item in value.items() if item}
    if context.after:
        value["after"] = context.after
    if context.deleted_at is not None:
        value["deleted_at"] = _time(context.deleted_at)
    if context.pagination != _NO_WALK:
        value["walk"] = _walk(context.pagination)
    if context.then:
        value["then"] = [{"type": e.type, "url": e.url, "policy": e.policy} for e in context.then]
    if context.covered:
        value["covered"] = list(context.covered)
    return value


def _walk(pagination: Pagination) -> dict[str, Any]:
    value: dict[str, Any] = {
        "page": pagination.page,
        "first": pagination.first,
        "fresh": pagination.fresh,
        "since": pagination.since,
        "until": pagination.until,
        "newest": pagination.newest,
    }
    value.update({name: True for name in ("known", "changed", "partial", "covered") if getattr(pagination, name)})
    if pagination.started_at is not None:
        value["started_at"] = _time(pagination.started_at)
    return value


def _payload(payload: Payload) -> dict[str, Any]:
    value: dict[str, Any] = {
        "body": payload.body,
        "origin": payload.origin,
        "observed_at": _time(payload.observed_at),
        "digest": payload.digest,
    }
    if payload.received_at is not None:
        value["received_at"] = _time(payload.received_at)
    if payload.etag is not None:
        value["etag"] = payload.etag
    if payload.delivery_id is not None:
        value["delivery_id"] = payload.delivery_id
    if payload.validator is not None:
        value["validator"] = payload.validator.to_json()
    return value


def _time(moment: datetime) -> str:
    """As every version has written it: a message that is passed on stays as it was."""
    return (moment if moment.tzinfo is UTC else moment.astimezone(UTC)).isoformat()


# Reading -----------------------------------------------------------------------------------------------------


def _request(value: dict[str, Any]) -> Request:
    context, payload = value.get("context"), value.get("payload")
    return Request(
        type=_text(value["type"]),
        url=_text(value["url"]),
        policy=_text(value["policy"]),
        platform=_text(value.get("platform", LEGACY_PLATFORM)),
        context=_NO_CONTEXT if context is None else _read_context(_object(context)),
        payload=None if payload is None else _read_payload(_object(payload)),
        attempt=_number(value.get("attempt", 0)),
        failures=tuple(_read_failure(_object(failure)) for failure in _list(value.get("failures"))),
        asked_at=_moment(value.get("asked_at")),
        root=_text(value.get("root", "")),
    )


def _read_context(value: dict[str, Any]) -> Context:
    """Reads the fields that are there: most contexts have three."""
    found = {name: _CONTEXT[name](each) for name, each in value.items() if name in _CONTEXT}
    return Context(pagination=found.pop("walk", _NO_WALK), **found)


def _read_walk(value: dict[str, Any]) -> Pagination:
    return Pagination(
        page=_number(value["page"]),
        first=_text(value["first"]),
        fresh=bool(value["fresh"]),
        started_at=_moment(value.get("started_at")),
        since=_text(value["since"]),
        until=_text(value["until"]),
        newest=_text(value["newest"]),
        known=bool(value.get("known", False)),
        changed=bool(value.get("changed", False)),
        partial=bool(value.get("partial", False)),
        covered=bool(value.get("covered", False)),
    )


def _read_deferred(value: dict[str, Any]) -> DeferredRequest:
    return DeferredRequest(type=_text(value["type"]), url=_text(value["url"]), policy=_text(value["policy"]))


def _read_payload(value: dict[str, Any]) -> Payload:
    origin: Any = _text(value["origin"])  # a word of a later version is carried on, not refused
    return Payload(
        body=_object(value["body"]),
        origin=origin,
        observed_at=_known(_moment(value["observed_at"])),
        digest=_text(value["digest"]),
        received_at=_moment(value.get("received_at")),
        etag=_optional(value.get("etag")),
        delivery_id=_optional(value.get("delivery_id")),
        validator=None if value.get("validator") is None else Validator.from_json(_object(value["validator"])),
    )


def _read_failure(value: dict[str, Any]) -> Failure:
    status = value.get("status")
    return Failure(
        at=_known(_moment(value["at"])),
        cause=_text(value["cause"]),
        message=_text(value["message"]),
        status=None if status is None else _number(status),
        worker=_text(value.get("worker", "")),
    )


def _text(value: Any) -> str:
    if isinstance(value, str):
        return value
    raise TypeError(f"{_kind(value)} where there should be text")


def _optional(value: Any) -> str | None:
    return None if value is None else _text(value)


def _number(value: Any) -> int:
    if type(value) is int:
        return value
    raise TypeError(f"{_kind(value)} where there should be a whole number")


def _object(value: Any) -> dict[str, Any]:
    if isinstance(value, dict):
        return value
    raise TypeError(f"{_kind(value)} where there should be an object")


def _list(value: Any) -> list[Any]:
    if value is None:
        return []
    if isinstance(value, list):
        return value
    raise TypeError(f"{_kind(value)} where there should be a list")


def _moment(value: Any) -> datetime | None:
    return None if value is None else moment(_text(value))


def _known(moment: datetime | None) -> datetime:
    if moment is None:
        raise TypeError("no moment where there should be one")
    return moment


def _kind(value: Any) -> str:
    return "nothing" if value is None else type(value).__name__


def _texts(value: Any) -> tuple[str, ...]:
    return tuple([_text(each) for each in _list(value)])


_CONTEXT: Final[Mapping[str, Callable[[Any], Any]]] = {
    **dict.fromkeys(("qualifier", "urn", "scope", "notes", "after", "changed_at"), _text),
    **dict.fromkeys(("private", "only_known"), bool),
    "covered": _texts,
    "history": lambda value: tuple(map(Ancestor.of, _texts(value))),
    "deleted_at": _moment,
    "walk": lambda value: _NO_WALK if value is None else _read_walk(_object(value)),
    "then": lambda value: tuple([_read_deferred(_object(deferred)) for deferred in _list(value)]),
    "proof": lambda value: Proof.from_json({name: _text(each) for name, each in _object(value or {}).items()}),
}
"""How each field of a context is read."""
