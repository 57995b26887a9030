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
from processors.fields import at, mapping, mappings, text
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
from processors.saving import follow_list, follow_thing, resource, resources, save

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
        if not (name == "statuses" and asks_not_to(body)):
            yield from follow_list(visit, name, f"{account_url(host, identity)}/{name}?limit={limit}", of=urn)


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
    if writer := mapping(body.get("account")):
        follow_ups += follow_thing(visit, "author", "account", account_url(host, id_of(writer, "an author")), writer)
    if shared := mapping(body.get("reblog")):
        url = status_url(host, id_of(shared, "a status that was shared"))
        follow_ups += follow_thing(visit, "reblog", "status", url, shared)
    places = (text(body.get("uri")), text(body.get("url")), f"{NAME}://{host}/@{text(writer.get('acct'))}/{identity}")
    changed_at = dated(text(body.get("edited_at")))
    links = dict(_links(host, body))
    return save(visit, urn, body, links, follow_ups, url=place, aliases=places, changed_at=changed_at)


def _parts_of(visit: Visit, place: str, urn: str) -> Iterator[Push]:
    sizes = {"context": "", "reblogged_by": "?limit=80", "favourited_by": "?limit=80", "quotes": "?limit=40"}
    for name, size in sizes.items():
        yield from follow_list(visit, name, f"{place}/{name}{size}", of=urn)


def _links(host: str, body: JsonObject) -> Iterator[tuple[str, Link]]:
    """Who wrote it, what it answers, shares and quotes, and where it leads."""
    quoted = mapping(at(body, "quote", "quoted_status"))
    for name, one in (("reblog", mapping(body.get("reblog"))), ("quote", quoted)):
        if one:
            yield name, resource(urn_of_status(host, one))
    answered, author = text(body.get("in_reply_to_id")), text(body.get("in_reply_to_account_id"))
    if answered and author:
        yield "reply_to", resource(status_urn(host, author, answered))
    if writer := mapping(body.get("account")):
        yield "author", resource(account_urn(host, id_of(writer, "an author")))
    card = text(at(body, "card", "url"))
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
    """Text of a status or an account in lower case, to search for words in."""
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
        """The text without markup."""
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
