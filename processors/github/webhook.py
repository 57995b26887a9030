"""From a webhook delivery to the request that carries it.

How the service uses it: `Platform.deliveries` is `delivery_request`. Once a delivery's signature is verified and its
id taken, the admin room calls `platform.deliveries(event_name, delivery_id, body, received_at)` and pushes what comes
back onto `event`. It needs no call, keeps flowing while there is no quota, and is processed like any other request
(`processors.github.events`): the delivery itself becomes a document, and what it tells becomes follow-ups.

A webhook is given the form that the event feed has (`{id, type, actor, repo, org, public, payload}`), so that readers
find one kind of event, however it came.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from typing import Final

from ghcrawl.values.jsontext import JsonObject
from ghcrawl.values.requests import Context, Payload, Request
from ghcrawl.values.times import CLOCKS_DIFFER, moment
from processors.fields import at, mapping, number, text
from processors.github.names import NAME

POLICY: Final = "storageOriginIfMissing+match"
"""What an event tells is saved without a call; what it merely names is asked for where we hold nothing of it."""
FALLBACK: Final = "event"
"""The type of unknown events."""

_NAME = re.compile(r"[a-z][a-z0-9]*(?:_[a-z0-9]+)*")
_WHEN: Final = ("updated_at", "created_at", "pushed_at", "submitted_at", "closed_at", "merged_at", "published_at")
_FIRST_YEAR: Final = 1970
WITHIN_THE_SECOND: Final = timedelta(milliseconds=999)
"""GitHub's moments are seconds: what happened within one was true at its end."""


def type_of(event_name: str) -> str:
    """`PullRequestReviewEvent` of `pull_request_review`: the predecessor's and the event feed's names."""
    if _NAME.fullmatch(event_name) is None:
        return FALLBACK
    return "".join(part.capitalize() for part in event_name.split("_")) + "Event"


def delivery_request(
    event_name: str,
    delivery_id: str,
    body: JsonObject,
    received_at: datetime,
    *,
    known: frozenset[str] | None = None,
) -> Request:
    """The request for one verified delivery. Pure and total: any JSON object gives one.

    event_name, delivery_id: `X-GitHub-Event` and `X-GitHub-Delivery`. received_at: by our own clock.
    known: the types there are; others become FALLBACK. None: all of them are taken as they are.
    The key differs for each delivery and is the same for a redelivery.
    """
    repository, organization = mapping(body.get("repository")), _organization(body)
    type = type_of(event_name)
    if known is not None and type not in known:
        type = FALLBACK
    event = {"id": delivery_id, "type": type, "event": event_name, "payload": body, **_about(body)}
    observed_at = happened_at(body, received_at) or received_at
    return Request(
        platform=NAME,
        type=type,
        url=f"{_place(body) or f'webhook:{event_name}'}#{delivery_id}",
        policy=POLICY,
        context=Context(
            qualifier=urn_of(repository, organization),
            scope=text(repository.get("full_name")) or text(organization.get("login")),
            private=repository.get("private") is True,
        ),
        payload=Payload.of(
            event, origin="webhook", observed_at=observed_at, received_at=received_at, delivery_id=delivery_id
        ),
        asked_at=received_at,
    )


def urn_of(repository: JsonObject, organization: JsonObject) -> str:
    """What an event happened in: `urn:repo:12`, else `urn:org:9`, else nothing."""
    for kind, thing in (("repo", repository), ("org", organization)):
        identity = number(thing.get("id"))
        if identity is not None:
            return f"urn:{kind}:{identity}"
    return ""


def api_url(repository: JsonObject) -> str:
    """The API URL of a repository, whose `url` is that of its page in the payload of a push."""
    return text(repository.get("events_url")).removesuffix("/events")


def happened_at(body: JsonObject, received_at: datetime) -> datetime | None:
    """The latest moment that a payload's own things name, to the end of that second; None where they name none.

    What lies so far behind `received_at` that it cannot be is none. Not the moment it was received: GitHub delivers
    what failed again for three days, and then it is old.
    """
    named = (read_moment(thing.get(name)) for thing in _things(body) for name in _WHEN)
    found = [when for when in named if when is not None and when - received_at <= CLOCKS_DIFFER]
    return max(found) + WITHIN_THE_SECOND if found else None


def read_moment(value: object) -> datetime | None:
    """A moment as GitHub writes it: text, or seconds since 1970 in the payload of a push. None for anything else.

    A moment before 1970 is not real, and too close to the end of the calendar for arithmetic.
    """
    try:
        if isinstance(value, int) and not isinstance(value, bool):
            return datetime.fromtimestamp(value, UTC)
        when = moment(text(value))
        return when.replace(microsecond=0) if when.year >= _FIRST_YEAR else None
    except (ValueError, OverflowError, OSError):
        return None


def _things(body: JsonObject) -> Iterator[JsonObject]:
    yield body
    for value in body.values():
        yield mapping(value)


def _organization(body: JsonObject) -> JsonObject:
    """Whose event it is: the organisation, or the account that an App was installed on."""
    return mapping(body.get("organization")) or mapping(at(body, "installation", "account"))


def _about(body: JsonObject) -> dict[str, JsonObject | bool]:
    """Who did it, where, and for whom to see, as the event feed says it."""
    repository, organization = mapping(body.get("repository")), mapping(body.get("organization"))
    about: dict[str, JsonObject | bool] = {"actor": mapping(body.get("sender"))}
    if repository:
        about["repo"] = {"id": repository.get("id"), "name": repository.get("full_name"), "url": api_url(repository)}
        about["public"] = repository.get("private") is not True
    if organization:
        about["org"] = organization
    return about


def _place(body: JsonObject) -> str:
    """Where it would be listed: an API URL, unlike a push's `repository.url`."""
    for thing in (mapping(body.get("repository")), mapping(body.get("organization")), mapping(body.get("sender"))):
        if url := text(thing.get("events_url")).partition("{")[0]:
            return url
    return ""
