"""Accounts, statuses and subscriptions."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime
from html.parser import HTMLParser
from typing import Final

from ghcrawl.values.documents import Link
from ghcrawl.values.errors import Malformed
from ghcrawl.values.jsontext import JsonObject
from ghcrawl.values.outcome import Save, Skip, Visit
from ghcrawl.values.requests import Push
from ghcrawl.values.times import dated, moment
from processors.mastodon.names import (
    NAME,
    account_url,
    account_urn,
    host_of,
    id_of,
    status_url,
    status_urn,
    urn_of_status,
)
from processors.saving import asked, carried, mapping, mappings, resource, resources, save, text

INTERNAL: Final = frozenset({"mention", "hashtag"})
"""Classes of links that name people and tags and lead nowhere else."""


def account(visit: Visit) -> Save:
    """An account, as its host shows it. One that is suspended keeps its name only, and nothing of it is asked for."""
    host, body = host_of(visit.request.url), mapping(visit.fetched.body)
    identity = id_of(body, "an account")
    urn = account_urn(host, identity)
    outlinks = [*_hrefs(text(body.get("note"))), *_fields(body)]
    links = {"outlinks": resources(outlinks)} if outlinks else {}
    if moved := mapping(body.get("moved")):
        links["moved"] = resource(account_urn(host, id_of(moved, "an account that was moved to")))
    follow_ups = () if body.get("suspended") is True else tuple(_lists_of(visit, host, identity, urn, body))
    places = (text(body.get("url")), text(body.get("uri")), f"{NAME}://{host}/@{text(body.get('acct'))}")
    return save(visit, urn, body, links, follow_ups, url=account_url(host, identity), aliases=places)


def _lists_of(visit: Visit, host: str, identity: str, urn: str, body: JsonObject) -> Iterator[Push]:
    for name, limit in (("statuses", 40), ("followers", 80), ("following", 80)):
        step = visit.onward.links.get(name)
        if step is not None and not (name == "statuses" and asks_not_to(body)):
            yield asked(visit, name, f"{account_url(host, identity)}/{name}?limit={limit}", step.pages, of=urn)


def _fields(body: JsonObject) -> Iterator[str]:
    for each in mappings(body.get("fields")):
        yield from _hrefs(text(each.get("value")))


def status(visit: Visit) -> Save | Skip:
    """A status: a post or a boost."""
    host, body = host_of(visit.request.url), mapping(visit.fetched.body)
    if not may_keep(body):
        return Skip(reason="noindex")
    identity = id_of(body, "a status")
    urn, place = urn_of_status(host, body), status_url(host, identity)
    follow_ups = list(_parts_of(visit, place, urn))
    writer = mapping(body.get("account"))
    if (step := visit.onward.links.get("author")) is not None and step.thing and writer:
        follow_ups.append(carried(visit, "account", account_url(host, id_of(writer, "an author")), step.thing, writer))
    shared = mapping(body.get("reblog"))
    if (step := visit.onward.links.get("reblog")) is not None and step.thing and shared:
        url = status_url(host, id_of(shared, "a status that was shared"))
        follow_ups.append(carried(visit, "status", url, step.thing, shared))
    places = (text(body.get("uri")), text(body.get("url")), f"{NAME}://{host}/@{text(writer.get('acct'))}/{identity}")
    changed_at = dated(text(body.get("edited_at")))
    links = dict(_links(host, body))
    return save(visit, urn, body, links, follow_ups, url=place, aliases=places, changed_at=changed_at)


def _parts_of(visit: Visit, place: str, urn: str) -> Iterator[Push]:
    for name in ("context", "reblogged_by", "favourited_by", "quotes"):
        step = visit.onward.links.get(name)
        if step is not None:
            size = "" if name == "context" else "?limit=80" if name.endswith("_by") else "?limit=40"
            yield asked(visit, name, f"{place}/{name}{size}", step.pages, of=urn)


def _links(host: str, body: JsonObject) -> Iterator[tuple[str, Link]]:
    """Who wrote it, what it answers, shares and quotes, and where it leads."""
    quoted = mapping(mapping(body.get("quote")).get("quoted_status"))
    for name, one in (("reblog", mapping(body.get("reblog"))), ("quote", quoted)):
        if one:
            yield name, resource(urn_of_status(host, one))
    answered, author = text(body.get("in_reply_to_id")), text(body.get("in_reply_to_account_id"))
    if answered and author:
        yield "reply_to", resource(status_urn(host, author, answered))
    if writer := mapping(body.get("account")):
        yield "author", resource(account_urn(host, id_of(writer, "an author")))
    card = text(mapping(body.get("card")).get("url"))
    if outlinks := [*_hrefs(text(body.get("content"))), *filter(None, [card])]:
        yield "outlinks", resources(outlinks)
    if media := [*filter(None, (text(each.get("url")) for each in mappings(body.get("media_attachments"))))]:
        yield "media", resources(media)


def asks_not_to(account: JsonObject) -> bool:
    """Whether an account asks that what it writes is not indexed."""
    return account.get("noindex") is True


def may_keep(body: JsonObject) -> bool:
    """Whether no author that a status shows has opted out of indexing."""
    return not any(asks_not_to(mapping(each.get("account"))) for each in (body, mapping(body.get("reblog"))))


def stream(visit: Visit) -> Save:
    """A subscription: while this document exists, what its request asks for is streamed."""
    body = mapping(visit.fetched.body)
    asked_for = text(body.get("request"))
    if not asked_for:
        raise Malformed("a subscription has a request")
    host = host_of(visit.request.url)
    return save(visit, f"urn:{NAME}:{host}:stream:{asked_for}", body, {})


def created(body: JsonObject, field: str = "created_at") -> datetime | None:
    """When a status was made (or `edited_at`: changed); None where it does not say."""
    try:
        return moment(text(body.get(field)))
    except ValueError:
        return None


def words_of(body: JsonObject) -> str:
    """What a status or an account says, for comparing with words that are looked for."""
    fields = ("spoiler_text", "content", "note", "display_name", "acct")
    return " ".join(_Text.of(text(body.get(field))) for field in fields).casefold()


def tags_of(body: JsonObject) -> frozenset[str]:
    """The hashtags of a status, without their sign."""
    return frozenset(text(each.get("name")).casefold() for each in mappings(body.get("tags")))


def _hrefs(html: str) -> Iterator[str]:
    """Where HTML leads to, without what names people and tags."""
    parser = _Text()
    parser.feed(html)
    parser.close()
    yield from parser.hrefs


class _Text(HTMLParser):
    """The text and the links of a piece of HTML."""

    def __init__(self) -> None:
        super().__init__()
        self.hrefs: list[str] = []
        self.words: list[str] = []

    @classmethod
    def of(cls, html: str) -> str:
        """What a person reads."""
        parser = cls()
        parser.feed(html)
        parser.close()
        return "".join(parser.words)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """A link, or the end of a line."""
        known = dict(attrs)
        href, classes = known.get("href") or "", (known.get("class") or "").split()
        if tag == "a" and href.startswith(("http://", "https://")) and not INTERNAL & set(classes):
            self.hrefs.append(href)
        if tag in ("br", "p"):
            self.words.append(" ")

    def handle_data(self, data: str) -> None:
        """A piece of text."""
        self.words.append(data)
