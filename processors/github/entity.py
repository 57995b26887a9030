"""The row of an entity, and the processor that it leads to."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from typing import Final

from msgspec import Struct

from ghcrawl.values.documents import FORM_OF, Origin
from ghcrawl.values.errors import Malformed
from ghcrawl.values.forms import Form
from ghcrawl.values.frozen import replace
from ghcrawl.values.jsontext import JsonObject
from ghcrawl.values.outcome import Processor, Save, Skip, Visit
from ghcrawl.values.times import dated
from processors.fields import text
from processors.github.document_graph import Node
from processors.github.listing import Listing, Listings, add
from processors.github.names import parent_of, repo_url
from processors.github.part import SHOWN, Part, add_part
from processors.github.response_checks import check


def stays(_visit: Visit) -> Skip | None:
    """It never comes to lie in another repository."""
    return None


def plain(_node: Node) -> None:
    """It leads to nothing but persons, lists and parts."""


def as_sent(body: JsonObject, _origin: Origin) -> JsonObject:
    """Webhooks and events write it as its own URL does."""
    return body


def own_url(body: JsonObject, _base: str) -> str:
    """The URL that the body itself gives."""
    return text(body.get("url"))


class Named(Struct, frozen=True):
    """The columns of a row that are given by position.

    endpoint: path of its own URL, as GitHub's documentation writes it.
    urn: its name, from its body and the URN of what it was found under. Raises Malformed.
    """

    type: str
    endpoint: str
    urn: Callable[[JsonObject, str], str]


class Entity(Named, frozen=True, kw_only=True):
    """One type of thing.

    also: other paths that are answered with one of them.
    people: names of the links to persons, which are fields of its body: each is linked and followed.
    describe: adds its other links and follow-ups to its node.
    lists: the lists whose elements it is, if they are not in `listings`.
    url: its own API URL, from its body and the API URL of what it was found under; empty where neither tells.
    plural: the name of its collections; `type` + s unless it says otherwise.
    parent: name of the link to what it lies in, by the URN's prefix; roots have none.
    changed: the fields that say when it last changed, the first that is there counting.
    moved: what becomes of a visit that was answered with a thing of another repository; None where it was not.
    as_rest: its body as its own URL writes it, where webhooks and events write it in another way.
    lacks: the fields that each form is known to leave out; those of `own` depend on who asks. Dots lead into objects.
    has_url: the body's `url` is its own; otherwise the URL that led here names it.
    was: what the predecessor called it, and what else of the predecessor's it holds.
    version: raised when its documents change shape.
    """

    describe: Callable[[Node], None] = plain
    people: tuple[str, ...] = ()
    lists: tuple[Listing, ...] = ()
    also: tuple[str, ...] = ()
    url: Callable[[JsonObject, str], str] = own_url
    plural: str = ""
    parent: str = ""
    changed: tuple[str, ...] = ("updated_at",)
    immutable: bool = False
    moved: Callable[[Visit], Skip | None] = stays
    as_rest: Callable[[JsonObject, Origin], JsonObject] = as_sent
    lacks: Mapping[Form, tuple[str, ...]] = {}
    has_url: bool = True
    version: int = 1
    was: str = ""

    def changed_at(self, body: JsonObject) -> str:
        """When it last changed, as UTC to the second; empty where nothing that it says is a moment."""
        return next((found for name in self.changed if (found := dated(text(body.get(name))))), "")

    def older(self, body: JsonObject, floor: str) -> bool:
        """Whether it did not change since `floor`, GitHub's text for a moment; empty: there is none.

        Roots are never older, because what lies in them may have changed; nor is what has no date.
        """
        changed = self.changed_at(body)
        return bool(self.parent and changed) and changed < floor

    def form(self, origin: Origin) -> Form | None:
        """The form in which it was seen there. What is found in lists alone is whole in them."""
        return "own" if origin == "list" and not self.endpoint else FORM_OF.get(origin)

    def leaves_out(self, form: Form) -> frozenset[str]:
        """The fields that it is known to lack in this form."""
        return frozenset(self.lacks.get(form, ()))

    @property
    def collection(self) -> str:
        """Name of its collections, and of its table."""
        return self.plural or f"{self.type}s"

    def siblings(self, urn: str) -> str:
        """URN of the collection that things of this type form beside each other."""
        above, _, type = urn.rpartition(":")[0].rpartition(":")
        return f"{above}:{self.plural or type + 's'}"


def processor(
    entity: Entity, listings: Listings, parts: Sequence[Part] = (), *, embeds_users: bool = False
) -> Processor:
    """The function that processes visits to `entity`, with every list and part that has it as its owner.

    embeds_users: the persons that it names are saved as they are embedded in it.
    """
    own = tuple(listing for (owner, _), listing in listings.items() if owner == entity.type)
    of_commit = tuple((row, row.via[entity.type]) for row in listings.values() if entity.type in row.via)
    held = tuple(part for part in parts if part.of == entity.type)

    def process(visit: Visit) -> Save | Skip:
        body = visit.fetched.body
        if not isinstance(body, Mapping):
            raise Malformed(f"a {entity.type} is an object, and this is {type(body).__name__}")
        if (moved := entity.moved(visit)) is not None:
            return moved
        body = entity.as_rest(body, visit.fetched.origin)
        node = _described(entity, visit, body, embeds_users=embeds_users)
        for listing in own:
            add(node, listing, listings, node.urn, node.url)
        for listing, sha_of in of_commit:
            if sha := sha_of(body):
                add(node, listing, listings, f"{node.repo}:commit:{sha}", f"{repo_url(node.url)}/commits/{sha}")
        for part in held:
            add_part(node, part, node.url)
        _run_deferred(node)
        form = entity.form(visit.fetched.origin)  # our own copy has none of its own
        left_out = entity.leaves_out(form) if form else frozenset()
        document = node.document(entity.type, entity.changed_at(body), form, left_out)
        return Save(document=document, follow_ups=node.follow_ups)

    return process


def _described(entity: Entity, visit: Visit, body: JsonObject, *, embeds_users: bool) -> Node:
    """The node of what `visit` found, with the links of its own."""
    urn = entity.urn(body, visit.request.context.qualifier)
    says = (own_url(body, "") if entity.has_url else "") or visit.request.url
    if not says.startswith(("http://", "https://")):
        raise Malformed(f"a {entity.type} has a URL, and this is none: {says[:SHOWN]}")
    if visit.fetched.origin != "storage":
        check(entity.type, body)
    node = Node(visit, body=body, urn=urn, url=says, siblings=entity.siblings(urn))
    node.embeds_users = embeds_users
    if entity.parent:
        node.link(entity.parent, parent_of(urn))
    for name in entity.people:
        found = body.get(name)
        (node.accounts if isinstance(found, list) else node.account)(name, found)
    entity.describe(node)
    return node


_BELOW: Final[tuple[tuple[re.Pattern[str], str], ...]] = (
    (re.compile(r"/pulls/(\d+)/"), "pull_request"),
    (re.compile(r"/issues/(\d+)/"), "issue"),
    (re.compile(r"/commits/([0-9a-f]{7,64})/"), "commit"),
    (re.compile(r"/deployments/(\d+)/"), "deployment"),
    (re.compile(r"/releases/(\d+)/"), "release"),
    (re.compile(r"/workflows/(\d+)/"), "workflow"),
    (re.compile(r"/actions/runs/(\d+)/"), "workflow_run"),
    (re.compile(r"/projectsV2/(\d+)/"), "project"),
)


def _run_deferred(node: Node) -> None:
    """Look at what a person asked for below this, now that it is known what this is called.

    What lies below another deferred request is that one's: only its answer tells what that is called.
    """
    deferred_requests = node.visit.request.context.then
    for deferred in deferred_requests:
        if any(deferred.url.startswith(f"{other.url}/") for other in deferred_requests):
            continue
        rest = tuple(other for other in deferred_requests if other.url.startswith(f"{deferred.url}/"))
        below = next(((kind, found[1]) for pattern, kind in _BELOW if (found := pattern.search(deferred.url))), None)
        qualifier = f"{node.urn}:{below[0]}:{below[1]}" if below else node.urn
        node.follow(
            deferred.type,
            deferred.url,
            deferred.policy,
            replace(node.context(qualifier=qualifier), then=rest),
            queue="immediate",
        )
