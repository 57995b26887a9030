"""Images that a post shows and pages of other hosts that it cites: a document each, told by the post itself.

Images can be fetched as well: then their document says what type, how large and which they are, and holds the bytes
where these are wanted.
"""

from __future__ import annotations

import base64
from collections.abc import Iterator, Mapping
from hashlib import sha256
from typing import Any, Final

from ghcrawl.values.documents import Link
from ghcrawl.values.frozen import replace
from ghcrawl.values.outcome import Save, Visit
from ghcrawl.values.requests import Push
from processors.saving import payload_of, resource
from processors.web.documents import name_of, noted, notes, save
from processors.web.html import Node, squeezed, text_of
from processors.web.urls import canonical, host_of, urn

MAX_IMAGES: Final = 200
MAX_OUTLINKS: Final = 200
_SAID: Final = 500
"""Characters of a title or a label that are kept."""


def images(node: Node, base: str) -> list[dict[str, Any]]:
    """`{"url", "alt", "title", "width", "height"}` of each image in it, once, in order; what is not said is missing."""
    found: dict[str, dict[str, Any]] = {}
    for each in node.xpath(".//img[@src or @data-src]")[:MAX_IMAGES]:
        named = (each.get(name) for name in ("data-src", "src"))
        url = next(filter(None, (canonical(str(name), base) for name in named if name)), "")
        said = {name: squeezed(str(each.get(name, "")))[:_SAID] for name in ("alt", "title")}
        sizes = {name: int(each.get(name)) for name in ("width", "height") if _is_size(str(each.get(name, "")))}
        if url:
            found.setdefault(url, {"url": url, **{name: text for name, text in said.items() if text}, **sizes})
    return list(found.values())


def _is_size(text: str) -> bool:
    return text.isascii() and text.isdigit() and len(text) <= 6


def outlinks(node: Node, base: str, here: str) -> list[dict[str, Any]]:
    """`{"url", "text"}` of each page of another host that it links to, once, in order."""
    found: dict[str, dict[str, Any]] = {}
    for each in node.xpath(".//a[@href]"):
        url = canonical(str(each.get("href")), base)
        if url and host_of(url) != here and len(found) < MAX_OUTLINKS:
            found.setdefault(url, {"url": url, "text": text_of(each)[:_SAID]})
    return list(found.values())


def links(visit: Visit, body: Mapping[str, Any]) -> dict[str, Link]:
    """From a post to both."""
    kinds = {"images": "image", "outlinks": "outlink"}
    return {
        name: Link(type="resource", hrefs=tuple(name_of(visit, type, url) for url in body.get(name, ())))
        for name, type in kinds.items()
    }


def follow_ups(visit: Visit, type: str, found: list[dict[str, Any]], *, fetched: bool = False) -> Iterator[Push]:
    """A request for each, with what the post says of it. fetched: as notes, since the file itself is asked for."""
    step = visit.next_hops.links.get(type)
    if step is None:
        return
    for each in found:
        said = {**each, "post": visit.fetched.url}
        blog = notes(visit.request).get("blog", "")
        request = noted(visit.request, type, each["url"], step.thing or "default", {"said": said, "blog": blog})
        if fetched:
            yield Push(request=request, queue="later")
        else:
            yield Push(request=replace(request, payload=payload_of(visit, said)), queue="event")


def image(visit: Visit, *, max_bytes: int = 0) -> Save:
    """One image. max_bytes: the longest file that is kept."""
    body = visit.fetched.body
    return _saved(visit, "image", _file(visit, max_bytes) if "content" in body and "url" in body else dict(body))


def outlink(visit: Visit) -> Save:
    """One page of another host; it is not fetched."""
    return _saved(visit, "outlink", dict(visit.fetched.body))


def _file(visit: Visit, max_bytes: int) -> dict[str, Any]:
    """The record of a fetched file."""
    content, type = visit.fetched.body["content"], str(visit.fetched.body.get("type", ""))
    type = type.partition(";")[0].strip().lower()
    said = notes(visit.request).get("said", {})
    if not isinstance(content, bytes):
        return dict(visit.fetched.body)  # as it is stored
    if not type.startswith("image/"):
        return {**said, "refused": f"it is no image: {type[:80] or 'it has no type'}"}
    record = {**said, "type": type, "bytes": len(content), "sha256": sha256(content).hexdigest()}
    kept = {"content": base64.b64encode(content).decode()} if len(content) <= max_bytes else {}
    return record | kept


def _saved(visit: Visit, type: str, body: dict[str, Any]) -> Save:
    said = notes(visit.request).get("said", {})
    body = {**said, **body, "url": visit.request.url}
    post = {"post": resource(urn("post", str(body["post"])))} if body.get("post") else {}
    return save(visit, type, name_of(visit, type, visit.request.url), body, post)
