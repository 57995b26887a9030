"""A small world to crawl, known in advance to the last byte: what is to be found, and what is to be given up.

Each node leads to two others like a tree and to one more across it, so most are found more than once. Some are not
there, some fail at first, some fail for ever; to those only one node leads.
"""

from __future__ import annotations

from collections import deque
from datetime import UTC, datetime
from random import Random

from ghcrawl.platforms.contract import Platform
from ghcrawl.platforms.kind import Thing
from ghcrawl.values.documents import Document, Link
from ghcrawl.values.errors import FetchError, SpecError
from ghcrawl.values.jsontext import JsonObject, digest
from ghcrawl.values.lanes import QUEUES, QueueName
from ghcrawl.values.outcome import Save, Visit
from ghcrawl.values.requests import Context, Push, Request
from ghcrawl.values.times import iso
from ghcrawl.values.visitor_map import Scenarios
from tests.support.platforms import never_opened

PLATFORM = "graph"
API = "https://graph.example.test"
URL = f"{API}/nodes/"
ATTEMPTS = 3
POISON = 9
"""The node that kills its worker, where one is to."""


def number_of(url: str) -> int:
    return int(url.removeprefix(URL))


ONWARD = "default:node"
ALONE = "reload:node"
"""Policies: with all that a node leads to, and without."""


def node(number: int, asked_at: datetime | None, *, policy: str = ONWARD) -> Request:
    return Request(
        platform=PLATFORM,
        type="node",
        url=f"{URL}{number}",
        policy=policy,
        asked_at=asked_at,
        context=Context(qualifier=str(number)),
    )


def children(number: int, size: int) -> list[int]:
    """Where a node leads: two of its own and one of somebody else's."""
    across = (number * 7 + 3) % size + 1
    others = set() if unrecoverable(across) or across == POISON else {across}
    return sorted({child for child in {2 * number, 2 * number + 1} | others if 1 <= child <= size} - {number})


def queue_of(number: int) -> QueueName:
    return QUEUES[number % len(QUEUES)]


def missing(number: int) -> bool:
    return number % 41 == 7


def unrecoverable(number: int) -> bool:
    """It never answers anything but 500."""
    return number % 97 == 50 and not missing(number)


def failures(number: int) -> int:
    """How often it answers 500 before it answers."""
    return ATTEMPTS if unrecoverable(number) else 1 if number % 29 == 5 else 0


def body_of(number: int) -> dict[str, object]:
    """What never changes of a node."""
    return {"number": number, "name": f"node {number}", "text": Random(number).randbytes(number % 400).hex()}


def seen_at(number: int, version: int) -> dict[str, object]:
    """A node as it answers at one moment: it is another one each time that it is asked.

    version: nanoseconds since 1970, by the clock that all nodes share.
    """
    return body_of(number) | {"version": version}


def lasting(body: JsonObject) -> str:
    """Digest of what never changes in a node's answer."""
    return digest({name: item for name, item in body.items() if name != "version"})


def expected(size: int, poison: int = 0) -> tuple[dict[int, str], set[int]]:
    """What a crawl from node 1 comes to: number → digest of each document, and the numbers that are given up."""
    documents, dead = {}, set()
    seen, waiting = {1}, deque([1])
    while waiting:
        number = waiting.popleft()
        if unrecoverable(number) or number == poison:
            dead.add(number)
        elif not missing(number):
            documents[number] = digest(body_of(number))
            waiting.extend(child for child in children(number, size) if child not in seen)
            seen.update(children(number, size))
    return documents, dead


def platform(size: int) -> Platform:
    def process(visit: Visit) -> Save:
        request, fetched = visit.request, visit.fetched
        body = fetched.body
        number = body["number"]
        onward = children(number, size) if request.policy == ONWARD else []
        pushes = tuple(Push(request=node(child, request.asked_at), queue=queue_of(child)) for child in onward)
        urn = f"urn:graph:node:{number}"
        document = Document(
            platform=PLATFORM,
            type="node",
            url=request.url,
            urn=urn,
            body=body,
            links={"self": Link(type="resource", href=urn)},
            observed_at=fetched.observed_at,
            fetched_at=fetched.checked_at,
            processed_at=visit.processed_at,
            version=visit.version,
            digest=digest(body),
            changed_at=iso(datetime.fromtimestamp(body["version"] / 1e9, UTC), "milliseconds"),
        )
        return Save(document=document, follow_ups=pushes)

    return Platform(
        name=PLATFORM,
        kinds={"node": Thing(processor=process, position="node")},
        scenarios=Scenarios({"default": {"node": {}}}),
        read_spec=_read_spec,
        open=never_opened,
    )


def _read_spec(typed: str, api_url: str, policy: str) -> Request:
    raise SpecError("nobody types these")


def refuse(request: Request) -> None:
    """Raise what the node answers instead of its body, if it does."""
    if request.attempt < failures(number_of(request.url)):
        raise FetchError("internal error", url=request.url, status=500)
