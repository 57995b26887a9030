"""From a question to the bytes of its answer; bytes are kept until the world changes."""

from __future__ import annotations

import gzip
from collections.abc import Mapping
from email.utils import formatdate
from functools import cached_property, lru_cache
from typing import Any, Final

from msgspec import Struct

from ghcrawl.simulator.answers import Answer
from ghcrawl.simulator.github.moments import seconds
from ghcrawl.simulator.github.paging import cut
from ghcrawl.simulator.github.principals import Viewer
from ghcrawl.simulator.github.routes.ask import Ask, Many, One
from ghcrawl.simulator.github.routes.resolve import Resolver
from ghcrawl.simulator.github.routes.table import Found
from ghcrawl.simulator.github.shapes.site import in_version
from ghcrawl.simulator.github.world import World
from ghcrawl.values.frozen import replace
from ghcrawl.values.jsontext import dumps

JSON_TYPE: Final = "application/json; charset=utf-8"
MAX_KEPT_BYTES: Final = 96_000_000


class Rendered(Struct, frozen=True, kw_only=True, dict=True):
    """An answer as bytes, before anything is said that depends on who asked or when.

    last_modified: as HTTP writes dates. validated: it has an ETag and can be asked for conditionally.
    """

    status: int
    body: bytes
    content_type: str = JSON_TYPE
    headers: Mapping[str, str] = {}
    last_modified: str | None = None
    validated: bool = False

    @cached_property
    def compressed(self) -> bytes:
        """The body for those who accept gzip."""
        return gzip.compress(self.body, compresslevel=1, mtime=0)


@lru_cache(maxsize=8192)
def http_date(moment: str) -> str:
    """A moment of a body as a header writes it."""
    return formatdate(seconds(moment), usegmt=True)


def rendered_answer(answer: Answer) -> Rendered:
    """An answer that depends on nothing."""
    headers = dict(answer.headers)
    content_type = headers.pop("Content-Type", JSON_TYPE)
    is_text = answer.body is None or isinstance(answer.body, str)
    body = (answer.body or "").encode() if is_text else dumps(answer.body)
    return Rendered(status=answer.status, body=body, content_type=content_type, headers=headers)


class Renderer:
    """Answers questions about one world."""

    def __init__(self, world: World) -> None:
        self._world = world
        self._computed: set[tuple[int, str, str]] = set()
        self._kept: dict[tuple[str, str, Viewer, str], Rendered] = {}
        self._kept_bytes = 0
        self._revision = world.revision

    def render(self, ask: Ask) -> Rendered:
        """The answer. Raises Refusal for what has no other."""
        if self._revision != self._world.revision or self._kept_bytes > MAX_KEPT_BYTES:
            self._kept.clear()
            self._kept_bytes = 0
            self._revision = self._world.revision
        key = (ask.path, ask.query, ask.viewer, ask.version + ask.accept)
        kept = self._kept.get(key)
        if kept is not None:
            return kept
        rendered = self._render(ask)
        if rendered.validated and not ask.path.endswith("/events"):  # feeds show what happened some time later
            self._kept[key] = rendered
            self._kept_bytes += len(rendered.body)
        return rendered

    def _render(self, ask: Ask) -> Rendered:
        route = Resolver(ask.world, ask.site, ask.viewer).resolve(ask.path, ask.query)
        ask = replace(ask, numeric=route.numeric, computed=self._computed)
        found: Found = route.finder(ask, *route.arguments)
        if isinstance(found, Answer):
            return rendered_answer(found)
        body, headers = _shaped(ask, found)
        return Rendered(
            status=200,
            body=dumps(in_version(body, ask.version)),
            headers=headers,
            last_modified=http_date(found.last_modified) if found.last_modified else None,
            validated=not ask.path.startswith("/search/"),
        )


def _shaped(ask: Ask, found: One | Many[Any]) -> tuple[Any, Mapping[str, str]]:
    if isinstance(found, One):
        return found.body, {}
    page = cut(ask, found)
    bodies = [found.shape(element) for element in page.elements]
    headers = dict(found.headers)
    if page.link:
        headers["Link"] = page.link
    if found.partial:
        ids = ",".join(str(each) for each in found.partial)
        headers["X-GitHub-SSO"] = f"partial-results; organizations={ids}"
    return found.wrap(bodies, len(found.elements)) if found.wrap else bodies, headers
