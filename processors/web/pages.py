"""Processes pages, posts, feeds and comments."""

from __future__ import annotations

import base64
import zlib
from collections.abc import Mapping, Sequence
from typing import Any, Final

from ghcrawl.values.documents import Link
from ghcrawl.values.frozen import replace
from ghcrawl.values.outcome import Save, Visit
from ghcrawl.values.requests import Push
from processors.saving import payload_of, resource
from processors.web import comments as marks
from processors.web import feeds, html, media
from processors.web.documents import back_to_plan, name_of, noted, notes, save
from processors.web.extraction import Extraction
from processors.web.extraction_rules import Vote
from processors.web.urls import canonical, host_of, urn

MAX_HTML: Final = 3_000_000
"""Characters of a page that are looked at."""


def page(visit: Visit, *, keeps: bool = False) -> Save:
    """A page that is no post, as far as is known: its links, and the feeds that it announces."""
    body = visit.fetched.body
    if visit.fetched.origin == "storage" or "refused" in body:
        return _as_is(visit, "page")
    text = html.decoded(body["content"], body["type"])[:MAX_HTML]
    if _is_feed(body["type"], text):
        return feed(visit)
    root = html.tree(text)
    if root is None:
        return _refused(visit, "page", "it is no HTML")
    return _page(visit, root, text, keeps=keeps)


def _page(visit: Visit, root: html.Node, text: str, *, keeps: bool) -> Save:
    url = visit.fetched.url
    base = html.base_of(root, url)
    record = _common(visit, root, base) | {"feeds": html.feeds(root, base), "title": html.title_of(root)}
    record["crawl"] = notes(visit.request).get("run", "")
    record |= _kept(text) if keeps else {}
    return save(visit, "page", name_of(visit, "page", url), record, {}, follow_ups=back_to_plan(visit))


def post(visit: Visit, *, keeps: bool = False, fetches: bool = False) -> Save:
    """A post: what it says, the votes of its page, its comments, images and outlinks. fetches: the image files, too."""
    body = visit.fetched.body
    if visit.fetched.origin == "storage" or "refused" in body:
        return _as_is(visit, "post")
    text = html.decoded(body["content"], body["type"])[:MAX_HTML]
    root = html.tree(text)
    if root is None:
        return _refused(visit, "post", "it is no HTML")
    said, url = notes(visit.request), visit.fetched.url
    entry, rules = said.get("entry", {}), read_rules(said.get("rules", {}))
    found = Extraction(root, text, url, entry, rules)
    if rules.get("text") and not found.confirmed:
        return _page(visit, root, text, keeps=keeps)
    base = html.base_of(root, url)
    shown = marks.on_page(root, url)
    around = found.article if found.article is not None else root
    record = _common(visit, root, base) | found.record
    record |= {"fields": found.fields, "votes": {name: _written(each) for name, each in found.votes.items()}}
    images, outlinks = media.images(around, base), media.outlinks(around, base, host_of(url))
    record |= {"images": _urls(images), "outlinks": _urls(outlinks), "comments": len(shown), "in_feed": bool(entry)}
    record |= _kept(text) if keeps else {}
    told = (*_comments(visit, shown), *_more_comments(visit, entry, len(shown)))
    told += (*media.follow_ups(visit, "image", images, fetched=fetches), *media.follow_ups(visit, "outlink", outlinks))
    name, links = name_of(visit, "post", url), media.links(visit, record)
    return save(visit, "post", name, record, links, follow_ups=(*back_to_plan(visit), *told))


def feed(visit: Visit) -> Save:
    """A feed's entries."""
    body, url = visit.fetched.body, visit.fetched.url
    if visit.fetched.origin == "storage":
        return save(visit, "feed", name_of(visit, "feed", url), body, _posts(visit, body))  # there is nothing to plan
    if "refused" in body:
        return _refused(visit, "feed", str(body["refused"]))
    found = feeds.parse(body["content"], body["type"], url)
    record = {"url": url, "asked": visit.request.url, **found}
    links = _posts(visit, record)
    return save(visit, "feed", name_of(visit, "feed", url), record, links, follow_ups=back_to_plan(visit))


def _posts(visit: Visit, body: Mapping[str, Any]) -> dict[str, Link]:
    hrefs = tuple(name_of(visit, "post", entry["url"]) for entry in body.get("entries", ()))
    return {"posts": Link(type="collection", hrefs=hrefs)}


def comments(visit: Visit) -> Save:
    """The comments of one post, from their feed."""
    body, url = visit.fetched.body, visit.fetched.url
    if visit.fetched.origin == "storage":
        return save(visit, "comments", urn("comments", url), body, {})
    if "refused" in body:
        return _refused(visit, "comments", str(body["refused"]))
    found = feeds.parse(body["content"], body["type"], url)
    of = notes(visit.request).get("post", "")
    elements = [_from_feed(entry) for entry in found["entries"]]
    hrefs = tuple(_comment_urn(of or url, each) for each in elements)
    links = {"comments": Link(type="collection", hrefs=hrefs)}
    record = {"url": url, "post": of, "elements": elements}
    follow_ups = _comments(visit, elements, of=of or url)
    return save(visit, "comments", urn("comments", url), record, links, follow_ups=follow_ups)


def comment(visit: Visit) -> Save:
    """One comment; it came with its post or with a feed."""
    body = visit.fetched.body
    of = str(body.get("post", visit.request.url))
    links = {"post": resource(urn("post", of))}
    return save(visit, "comment", _comment_urn(of, body), body, links)


def _from_feed(entry: Mapping[str, Any]) -> dict[str, Any]:
    """The comment's number is in its URL or its id, as on the page: one comment, one document."""
    text = f"{entry['url']} {entry.get('id', '')}"
    number = text.partition("#comment-")[2].partition(" ")[0] or entry.get("id") or entry["url"]
    kept = {name: entry[name] for name in ("author", "published", "text") if name in entry}
    return {"id": str(number), "url": entry["url"], **kept}


def _comment_urn(of: str, body: Mapping[str, Any]) -> str:
    return f"{urn('comment', of)}:{body.get('id', '')}"


def _comments(visit: Visit, found: Sequence[Mapping[str, Any]], of: str = "") -> tuple[Push, ...]:
    """A request with its payload for each."""
    step = visit.next_hops.links.get("comment")
    if step is None:
        return ()
    of = of or visit.fetched.url
    pushes = []
    for each in found:
        url = f"{of}#comment-{each['id']}"
        request = noted(visit.request, "comment", url, step.thing or "default", {})
        payload = payload_of(visit, {**each, "post": of})
        pushes.append(Push(request=replace(request, payload=payload), queue="event"))
    return tuple(pushes)


def _more_comments(visit: Visit, entry: Mapping[str, Any], shown: int) -> tuple[Push, ...]:
    """The feed of comments, where the feed counts more of them than the page shows."""
    policy = visit.next_hops.pages("comments")
    url = str(entry.get("comments_feed", ""))
    if policy is None or not url or host_of(url) != host_of(visit.fetched.url) or entry.get("comments", 0) <= shown:
        return ()
    request = noted(visit.request, "comments", url, policy, {"post": visit.fetched.url})
    return (Push(request=request, queue="soon"),)


def _common(visit: Visit, root: html.Node, base: str) -> dict[str, Any]:
    url = visit.fetched.url
    found = html.links(root, base)
    here = host_of(url)
    record = {
        "url": url,
        "links": [each for each in found if host_of(each) == here],
        "outlinks": [each for each in found if host_of(each) != here],
        "blog": notes(visit.request).get("blog", ""),
    }
    return record | {"rendered": True} if visit.fetched.body.get("rendered") else record


def _kept(text: str) -> dict[str, str]:
    """The page itself, compressed (zlib, base64)."""
    return {"page": base64.b64encode(zlib.compress(text.encode("utf-8", "replace"), 6)).decode()}


def _is_feed(content_type: str, text: str) -> bool:
    type = content_type.partition(";")[0].strip().lower()
    head = text.lstrip()[:500].lower()
    return (type in html.FEED_TYPES or "<rss" in head or "<feed" in head or "<rdf:rdf" in head) and "<html" not in head


def _as_is(visit: Visit, type: str) -> Save:
    """The stored copy, or the record of a refusal."""
    body = visit.fetched.body
    if "refused" in body and visit.fetched.origin != "storage":
        return _refused(visit, type, str(body["refused"]))
    links = media.links(visit, body) if type == "post" else {}
    return save(visit, type, name_of(visit, type, visit.fetched.url), body, links, follow_ups=back_to_plan(visit))


def _refused(visit: Visit, type: str, reason: str) -> Save:
    """A record of why there is nothing to read, so that no plan asks for it again."""
    url = canonical(visit.request.url) or visit.request.url
    type = "page" if type == "post" else type
    said = notes(visit.request)
    record = {"url": url, "refused": reason, "links": [], "blog": said.get("blog", ""), "crawl": said.get("run", "")}
    return save(visit, type, name_of(visit, type, url), record, {}, follow_ups=back_to_plan(visit))


def read_rules(value: Mapping[str, Any]) -> dict[str, tuple[Vote, ...]]:
    """The rules that a plan wrote down."""
    return {name: tuple(Vote(str(rule), float(score)) for rule, score in each) for name, each in value.items()}


def _urls(found: Sequence[Mapping[str, Any]]) -> list[str]:
    return [each["url"] for each in found]


def _written(found: Sequence[Vote]) -> list[list[Any]]:
    return [[vote.rule, vote.score] for vote in found]
