"""`/api/v1/deadletters`: list, filter, count, show; requeue and delete one, many or all.

Many are worked on for about a second an answer, the newest first. The answer says how many are left and by which bound
they are found; nothing is remembered here in between. Each batch is queued durably before its deadletters are deleted,
so that whoever repeats a call loses nothing, whenever this process or theirs is killed.
"""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import Annotated, Final

from pydantic import Field

from ghcrawl.admin.problems import Problem
from ghcrawl.admin.routing import Answer, Asked, Moment, Nothing, Route, Shape, Word
from ghcrawl.admin.shapes import CountsShape, DeadletterShape, DeadlettersShape, DeletedShape, RequeuedShape
from ghcrawl.admin.site import Site
from ghcrawl.model import Deadletter, QueueName
from ghcrawl.ports import DeadletterFilter

AT_ONCE: Final = 500
Words = Annotated[tuple[Word, ...], Field(max_length=100)]
Text = Annotated[str, Field(max_length=300)]


class Filtering(Shape):
    """Which deadletters. What is not given admits everything.

    type, kind: any of these; reason: text that the reason contains, whatever the case; host: of the request's URL;
    before: given up before that moment; older_than_s: given up so many seconds ago, or earlier.
    """

    type: Words = ()
    kind: Words = ()
    reason: Text = ""
    host: Text = ""
    before: Moment | None = None
    older_than_s: Annotated[float, Field(ge=0, le=3.2e9, allow_inf_nan=False)] | None = None


class Listing(Filtering):
    """A page. after: the URN behind which to go on."""

    limit: Annotated[int, Field(ge=1, le=AT_ONCE)] = 50
    after: Text = ""


class Choosing(Filtering):
    """Which deadletters are meant. Without a filter and without URNs, `all` has to be said.

    before: of what is left, from the answer before this one. dry_run: change nothing, and say how many it would be.
    """

    urns: Annotated[tuple[Text, ...], Field(max_length=1000)] = ()
    all: bool = False
    dry_run: bool = False


class Requeueing(Choosing):
    """to: the queue they go to; null: each where it came from."""

    to: QueueName | None = None


class To(Shape):
    """The queue it goes to; none: where it came from."""

    to: QueueName | None = None


def _filter(asked: Filtering, site: Site, urns: tuple[str, ...] = ()) -> DeadletterFilter:
    moments = [asked.before] if asked.before else []
    if asked.older_than_s is not None:
        moments.append(site.clock.now() - timedelta(seconds=asked.older_than_s))
    return DeadletterFilter(
        urns=urns,
        types=asked.type,
        kinds=asked.kind,
        reason=asked.reason,
        host=asked.host,
        before=min(moments, default=None),
    )


def _chosen(asked: Choosing, site: Site) -> DeadletterFilter:
    which = _filter(asked, site, asked.urns)
    if which == DeadletterFilter() and not asked.all:
        raise Problem(422, "say which deadletters: urns, a filter, or all", errors=[("all", "not said")])
    return which


async def _list(asked: Asked[Listing, None]) -> Answer:
    site, query = asked.site, asked.query
    found = await site.deadletters.list(_filter(query, site), limit=query.limit, after=query.after)
    behind = found[-1].urn if len(found) == query.limit else None
    shown = [DeadletterShape.of(letter, site.write) for letter in found]
    return Answer(value=DeadlettersShape(deadletters=shown, next=behind))


async def _count(asked: Asked[Filtering, None]) -> Answer:
    found = await asked.site.deadletters.count(_filter(asked.query, asked.site))
    return Answer(value=CountsShape.of(found))


async def the(site: Site, urn: str) -> Deadletter:
    """The deadletter of that name. Raises Problem."""
    letter = await site.deadletters.get(urn)
    if letter is None:
        raise Problem(404, f"there is no deadletter {urn[:200]}")
    return letter


async def _show(asked: Asked[Nothing, None]) -> Answer:
    return Answer(value=DeadletterShape.of(await the(asked.site, asked.path["urn"]), asked.site.write))


async def _requeue_one(asked: Asked[To, None]) -> Answer:
    letter = await the(asked.site, asked.path["urn"])
    return Answer(value=await _requeued(asked.site, DeadletterFilter(urns=(letter.urn,)), asked.query.to))


async def _delete_one(asked: Asked[Nothing, None]) -> Answer:
    letter = await the(asked.site, asked.path["urn"])
    deleted = await asked.site.deadletters.delete([letter.urn])
    return Answer(value=DeletedShape(matched=1, deleted=deleted, left=0, before=None, dry_run=False))


async def _requeue(asked: Asked[Nothing, Requeueing]) -> Answer:
    site, body = asked.site, asked.body
    which = _chosen(body, site)
    if not body.dry_run:
        return Answer(value=await _requeued(site, which, body.to))
    meant, before = await _would(site, which)
    shape = RequeuedShape(matched=meant, queued=0, bounced=0, unreadable=0, left=meant, before=before, dry_run=True)
    return Answer(value=shape)


async def _requeued(site: Site, which: DeadletterFilter, to: QueueName | None) -> RequeuedShape:
    done = await site.requeue(which, to)
    return RequeuedShape(
        matched=done.queued + done.bounced + done.unreadable + done.left,
        queued=done.queued,
        bounced=done.bounced,
        unreadable=done.unreadable,
        left=done.left,
        before=_exactly(done.before),
        dry_run=False,
    )


async def _delete(asked: Asked[Nothing, Choosing]) -> Answer:
    site, body = asked.site, asked.body
    which = _chosen(body, site)
    if body.dry_run:
        meant, before = await _would(site, which)
        return Answer(value=DeletedShape(matched=meant, deleted=0, left=meant, before=before, dry_run=True))
    done = await site.forget(which)
    return Answer(
        value=DeletedShape(
            matched=done.deleted + done.left,
            deleted=done.deleted,
            left=done.left,
            before=_exactly(done.before),
            dry_run=False,
        )
    )


async def _would(site: Site, which: DeadletterFilter) -> tuple[int, str | None]:
    """How many are meant now, and the bound by which exactly these are meant later."""
    which = which.until(site.clock.now())
    meant = (await site.deadletters.count(which)).total
    return meant, _exactly(which.before) if meant else None


def _exactly(moment: datetime | None) -> str | None:
    """To the microsecond, since it tells one deadletter from another."""
    return None if moment is None else moment.isoformat(timespec="microseconds")


_ALL: Final = "/api/v1/deadletters"
_ONE: Final = "/api/v1/deadletters/{urn}"
ROUTES: Final = (
    Route(
        method="GET",
        path=_ALL,
        name="listDeadletters",
        about="Requests that were given up, newest first",
        handle=_list,
        tag="deadletters",
        query=Listing,
        answer=DeadlettersShape,
    ),
    Route(
        method="GET",
        path="/api/v1/deadletter-counts",
        name="countDeadletters",
        about="How many there are, by type and by class of failure",
        handle=_count,
        tag="deadletters",
        query=Filtering,
        answer=CountsShape,
    ),
    Route(
        method="POST",
        path=f"{_ALL}/requeue",
        name="requeueDeadletters",
        about="Let those a filter means wait again, as if they had never been tried; to be repeated while any are left",
        handle=_requeue,
        role="operate",
        tag="deadletters",
        body=Requeueing,
        answer=RequeuedShape,
    ),
    Route(
        method="POST",
        path=f"{_ALL}/delete",
        name="deleteDeadletters",
        about="Forget those a filter means; to be repeated while any are left",
        handle=_delete,
        role="operate",
        tag="deadletters",
        body=Choosing,
        answer=DeletedShape,
    ),
    Route(
        method="GET",
        path=_ONE,
        name="showDeadletter",
        about="The whole story of one",
        handle=_show,
        tag="deadletters",
        answer=DeadletterShape,
        problems=(404,),
    ),
    Route(
        method="DELETE",
        path=_ONE,
        name="deleteDeadletter",
        about="Forget one",
        handle=_delete_one,
        role="operate",
        tag="deadletters",
        answer=DeletedShape,
        problems=(404,),
    ),
    Route(
        method="POST",
        path=f"{_ONE}/requeue",
        name="requeueDeadletter",
        about="Let one wait again, as if it had never been tried",
        handle=_requeue_one,
        role="operate",
        tag="deadletters",
        query=To,
        answer=RequeuedShape,
        problems=(404,),
    ),
)
