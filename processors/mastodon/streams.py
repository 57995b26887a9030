"""The stream of a subscription, and the requests that follow from its events."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime, timedelta
from typing import Final
from urllib.parse import quote

from ghcrawl.social.parsing import parse
from ghcrawl.social.plan import Plan, plans
from ghcrawl.values.documents import Document
from ghcrawl.values.frozen import replace
from ghcrawl.values.jsontext import Json
from ghcrawl.values.requests import Context, Payload, Push, Request
from processors.fields import at, mapping, text
from processors.mastodon.names import NAME, account_url, api, host_of, status_url
from processors.mastodon.pages import says, wants

TOLD: Final = frozenset({"update", "status.update"})
LATER: Final = timedelta(seconds=30)
"""After a deletion: what it is about may still wait in the queue."""


def channel(document: Document) -> tuple[str, str, str]:
    """The stream of a subscription, its tag, and the timeline that shows the same.

    There is no stream of one account: the public one is read, and what others write is left out here.
    """
    host, plan = host_of(document.url), _plan(document)
    words = plan.driver.value if plan.driver.kind == "query" else ""
    if words.startswith("#"):
        return "hashtag", words[1:], api(host, f"v1/timelines/tag/{quote(words[1:], safe='')}?limit=40")
    if identity := text(document.body.get("account_id")):
        return "public", "", f"{account_url(host, identity)}/statuses?limit=40"
    return "public", "", api(host, "v1/timelines/public?limit=40")


def told(document: Document, event: str, body: Json, now: datetime) -> Sequence[Push]:
    """Pushes for an event: a status with its body, or a request for one that was deleted."""
    host = host_of(document.url)
    if event == "delete" and str(body).isascii() and str(body).isdecimal():
        gone = Request(
            platform=NAME,
            type="status",
            url=status_url(host, str(body)),
            policy="event:self",
            context=Context(only_known=True),
            asked_at=now,
            root=document.root,
        )
        return (Push(request=gone, queue="immediate", not_before=now + LATER),)
    if event not in TOLD or not _asked_for(document, body):
        return ()
    payload = Payload.of(mapping(body), origin="event", observed_at=now, received_at=now)
    url = status_url(host, text(mapping(body).get("id")))
    request = Request(platform=NAME, type="status", url=url, policy="event", payload=payload, root=document.root)
    return (Push(request=request, queue="event"),)


def _asked_for(document: Document, body: Json) -> bool:
    status, plan = mapping(body), _plan(document)
    author = text(at(status, "account", "id"))
    identity = text(document.body.get("account_id"))
    if not text(status.get("id")).isalnum() or not author or (identity and author != identity):
        return False
    words = plan.driver.value if plan.driver.kind == "query" else ""
    return wants(plan, status) and (not words or says(status, words))


def _plan(document: Document) -> Plan:
    """The plan for statuses; other resources have no stream."""
    uri = parse(text(document.body.get("request")))
    return plans(replace(uri.with_params(stream=None, limit=None), resources=("post",)))[0]
