"""Reads specs of accounts, statuses and requests of a Mastodon host."""

from __future__ import annotations

import re
from typing import Final

from ghcrawl.social.parsing import is_request_uri, parse
from ghcrawl.social.plan import Unsupported, plans
from ghcrawl.social.request_uri import RequestUri, Resource, Source
from ghcrawl.values.errors import SpecError, UnknownSpec
from ghcrawl.values.policy import parse as parse_policy
from ghcrawl.values.requests import Request
from processors.mastodon.names import NAME, host_of, status_url

KNOWN: Final = ("since", "before", "limit", "stream")
EXAMPLES: Final = (
    "mastodon://social.example/@user, mastodon://social.example/@user/ID, "
    "mastodon://social.example/q/post,profile/user=alice, mastodon://social.example/q/post/query=%23python"
)
_THING: Final = re.compile(
    r"(?P<place>(?:https:)?//(?P<host>[^/@?#]+))/"
    r"(?:@(?P<user>[^/?#]+)(?:/(?P<id>\d+)|/(?P<list>followers|following))?|tags/(?P<tag>[^/?#]+))/?"
)
_ACCOUNT: Final = re.compile(r"@?(\w(?:[\w.-]*\w)?)(?:@([A-Za-z0-9.:\[\]-]+))?", re.ASCII)


def read_spec(typed: str, _base_url: str, policy: str) -> Request:
    """For `Platform.read_spec`."""
    parse_policy(policy)
    typed = typed.strip()
    if typed.startswith("//"):
        uri = f"{NAME}:{typed}"
        if is_request_uri(uri) or f"{host_of(uri)}/q/" in uri:
            return _request(parse(uri), policy)
    found = _THING.fullmatch(typed)
    if found is None:
        raise UnknownSpec(f"{typed!r} is nothing to crawl; write {EXAMPLES}")
    host = parse(f"{NAME}://{found['host']}/q/post/query=a").authority
    if found["id"]:
        return Request(platform=NAME, type="status", url=status_url(host, found["id"]), policy=policy)
    resource: Resource = "relations" if found["list"] else "post" if found["tag"] else "profile"
    source = Source("query", f"#{found['tag']}") if found["tag"] else Source("user", found["user"])
    return _request(RequestUri(platform=NAME, authority=host, resources=(resource,), sources=(source,)), policy)


def _request(uri: RequestUri, policy: str) -> Request:
    """The request for it. Raises SpecError if Mastodon cannot answer it."""
    unknown = [key for key in uri.params if key not in KNOWN]
    if unknown:
        raise SpecError(f"{uri}: unknown parameter {unknown[0]}; known parameters: {', '.join(KNOWN)}")
    sources = tuple(
        Source(each.kind, _account(each.value, uri.authority)) if each.kind in ("user", "related") else each
        for each in uri.sources
    )
    uri = RequestUri(
        platform=NAME, authority=uri.authority, resources=uri.resources, sources=sources, params=uri.params
    )
    if any(source.kind == "location" for source in uri.sources):
        raise Unsupported(f"{uri}: Mastodon does not tell where anybody is")
    if any(condition.kind == "related" for plan in plans(uri) for condition in plan.conditions):
        raise Unsupported(f"{uri}: related cannot narrow another source; ask for it by itself")
    return Request(platform=NAME, type="request", url=str(uri), policy=policy)


def _account(text: str, host: str) -> str:
    """`user` of this host, `user@other.example` of another. Raises SpecError."""
    found = _ACCOUNT.fullmatch(text)
    if found is None:
        raise SpecError(f"{text!r} is no account; write user, or user@host for one of another host")
    name, home = found[1], (found[2] or "").lower()
    return name if home in ("", host) else f"{name}@{home}"
