"""Parts: what a thing has exactly one of, at a path below its own: a README, its languages, its traffic."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from datetime import UTC
from itertools import pairwise
from typing import Final

from msgspec import Struct

from ghcrawl.platforms import kind
from ghcrawl.values.errors import Malformed
from ghcrawl.values.frozen import replace
from ghcrawl.values.jsontext import Json, JsonObject
from ghcrawl.values.outcome import Processor, Save, Visit
from ghcrawl.values.policy import parse
from ghcrawl.values.requests import Request
from processors.fields import number
from processors.github.condition import ALWAYS, Condition
from processors.github.document_graph import Node
from processors.github.names import owner_kind
from processors.github.webhook import POLICY

SHOWN: Final = 200
"""Characters of a refused body in the error."""


def nothing(_owner: JsonObject) -> JsonObject | None:
    """The owner's body does not hold it."""
    return None


def objects(body: Json) -> bool:
    """It is an array of objects."""
    return isinstance(body, list) and all(isinstance(item, Mapping) for item in body)


def arrays(body: Json) -> bool:
    """It is an array of arrays of numbers."""
    return isinstance(body, list) and all(isinstance(item, list) and counts(item) for item in body)


def counts(values: Iterable[Json]) -> bool:
    """All are numbers; where lines were deleted they are negative."""
    return all(number(value) is not None for value in values)


def has(*fields: str) -> Callable[[Json], bool]:
    """It is an object with these fields."""
    return lambda body: isinstance(body, Mapping) and all(field in body for field in fields)


class Resource(Struct, frozen=True):
    """The columns of a row that are given by position.

    type: of its documents and of the requests for them, and the name of the link on its owner.
    path: below the owner's URL.
    is_one: whether a body has what makes it this part, besides nothing at all; anything else is refused.
    """

    type: str
    path: str
    is_one: Callable[[Json], bool]


class Part(Resource, frozen=True, kw_only=True):
    """One such resource.

    of: the entity whose URL it lies below. elsewhere: other paths where it may be instead.
    when: the owner's body says that there may be one.
    settled: it changes only when its owner does, so of an unchanged owner that was here before only what is missing is
    asked for.
    computed: it is not ready when it is first requested: that call is answered with 202.
    limited: the words for what it is refused for with 422, because there is too much of it; empty: it never is.
    daily: each day's answer is a document of its own, because GitHub forgets.
    embedded: what makes its body of the owner's, so that it costs no call.
    was: what the predecessor called it, and what else of the predecessor's it holds.
    """

    of: str = "repo"
    elsewhere: tuple[str, ...] = ()
    when: Condition = ALWAYS
    settled: bool = False
    computed: bool = False
    limited: str = ""
    daily: bool = False
    embedded: Callable[[JsonObject], JsonObject | None] = nothing
    version: int = 1
    was: str = ""

    def urn(self, owner: str) -> str:
        """The URN of the part of `owner`; of all its days, where it has some."""
        return f"{owner}:{self.type}"

    def refusal(self, request: Request) -> str:
        """URN of the record of its refusal: one for all the paths where it may be."""
        return f"{self.urn(request.context.qualifier)}:refused"

    def fallback(self, request: Request) -> Request | None:
        """The request for the next path where it may be."""
        for path, following in pairwise((self.path, *self.elsewhere)):
            if request.url.endswith(path):
                return replace(request, url=request.url.removesuffix(path) + following)
        return None


def kind_of(part: Part) -> kind.Part:
    """The kind of request for `part`."""
    return kind.Part(
        processor=processor(part),
        position=part.type,
        version=part.version,
        refusal=part.refusal,
        limited=bool(part.limited),
        fallback=part.fallback,
    )


def add_part(node: Node, part: Part, owner_url: str) -> None:
    """Link `node` to its part, and follow it where the visitor map and the body say so."""
    if not part.when.holds(node.body):
        return
    urn = part.urn(node.urn)
    node.link(part.type, urn, type="collection" if part.daily else "resource")
    policy = node.visit.next_hops.thing(part.type)
    if policy is None:
        return
    context, url = node.context(qualifier=node.urn), owner_url + part.path
    body = part.embedded(node.body)
    if body is not None:
        if not node.dealt_with:
            node.follow(part.type, url, policy, context, payload=node.payload(body))
        return
    if node.dealt_with and part.settled:
        policy = parse(policy).named(POLICY).spec
    node.follow(part.type, url, policy, replace(context, urn="" if part.daily else urn), queue="later")


def processor(part: Part) -> Processor:
    """The function that processes visits to `part`. An array is kept as `{"elements": […]}`."""

    def process(visit: Visit) -> Save:
        request, body, owner = visit.request, visit.fetched.body, visit.request.context.qualifier
        said = body.get("elements", body) if isinstance(body, Mapping) else body
        if said != [] and not part.is_one(said):
            raise Malformed(f"this is no {part.type}: {str(body)[:SHOWN]}")
        body = {"elements": body} if isinstance(body, list) else body
        if owner_kind(owner) != part.of:
            raise Malformed(f"{part.type} is of a {part.of}, and {owner or 'nothing'!r} is none")
        urn, url = part.urn(owner), request.url
        if part.daily:
            day = visit.fetched.observed_at.astimezone(UTC).date().isoformat()
            urn, url = f"{urn}:{day}", f"{url.partition('#')[0]}#{day}"
        node = Node(visit, body=body, urn=urn, url=url, siblings=part.urn(owner))
        node.link(part.of, owner)
        return node.save(part.type)

    return process
