"""A platform as one value: what it has, how its things are processed, what leads where, how a person names them.

Everything else in `ghcrawl`, `queues` and `stores` works on this value and imports nothing of any platform.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import datetime
from operator import attrgetter

from ghcrawl.model import Document, JsonObject, QueueName, Request
from ghcrawl.outcome import Processor
from ghcrawl.visitor_map import Scenarios


@dataclass(frozen=True, slots=True, kw_only=True)
class Census:
    """What was listed, to be held against what is stored.

    pages: URNs of the pages' documents; each has a link `resources` to what it names, and where that lies below the
    owner, URN and URL of each in the `elements` of its body.
    listed: the same of the last page, which may not be stored yet: URN → URL.
    type: of the elements. owner: URN of what they are of; below: theirs begin with it, else they link to it.
    lasting: the URL at which exactly this one answers, whoever has its name by now.
    """

    pages: tuple[str, ...]
    listed: Mapping[str, str]
    type: str
    owner: str
    below: bool
    lasting: Callable[[Document], str] = attrgetter("url")


@dataclass(frozen=True, slots=True, kw_only=True)
class Kind:
    """One type of request.

    position: where its requests stand in the visitor map when their policy names no map: `repo`, `repo@/issues`.
    version: of the processor; raised when its documents change shape, so that `reprocess` finds the old ones.
    queue: where requests of this kind go when a crawl discovers them.
    immutable: a copy once made is true for ever.
    happening: its documents say that something happened. That stays true when what they lie in is gone, and it is told
        once: a request that carries one that is stored already is nothing new.
    cursor: URN of the document that remembers how far a list was walked; None where nothing does.
    census: what a request of this kind holds against what is stored, instead of being processed.
    resume: the request that continues from that document (None: never walked); None where the walk that it remembers
        answers the request as well. Pure.
    refusal: URN of what remembers that a list or part was refused (see `ghcrawl.refused`); None where nothing is to.
    referred: others refer to it who cannot know whether it is shown; a refusal of it is remembered by its URL.
    limited: of too much of it the platform says 422 instead: that is how it is, and remembered like a refusal.
    private: whether a document may be one that is shown to some only, so that it looks gone to nobody in particular.
    fallback: another request for the same end, when this one's URL does not exist and we hold nothing of it.
    listed: it is found in lists only, and no URL answers with it alone.
    """

    processor: Processor
    position: str
    version: int = 1
    queue: QueueName = "normal"
    immutable: bool = False
    happening: bool = False
    cursor: Callable[[Request], str] | None = None
    resume: Callable[[Request, Document | None], Request | None] | None = None
    census: Callable[[Request], Census] | None = None
    refusal: Callable[[Request], str | None] | None = None
    referred: bool = False
    limited: bool = False
    private: Callable[[Document], bool] = lambda _document: False
    fallback: Callable[[Request], Request | None] | None = None
    listed: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Platform:
    """One API that can be crawled.

    read_spec: the requests that a person's words mean, given the API's base URL and a policy spec.
        Raises SpecError with a sentence that says what would be understood.
    deliveries: the request that carries one verified webhook delivery, given the event's name, the delivery's id, its
        body and when it was received by our clock; it goes to `event`. Total. None: the platform sends no webhooks.
    feed: the request that looks what happened lately in a thing, given its type and URL; `asked_at` is whoever polls'
        to say. None where there is no feed.
    """

    name: str
    kinds: Mapping[str, Kind]
    scenarios: Scenarios
    read_spec: Callable[[str, str, str], Request]
    deliveries: Callable[[str, str, JsonObject, datetime], Request] | None = None
    feed: Callable[[str, str], Request | None] = lambda _type, _url: None
