"""`/api/v1/deadletters`: list, filter, count, show; requeue and delete one, many or all.

Many are worked on for about a second an answer, the newest first. The answer says how many are left and by which bound
they are found; nothing is remembered here in between. Each batch is queued durably before its deadletters are deleted,
so that repeating a call loses nothing, even if this process or the client is killed at any time.
"""

from __future__ import annotations

from collections.abc import Mapping
from datetime import timedelta
from typing import Annotated, Final

from pydantic import ConfigDict, Field, JsonValue

from ghcrawl.admin.problems import Problem
from ghcrawl.admin.routing import Asked, Moment, Nothing, Routes, Shape, Word
from ghcrawl.admin.shapes import CountsShape, DeadletterShape, DeadlettersShape, DeletedShape, RequeuedShape
from ghcrawl.admin.site import Site
from ghcrawl.ports.deadletters import DeadletterFilter
from ghcrawl.values.deadletters import Deadletter
from ghcrawl.values.lanes import QueueName
from ghcrawl.values.times import time_text

AT_ONCE: Final = 500
Words = Annotated[tuple[Word, ...], Field(max_length=100)]
Text = Annotated[str, Field(max_length=300)]


class Filtering(Shape):
    """A filter of deadletters. An omitted field matches all.

    type, platform, kind: any of these, a type as `issue` or `mastodon/status`; reason: text that the reason contains,
    ignoring case; host: host of the request's URL; before: dead-lettered before this time; older_than_s: dead-lettered
    at least this many seconds ago.
    """

    type: Words = ()
    platform: Words = ()
    kind: Words = ()
    reason: Text = ""
    host: Text = ""
    before: Moment | None = None
    older_than_s: Annotated[float, Field(ge=0, le=3.2e9, allow_inf_nan=False)] | None = None


class Listing(Filtering):
    """A page. after: the last URN of the previous page."""

    limit: Annotated[int, Field(ge=1, le=AT_ONCE)] = 50
    after: Text = ""


_SELECTS: Final[Mapping[str, dict[str, JsonValue]]] = {
    "all": {"const": True},
    **{name: {"minItems": 1} for name in ("urns", "kind", "type", "platform")},
    **{name: {"minLength": 1} for name in ("reason", "host")},
    "before": {"type": "string"},
    "older_than_s": {"type": "number"},
}
"""What a choice of deadletters must have one of."""


def _given(name: str, schema: JsonValue) -> JsonValue:
    return {"required": [name], "properties": {name: schema}}


class Choosing(Filtering):
    """Selects deadletters by URNs or filter; `all` is required to select all.

    before: `before` of the previous response, to continue. dry_run: show what would change, change nothing.
    """

    model_config = ConfigDict(json_schema_extra={"anyOf": [_given(name, schema) for name, schema in _SELECTS.items()]})

    urns: Annotated[tuple[Text, ...], Field(max_length=1000)] = ()
    all: bool = False
    dry_run: bool = False


class Requeueing(Choosing):
    """to: target queue; null: the original queue of each request."""

    to: QueueName | None = None


class To(Shape):
    """Target queue; none: the original queue of the request."""

    to: QueueName | None = None


def _filter(asked: Filtering, site: Site, urns: tuple[str, ...] = ()) -> DeadletterFilter:
    moments = [asked.before] if asked.before else []
    if asked.older_than_s is not None:
        moments.append(site.clock.now() - timedelta(seconds=asked.older_than_s))
    return DeadletterFilter(
        urns=urns,
        types=site.types(asked.type, asked.platform),
        platforms=asked.platform,
        kinds=asked.kind,
        reason=asked.reason,
        host=asked.host,
        before=min(moments, default=None),
    )


def _chosen(asked: Choosing, site: Site) -> DeadletterFilter:
    which = _filter(asked, site, asked.urns)
    if which == DeadletterFilter() and not asked.all:
        raise Problem(422, "select deadletters with urns, a filter, or all", errors=[("all", "missing")])
    return which


_ALL: Final = "/api/v1/deadletters"
_ONE: Final = "/api/v1/deadletters/{urn}"
ROUTES: Final = Routes("deadletters")


@ROUTES.add("GET", _ALL, "listDeadletters", "List deadletters, newest first")
async def _list(asked: Asked[Listing, None]) -> DeadlettersShape:
    site, query = asked.site, asked.query
    found = await site.deadletters.list(_filter(query, site), limit=query.limit, after=query.after)
    behind = found[-1].urn if len(found) == query.limit else None
    shown = [DeadletterShape.of(deadletter, site.write) for deadletter in found]
    return DeadlettersShape(deadletters=shown, next=behind)


@ROUTES.add("GET", "/api/v1/deadletter-counts", "countDeadletters", "Count deadletters by type and failure class")
async def _count(asked: Asked[Filtering, None]) -> CountsShape:
    found = await asked.site.deadletters.count(_filter(asked.query, asked.site))
    return CountsShape.of(found)


@ROUTES.add(
    "POST",
    f"{_ALL}/requeue",
    "requeueDeadletters",
    "Requeue the selected deadletters and reset their attempts; repeat while `left` is above 0",
)
async def _requeue(asked: Asked[Nothing, Requeueing]) -> RequeuedShape:
    site, body = asked.site, asked.body
    which = _chosen(body, site)
    if not body.dry_run:
        return await _requeued(site, which, body.to)
    meant, before = await _would(site, which)
    return RequeuedShape(matched=meant, queued=0, bounced=0, unreadable=0, left=meant, before=before, dry_run=True)


async def _requeued(site: Site, which: DeadletterFilter, to: QueueName | None) -> RequeuedShape:
    done = await site.requeue(which, to)
    return RequeuedShape(
        matched=done.queued + done.bounced + done.unreadable + done.left,
        queued=done.queued,
        bounced=done.bounced,
        unreadable=done.unreadable,
        left=done.left,
        before=time_text(done.before) if done.before else None,
        dry_run=False,
    )


@ROUTES.add(
    "POST",
    f"{_ALL}/delete",
    "deleteDeadletters",
    "Permanently delete the selected deadletters; repeat while `left` is above 0",
)
async def _delete(asked: Asked[Nothing, Choosing]) -> DeletedShape:
    site, body = asked.site, asked.body
    which = _chosen(body, site)
    if body.dry_run:
        meant, before = await _would(site, which)
        return DeletedShape(matched=meant, deleted=0, left=meant, before=before, dry_run=True)
    done = await site.forget(which)
    return DeletedShape(
        matched=done.deleted + done.left,
        deleted=done.deleted,
        left=done.left,
        before=time_text(done.before) if done.before else None,
        dry_run=False,
    )


async def _would(site: Site, which: DeadletterFilter) -> tuple[int, str | None]:
    """How many are meant now, and the bound by which exactly these are meant later."""
    which = which.until(site.clock.now())
    meant = (await site.deadletters.count(which)).total
    return meant, time_text(which.before) if meant and which.before else None


async def the(site: Site, urn: str) -> Deadletter:
    """The deadletter of that name. Raises Problem."""
    deadletter = await site.deadletters.get(urn)
    if deadletter is None:
        raise Problem(404, f"deadletter {urn[:200]} not found")
    return deadletter


@ROUTES.add("GET", _ONE, "showDeadletter", "Get one deadletter")
async def _show(asked: Asked[Nothing, None]) -> DeadletterShape:
    return DeadletterShape.of(await the(asked.site, asked.path["urn"]), asked.site.write)


@ROUTES.add("DELETE", _ONE, "deleteDeadletter", "Permanently delete one deadletter")
async def _delete_one(asked: Asked[Nothing, None]) -> DeletedShape:
    deadletter = await the(asked.site, asked.path["urn"])
    deleted = await asked.site.deadletters.delete([deadletter.urn])
    return DeletedShape(matched=1, deleted=deleted, left=0, before=None, dry_run=False)


@ROUTES.add("POST", f"{_ONE}/requeue", "requeueDeadletter", "Requeue one deadletter and reset its attempts")
async def _requeue_one(asked: Asked[To, None]) -> RequeuedShape:
    deadletter = await the(asked.site, asked.path["urn"])
    return await _requeued(asked.site, DeadletterFilter(urns=(deadletter.urn,)), asked.query.to)
