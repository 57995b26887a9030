"""Applies the rules of an event: the requests that follow from it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import UTC, datetime, timedelta
from typing import Final

from msgspec import Struct

from ghcrawl.values.errors import Malformed
from ghcrawl.values.frozen import replace
from ghcrawl.values.jsontext import JsonObject
from ghcrawl.values.lanes import QueueName
from ghcrawl.values.outcome import Visit
from ghcrawl.values.policy import parse
from ghcrawl.values.requests import Context, Pagination, Payload, Push, Request
from ghcrawl.values.times import iso
from processors.fields import at, mapping, sequence, text
from processors.github.document_graph import Node
from processors.github.entity import Entity
from processors.github.events_table import Action, EventRule
from processors.github.listing import Listing, Listings, UpdateMode
from processors.github.names import org_url, scope_of
from processors.github.webhook import POLICY, api_url, urn_of

ASKING: Final = "event"
"""The policy by which things are asked for, at the position that the map gives them."""
BURST: Final = timedelta(minutes=1)
"""How long to wait for more events about one thing that needs a call."""
BUSY: Final = timedelta(minutes=10)
"""The same for what every event of a repository changes: its counters, and the issue side of its pull requests."""


class Place(Struct, frozen=True, kw_only=True):
    """Where something lies: its URN and API URL."""

    urn: str
    url: str


class EventRules:
    """Turns the rules of one event into requests. Lives for one call of one processor."""

    def __init__(self, visit: Visit, node: Node, entities: Mapping[str, Entity], listings: Listings) -> None:
        self._visit = visit
        self._node = node
        self._entities = entities
        self._listings = listings
        self._body = mapping(node.body.get("payload"))
        self._sender = self._body.get("sender") or node.body.get("actor")
        self._org = mapping(self._body.get("organization")) or mapping(node.body.get("org"))
        repo = mapping(node.body.get("repo"))
        self._place = Place(urn=urn_of(repo, {}), url=text(repo.get("url")))
        self.pushes: list[Push] = []

    def apply(self, rule: EventRule) -> None:
        """Queue what follows from it; nothing where the payload lacks what it needs."""
        if not rule.applies(self._body) or rule.type not in self._visit.next_hops.links:
            return
        if (listing := self._listing(rule)) is not None:
            self._read_list(rule, listing)
            return
        for thing in self._things(rule):
            match rule.action:
                case Action.SAVE if rule.whole(thing):
                    self._save(rule, thing)
                case Action.DELETE:
                    self._delete(rule, thing)
                case Action.FETCH_MISSING | Action.FETCH_ALL:
                    name = POLICY if rule.action is Action.FETCH_MISSING else ASKING
                    self._fetch(rule, thing, policy=f"{name}:{rule.type}")
                case Action.SAVE:
                    self._name_people(thing)
                    self._fetch(rule, thing)
                case _:
                    self._fetch(rule, thing)

    # Things --------------------------------------------------------------------------------------------------

    def _things(self, rule: EventRule) -> Sequence[JsonObject]:
        """The things in the payload that are meant, each with what gives it its name."""
        if rule.at == ("ref",):
            return self._refs()
        if not rule.at:
            return (mapping(self._body.get("repository")) or mapping(self._node.body.get("repo")),)
        found = at(self._body, *rule.at)
        if found is None and rule.at == ("organization",):
            found = self._org
        return [thing for thing in map(mapping, found if isinstance(found, list) else [found]) if thing]

    def _refs(self) -> Sequence[JsonObject]:
        name = text(self._body.get("ref"))
        for prefix in ("refs/heads/", "refs/tags/"):
            name = name.removeprefix(prefix)
        return ({"name": name},) if name else ()

    def _placed(self, rule: EventRule, thing: JsonObject) -> tuple[str, Context] | None:
        """URL and context of `thing`; None where the payload does not tell them, or not what it is called."""
        place = self._place
        if rule.lies_in:
            other = mapping(at(self._body, *rule.lies_in))
            place = Place(urn=urn_of(other, {}), url=api_url(other))
        entity = self._entities[rule.type]
        if entity.parent == "org":
            place = self._org_place
        qualifier = place.urn if entity.parent else ""
        url = self._url(entity, thing, place)
        try:
            urn = entity.urn(thing, qualifier)
        except Malformed:
            return None
        self._node.link(rule.type, urn)
        scope = scope_of(url) or self._node.scope
        context = Context(qualifier=qualifier, urn=urn, scope=scope, private=self._node.private)
        return (url, context) if url else None

    def _url(self, entity: Entity, thing: JsonObject, place: Place) -> str:
        if entity.type == "repo":
            url = api_url(thing)
            if not url and text(thing.get("full_name")):
                url = f"{self._api_root()}/repos/{thing['full_name']}"
            return url or (place.url if urn_of(thing, {}) == place.urn else "")
        if entity.type == "pull_request" and thing.get("pull_request"):
            return text(mapping(thing["pull_request"]).get("url"))
        if entity.type == "org":
            return org_url(text(thing.get("url")))
        return entity.url(thing, place.url) if place.url or not entity.parent else ""

    def _api_root(self) -> str:
        """The root of the API, from the URL of the account in the event."""
        account = mapping(at(self._body, "installation", "account")) or mapping(self._sender)
        root, users, _ = text(account.get("url")).partition("/users/")
        return root if users else ""

    # Verbs ---------------------------------------------------------------------------------------------------

    def _save(self, rule: EventRule, thing: JsonObject) -> None:
        if (placed := self._placed(rule, thing)) is None:
            return
        url, context = placed
        policy = self._visit.next_hops.links[rule.type].thing or f"{POLICY}:self"
        payload = self._payload(thing, self._visit.fetched.observed_at if rule.dated else self._asked_at)
        self._push(self._request(rule.type, url, policy, context, payload), "event")
        self._node.account("sender", self._sender)

    def _delete(self, rule: EventRule, thing: JsonObject) -> None:
        """What is gone never comes back under its name, so it is gone from whenever we heard of it."""
        if (placed := self._placed(rule, thing)) is None:
            return
        url, context = placed
        context = replace(context, deleted_at=self._asked_at)
        payload = self._payload(thing, self._asked_at)
        self._push(self._request(rule.type, url, f"{POLICY}:self", context, payload), "event")

    def _fetch(self, rule: EventRule, thing: JsonObject, *, policy: str = "") -> None:
        if (placed := self._placed(rule, thing)) is None:
            return
        url, context = placed
        if not policy:
            step = parse(self._visit.next_hops.links[rule.type].thing or ASKING).named(ASKING)
            policy = (step.at("self") if step.map in ("", "people") else step).spec
        if rule.action is not Action.FETCH_LATER:
            self._push(self._request(rule.type, url, policy, context), "soon")
            return
        request = self._request(rule.type, url, policy, replace(context, only_known=True))
        self._push(request, "later", wait=BUSY if rule.type == "repo" else BURST)

    def _read_list(self, rule: EventRule, listing: Listing) -> None:
        for owner in self._owners(rule):
            self._read_list_of(owner, rule, listing)

    def _read_list_of(self, owner: Place, rule: EventRule, listing: Listing) -> None:
        later, url = rule.action is Action.FETCH_LATER, listing.url(owner.url)
        pagination = Pagination(first=url)
        if later and listing.updates is UpdateMode.SINCE:
            since = self._bucket()
            url, pagination = listing.url_since(owner.url, since), Pagination(since=since)
        context = Context(
            qualifier=owner.urn,
            scope=self._node.scope,
            private=self._node.private,
            pagination=pagination,
            only_known=later,
        )
        policy = parse(self._visit.next_hops.links[rule.type].pages).named(ASKING).spec
        request = self._request(rule.type, url, policy, context)
        wait = BUSY if later else BURST if rule.of == "commit" else None
        self._push(request, "later" if wait else "soon", wait=wait)

    def _bucket(self) -> str:
        """Since when to look for what has changed: one moment for all events of `BUSY`, so that they share a call.

        The list's own cursor stays where it is: a pagination from there also reads these changes.
        """
        seconds = int(self._visit.fetched.observed_at.timestamp())
        began = seconds - seconds % int(BUSY.total_seconds()) - int(BURST.total_seconds())
        return iso(datetime.fromtimestamp(began, UTC), "seconds")

    def _name_people(self, thing: JsonObject) -> None:
        """The people in a part of a thing. The complete thing may name another person, who then did it."""
        for account in (self._sender, thing.get("user"), *sequence(thing.get("assignees"))):
            self._node.account("sender", account)

    # Requests ------------------------------------------------------------------------------------------------

    @property
    def _asked_at(self) -> datetime:
        """Since when an answer is fresh enough: since we heard of it."""
        return self._visit.request.asked_at or self._visit.fetched.checked_at

    def _owners(self, rule: EventRule) -> Sequence[Place]:
        """What the list is of: that which the payload says enough of to name it."""
        if rule.of:
            things = [self._placed(replace(rule, type=rule.of), thing) for thing in self._things(rule)]
            found = [Place(urn=context.urn, url=url) for url, context in filter(None, things)]
        elif rule.at == ("organization",):
            found = [self._org_place]
        else:
            found = [self._place]
        return [each for each in found if each.urn and each.url]

    @property
    def _org_place(self) -> Place:
        return Place(urn=urn_of({}, self._org), url=org_url(text(self._org.get("url"))))

    def _listing(self, rule: EventRule) -> Listing | None:
        kind = rule.of or ("org" if rule.at == ("organization",) else "repo")
        return self._listings.get((kind, rule.type))

    def _payload(self, thing: JsonObject, observed_at: datetime) -> Payload:
        """A body that was long under way answers nothing that was asked since the moment it is of."""
        payload = self._visit.request.payload
        origin, received_at = payload.origin if payload else "event", min(self._asked_at, observed_at)
        return Payload.of(thing, origin=origin, observed_at=observed_at, received_at=received_at)

    def _request(self, type: str, url: str, policy: str, context: Context, payload: Payload | None = None) -> Request:
        """What was true before we heard of the event does not answer it."""
        return replace(self._visit.request.child(type, url, policy, context, payload), asked_at=self._asked_at)

    def _push(self, request: Request, queue: QueueName, *, wait: timedelta | None = None) -> None:
        at = self._visit.processed_at + wait if wait else None
        self.pushes.append(Push(request=request, queue=queue, not_before=at))
