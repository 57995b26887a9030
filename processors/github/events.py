"""Processes events: each is a document, with the requests that its rules say.

Webhooks and elements of the event feed are processed alike. Things that a payload holds whole are saved from it with no
call; others are asked for, at once or when a burst is over, or become tombstones. `events_table` says which.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final

from ghcrawl.platforms.kind import Event, Kind
from ghcrawl.values.errors import Malformed
from ghcrawl.values.outcome import Processor, Save, Visit
from processors.github.document_graph import Node
from processors.github.entity import Entity
from processors.github.event_rules import EventRules
from processors.github.events_feed import TYPE, feed_kind, identity_of
from processors.github.events_table import EVENT_RULES, EventRule
from processors.github.listing import Listings
from processors.github.names import owner_kind, required
from processors.github.webhook import FALLBACK

POSITION: Final = "event"
"""The visitor map of events."""


def processor(rule: Sequence[EventRule], entities: Mapping[str, Entity], listings: Listings) -> Processor:
    """The function that processes events of one type."""

    def process(visit: Visit) -> Save:
        body, request = visit.fetched.body, visit.request
        if not isinstance(body, Mapping):
            raise Malformed("an event is an object")
        above = request.context.qualifier or "urn"
        urn = f"{above}:{request.type}:{required(identity_of(body), 'id')}"
        node = Node(visit, body=body, urn=urn, url=request.url, siblings=f"{above}:events")
        if owner := owner_kind(request.context.qualifier):
            node.link(owner, request.context.qualifier)
        rules = EventRules(visit, node, entities, listings)
        for each in rule:
            rules.apply(each)
        return Save(document=node.document(request.type), follow_ups=(*rules.pushes, *node.follow_ups))

    return process


def event_kinds(entities: Mapping[str, Entity], listings: Listings) -> Mapping[str, Kind]:
    """The kinds of feeds and of all events: one for each type there is, and one for unknown events."""
    told = {**EVENT_RULES, FALLBACK: ()}
    crawled = {*entities, *(type for _, type in listings)}
    events = {
        type: Event(
            processor=processor([each for each in rule if each.type in crawled], entities, listings), position=POSITION
        )
        for type, rule in told.items()
    }
    return {**events, TYPE: feed_kind()}
