"""Documents and follow-ups: what all kinds of the web have in common."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import timedelta
from typing import Any, Final

from ghcrawl.values.documents import Link
from ghcrawl.values.frozen import replace
from ghcrawl.values.jsontext import Json, digest, dumps, loads
from ghcrawl.values.outcome import Save, Visit
from ghcrawl.values.requests import Context, Push, Request
from processors.saving import document, resource
from processors.web.urls import host_of, urn

PLATFORM: Final = "web"
STEP_S: Final = 0.05
PER_PAGE_S: Final = 0.000_5
"""How much longer a plan waits for company with each page that is known: it reads all of them."""


def notes(request: Request) -> dict[str, Any]:
    """Notes of the plan for this request."""
    try:
        value = loads(request.context.notes.encode()) if request.context.notes else {}
    except ValueError:
        return {}
    return value if isinstance(value, dict) else {}


def name_of(visit: Visit, type: str, url: str) -> str:
    """The URN of `url`; of what a blog has on other hosts, below the blog's own, where its plan finds it."""
    home = str(notes(visit.request).get("blog", "")).removeprefix("urn:web:").partition(":blog:")[0]
    return urn(type, url) if not home or host_of(url) == home else f"urn:web:{home}:{type}:{url}"


def noted(request: Request, type: str, url: str, policy: str, said: Mapping[str, Json]) -> Request:
    """A child of `request` that carries `said`."""
    context = Context(qualifier=request.context.qualifier, notes=dumps(dict(said)).decode())
    return request.child(type, url, policy, context)


def back_to_plan(visit: Visit) -> tuple[Push, ...]:
    """The plan goes on from here: soon, so that pages that come together make one plan of it."""
    said = notes(visit.request)
    if "plan" not in said:
        return ()
    request = visit.request.child("blog", said["plan"]["url"], said["plan"]["policy"], Context())
    wait = timedelta(seconds=STEP_S + PER_PAGE_S * said.get("known", 0))
    return (Push(request=request, queue="immediate", not_before=visit.processed_at + wait),)


def save(
    visit: Visit,
    type: str,
    urn: str,
    body: Mapping[str, Json],
    links: Mapping[str, Link],
    *,
    follow_ups: tuple[Push, ...] = (),
) -> Save:
    """The document of one page."""
    saved = document(
        visit,
        type=type,
        url=visit.fetched.url,
        urn=urn,
        body=body,
        links={"self": resource(urn), **links},
        checksum=digest(body),
        aliases=visit.fetched.aliases,
    )
    return Save(document=replace(saved, root=visit.request.root), follow_ups=follow_ups)
