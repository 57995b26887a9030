"""Reads specs of accounts, posts and requests of the AT Protocol."""

from __future__ import annotations

import re
from typing import Final

from ghcrawl.platforms.kind import OtherSpelling
from ghcrawl.social.parsing import parse
from ghcrawl.social.plan import Unsupported, plans
from ghcrawl.social.request_uri import MARKER, RequestUri, Source
from ghcrawl.values.errors import SpecError, UnknownSpec
from ghcrawl.values.policy import parse as parse_policy
from ghcrawl.values.requests import Request
from processors.atproto.names import NAME, POSTS, Record, is_did, is_handle, is_rkey, post_url, record_of

KNOWN: Final = ("since", "before", "limit", "cursor", "stream")
EXAMPLES: Final = "q/post,profile/user=alice.example, profile/alice.example, at://DID/app.bsky.feed.post/KEY"
_PROFILE: Final = re.compile(r"(?:https://bsky\.app/)?profile/(?P<actor>[^/?#]+)(?:/post/(?P<rkey>[^/?#]+))?/?")


def read_spec(typed: str, _base_url: str, policy: str) -> Request:
    """For `Platform.read_spec`."""
    parse_policy(policy)
    typed = typed.strip()
    if typed.startswith(f"{MARKER}/"):
        return _request(parse(f"{NAME}:{typed}"), policy)
    if (record := record_of(typed)) is not None and record.collection == POSTS:
        return Request(platform=NAME, type="post", url=post_url(record), policy=policy)
    found = _PROFILE.fullmatch(typed)
    if found is None:
        raise UnknownSpec(f"{typed!r} is nothing to crawl; write {EXAMPLES}")
    actor = _account(found["actor"])
    if not found["rkey"]:
        uri = RequestUri(platform=NAME, resources=("profile",), sources=(Source("user", actor),))
        return _request(uri, policy)
    if not is_did(actor) or not is_rkey(found["rkey"]):
        raise SpecError(f"{typed!r}: a post is named by the DID of its author, profile/did:plc:…/post/KEY")
    return Request(platform=NAME, type="post", url=post_url(Record(actor, POSTS, found["rkey"])), policy=policy)


def other_spelling(url: str) -> OtherSpelling | None:
    """For `Platform.other_spelling`: handles have no case, and posts are saved under the DID of their author."""
    found = _PROFILE.fullmatch(url)
    if not found:
        return None
    below = f"/post/{found['rkey']}" if found["rkey"] else ""
    return OtherSpelling(named=f"https://bsky.app/profile/{found['actor'].removeprefix('@').lower()}", below=below)


def _request(uri: RequestUri, policy: str) -> Request:
    """The request for it. Raises SpecError if Bluesky cannot answer it."""
    unknown = [key for key in uri.params if key not in KNOWN]
    if unknown:
        raise SpecError(f"{uri}: unknown parameter {unknown[0]}; known parameters: {', '.join(KNOWN)}")
    sources = tuple(
        Source(each.kind, _account(each.value)) if each.kind in ("user", "related") else each for each in uri.sources
    )
    uri = RequestUri(platform=NAME, resources=uri.resources, sources=sources, params=uri.params)
    if any(source.kind == "location" for source in uri.sources):
        raise Unsupported(f"{uri}: Bluesky does not tell where anybody is")
    if any(condition.kind == "related" for plan in plans(uri) for condition in plan.conditions):
        raise Unsupported(f"{uri}: related cannot narrow another source; ask for it by itself")
    return Request(platform=NAME, type="request", url=str(uri), policy=policy)


def _account(text: str) -> str:
    """A DID as it is, a handle in lower case. Raises SpecError."""
    if is_did(text):
        return text
    handle = text.removeprefix("@").lower()
    if not is_handle(handle):
        raise SpecError(f"{text!r} is no handle such as alice.example, and no DID such as did:plc:…")
    return handle
