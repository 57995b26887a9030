"""Posts, profiles and subscriptions."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime

from ghcrawl.values.documents import Link
from ghcrawl.values.errors import Malformed
from ghcrawl.values.jsontext import Json, JsonObject
from ghcrawl.values.outcome import Save, Visit
from ghcrawl.values.times import moment
from processors.atproto.names import POSTS, Record, account_url, account_urn, is_did, post_url, post_urn, record_of
from processors.fields import at, mapping, mappings, text
from processors.saving import follow_list, follow_thing, resource, resources, save


def profile(visit: Visit) -> Save:
    """An account, as its AppView or its repository shows it."""
    body = mapping(visit.fetched.body)
    if "value" in body:  # the bare record of a repository
        named = record_of(body.get("uri"))
        body = {"did": named.did if named else "", "record": body["value"]}
    did = text(body.get("did"))
    if not is_did(did):
        raise Malformed("a profile has a DID")
    handle = text(body.get("handle")).lower()
    aliases = (f"https://bsky.app/profile/{did}", *((f"https://bsky.app/profile/{handle}",) if handle else ()))
    website = text(body.get("website"))
    links = {"outlinks": resources([website])} if website else {}
    return save(visit, account_urn(did), body, links, url=account_url(did), aliases=(*aliases, visit.request.url))


def post(visit: Visit) -> Save:
    """A post, as a view or as the bare record."""
    body = mapping(visit.fetched.body)
    posts = mappings(body.get("posts"))
    if posts:  # requested separately
        body = posts[0]
    elif "value" in body:
        body = bare(body)
    record = record_of(body.get("uri"))
    if record is None or record.collection != POSTS:
        raise Malformed("a post has a URI")
    urn, place = post_urn(record), post_url(record)
    follow_ups = follow_thing(visit, "author", "profile", account_url(record.did))
    if at(body, "record", "reply") or body.get("replyCount"):
        follow_ups = [*follow_list(visit, "thread", f"{place}/thread", of=urn), *follow_ups]
    aliases = (record.uri, f"https://bsky.app/profile/{record.did}/post/{record.rkey}")
    return save(
        visit, urn, body, post_links(record, body), follow_ups, url=place, aliases=(*aliases, visit.request.url)
    )


def bare(record: JsonObject) -> JsonObject:
    """A record of a repository in the form of a view, as far as it goes."""
    named = record_of(record.get("uri"))
    author = {"author": {"did": named.did}} if named else {}
    return {"uri": record.get("uri"), "cid": record.get("cid"), **author, "record": record.get("value")}


def post_links(record: Record, body: JsonObject) -> dict[str, Link]:
    """Author, what it answers and quotes, and where it leads."""
    content = mapping(body.get("record"))
    reply, embed = mapping(content.get("reply")), mapping(content.get("embed"))
    found = {"author": resource(account_urn(record.did))}
    named_by = {"reply_to": at(reply, "parent", "uri"), "thread": at(reply, "root", "uri"), "quotes": _quoted(embed)}
    for name, value in named_by.items():
        named = record_of(value)
        if named is not None and named.collection == POSTS:
            found[name] = resource(post_urn(named))
    several = {"outlinks": _outlinks(content), "media": _media(record.did, embed), "mentions": _mentions(content)}
    return found | {name: resources(hrefs) for name, urls in several.items() if (hrefs := [*urls])}


def _quoted(embed: JsonObject) -> Json:
    return at(embed, "record", "record", "uri") or at(embed, "record", "uri")


def _features(content: JsonObject) -> Iterator[JsonObject]:
    for facet in mappings(content.get("facets")):
        yield from mappings(facet.get("features"))


def _outlinks(content: JsonObject) -> Iterator[str]:
    for feature in _features(content):
        if text(feature.get("$type")).endswith("#link") and (url := text(feature.get("uri"))):
            yield url
    embed = mapping(content.get("embed"))
    for each in (embed, mapping(embed.get("media"))):
        if url := text(at(each, "external", "uri")):
            yield url


def _mentions(content: JsonObject) -> Iterator[str]:
    for feature in _features(content):
        if text(feature.get("$type")).endswith("#mention") and is_did(did := text(feature.get("did"))):
            yield account_urn(did)


def _media(did: str, embed: JsonObject) -> Iterator[str]:
    for each in (embed, mapping(embed.get("media"))):
        blobs = [mapping(image.get("image")) for image in mappings(each.get("images"))]
        for blob in (*blobs, mapping(each.get("video"))):
            reference = blob.get("ref")
            if cid := text(mapping(reference).get("$link") or reference):
                yield f"at://{did}#blob:{cid}"


def created(body: JsonObject) -> datetime | None:
    """When a post says that it was made; None where it does not say so properly."""
    try:
        return moment(text(at(body, "record", "createdAt")), zone=UTC)
    except ValueError:
        return None


def stream(visit: Visit) -> Save:
    """A subscription: while this document is there, what it asks for is produced."""
    urn = subscription_urn(visit.request.url)
    return save(visit, urn, mapping(visit.fetched.body), {})


def subscription_urn(url: str) -> str:
    """Of the subscription with this request URI."""
    return f"urn:atproto:stream:{url}"
