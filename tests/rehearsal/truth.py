"""What the store must hold in the end: what GitHub's world holds, and not one deadletter."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final

from msgspec import Struct

from ghcrawl.ports.deadletters import DeadletterFilter
from ghcrawl.ports.store import DocumentFilter
from ghcrawl.simulator.github.oracle import TYPES
from ghcrawl.simulator.github.shapes.site import Body
from queues import codec
from stores.mongo.deadletters import MongoDeadletters
from stores.mongo.documents import MongoStore
from stores.mongo.driver import Mongo
from stores.mongo.settings import MongoSettings
from tests.support.living import EMBEDDED, UNTOLD

COUNTED: Final = frozenset({"open_issues", "open_issues_count"})
"""Counters of a repository that move without its `updated_at`. After a rotated token a copy is only asked for by that
date (ETags belong to a token), so these stay as they were until something else moves it."""


class Difference(Struct, frozen=True, kw_only=True):
    """Between the store and the world. missing, surplus: URNs. untrue: with the fields. deadletters: class and URL."""

    documents: int
    missing: list[str]
    surplus: list[str]
    untrue: list[str]
    deadletters: list[str]

    def __bool__(self) -> bool:
        return bool(self.missing or self.surplus or self.untrue or self.deadletters)


async def difference(settings: MongoSettings, world: Mapping[tuple[str, str], list[Body]]) -> Difference:
    """How the store differs from the world."""
    mongo = await Mongo.open(settings)
    try:
        store, letters = await MongoStore.open(mongo), await MongoDeadletters.open(mongo, codec)
        every = [one async for one in store.list(DocumentFilter())]
        found = {(one.type, one.urn): dict(one.body) for one in every if one.type in TYPES and not one.deleted_at}
        buried = await letters.list(DeadletterFilter(), limit=20)
    finally:
        await mongo.close()
    return Difference(
        documents=len(found),
        missing=sorted(urn for _, urn in world.keys() - found.keys()),
        surplus=sorted(urn for _, urn in found.keys() - world.keys()),
        untrue=sorted(
            f"{key[1]}: {fields}" for key, body in found.items() if (fields := _untrue(body, world.get(key)))
        ),
        deadletters=[f"{one.kind} {one.request.url}: {one.reason}" for one in buried],
    )


def _untrue(body: Body, true: Sequence[Body] | None) -> str:
    """The fields in which `body` differs from the nearest of those that would be true, but not in what it embeds."""
    differing = [_different(body, one) for one in true or ()]
    return min((" ".join(names) for names in differing), key=len, default="")


def _different(body: Body, true: Body) -> list[str]:
    return sorted(name for name in {*body, *true} - EMBEDDED - UNTOLD - COUNTED if body.get(name) != true.get(name))
