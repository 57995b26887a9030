"""Requests that ask for many things at once: which of them still need asking, and what becomes of the others."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping, Sequence
from typing import Final

from msgspec import Struct

from ghcrawl.engine.retrieval import Retrieval, answered, current
from ghcrawl.platforms.kind import Batch, Processed
from ghcrawl.values.errors import FetchError
from ghcrawl.values.jsontext import Json, digest
from ghcrawl.values.outcome import Refused, Retrieved
from ghcrawl.values.policy import parse
from ghcrawl.values.requests import Push, Request

WORTH_A_BATCH: Final = 2
"""Below this many members, ask for each alone: that costs no more, and brings a validator."""


class Sorted(Struct, frozen=True, kw_only=True):
    """asked: places of the members that a batch is to ask for. alone: the requests of those that go by themselves."""

    asked: Sequence[int]
    alone: tuple[Push, ...]


async def sort(
    request: Request, kind: Batch, of: Processed, retrieval: Retrieval, *, covers: Callable[[Request], bool]
) -> Sorted:
    """Divide the members of `request`. covers: whether a request was settled since it was asked for. Raises StoreError.

    What we hold with a validator is asked for alone, since it may be unchanged and then costs nothing; what was
    settled since the request was made is left out, and so is what is known to be refused.
    """
    members = kind.members(request)
    unsettled = [place for place, member in enumerate(members) if not covers(member.request)]
    found = await asyncio.gather(*(_placed(members[place], of, retrieval) for place in unsettled))
    asked = [place for place, each in zip(unsettled, found, strict=True) if each is True]
    alone = [each for each in found if isinstance(each, Push)]
    if len(asked) < WORTH_A_BATCH:
        alone += [members[place] for place in asked]
        asked = []
    return Sorted(asked=asked, alone=tuple(alone))


async def _placed(member: Push, of: Processed, retrieval: Retrieval) -> Push | bool:
    """The request that asks for it alone; True: ask for it in the batch; False: there is nothing to ask."""
    request = member.request
    stored = await retrieval.look_up(request)
    if stored is None:
        return not await retrieval.refusals.stands(request, of, None)
    if stored.deleted_at is not None:
        return member
    if not stored.answers:
        return True
    if answered(request, parse(request.policy).placed(of.position), stored):
        return False
    fresh = request.asked_at is not None and stored.checked_at >= request.asked_at
    return member if fresh or stored.validator is not None or current(request, stored) else True


def differences(request: Request, body: Json) -> tuple[str, ...]:
    """The fields in which the platform's own answer differs from what a batch said of the same moment."""
    proof = request.context.proof
    if isinstance(body, list):
        body = {str(item.get("id")): item for item in body if isinstance(item, Mapping)}
    if not proof or not isinstance(body, Mapping):
        return ()
    if any(digest(body.get(name)) != value for name, value in proof.as_of.items()):
        return ()
    return tuple(sorted(name for name, value in proof.fields.items() if name in body and digest(body[name]) != value))


def dealt_with(request: Request, kind: Batch, follow_ups: Sequence[Push]) -> tuple[Request, ...]:
    """The members' own requests, but for those that another batch among the follow-ups is still to ask for."""
    later = {
        member.request.key
        for push in follow_ups
        if push.request.type == request.type
        for member in kind.members(push.request)
    }
    return tuple(member.request for member in kind.members(request) if member.request.key not in later)


async def ask(request: Request, retrieval: Retrieval) -> Retrieved:
    """The platform's answer. What breaks twice is refused: then everything is asked for alone. Raises FetchError."""
    try:
        return await retrieval.fetcher.fetch(request, None)
    except FetchError as error:
        if request.attempt == 0:
            raise
        return Refused(status=error.status or 0, reason="batch_failed", detail=str(error))
