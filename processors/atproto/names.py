"""Names of the AT Protocol, and what things are called here. Pure.

    account  did:plc:…            urn:atproto:did:plc:…              bluesky:profile/did:plc:…
    post     at://DID/…post/RKEY  urn:atproto:did:plc:…:post:RKEY    bluesky:profile/did:plc:…/post/RKEY

Handles change hands, DIDs do not: everything is called by its DID.
"""

from __future__ import annotations

import re
from typing import Final
from urllib.parse import unquote

from msgspec import Struct

NAME: Final = "bluesky"
POSTS: Final = "app.bsky.feed.post"

_DID: Final = re.compile(r"did:[a-z]+:[a-zA-Z0-9._:%-]{1,2000}(?<![:%])")
_DID_IN: Final = re.compile(rf"{NAME}:(?:profile/|q/[a-z,]+/(?:[^/?]*,)?user=)(did:[^/?,]+)")
_LABEL: Final = r"[a-zA-Z0-9](?:[a-zA-Z0-9-]{0,61}[a-zA-Z0-9])?"
_HANDLE: Final = re.compile(rf"(?=.{{1,253}}$)(?:{_LABEL}\.)+[a-zA-Z](?:[a-zA-Z0-9-]{{0,61}}[a-zA-Z0-9])?")
_RKEY: Final = re.compile(r"(?!\.{1,2}$)[A-Za-z0-9._:~-]{1,512}")
_AT: Final = re.compile(r"at://(?P<repo>[^/?#]+)/(?P<collection>[a-zA-Z0-9.-]+)/(?P<rkey>[^/?#]+)")


class Record(Struct, frozen=True):
    """A record of a repository: whose, of which collection, called what."""

    did: str
    collection: str
    rkey: str

    @property
    def uri(self) -> str:
        """`at://did/collection/rkey`."""
        return f"at://{self.did}/{self.collection}/{self.rkey}"


def is_did(text: str) -> bool:
    """Whether it is a DID."""
    return _DID.fullmatch(text) is not None


def did_in(url: str) -> str:
    """The DID in a URL of this platform, of a thing or of an account's list; empty: it has none."""
    found = _DID_IN.match(url)
    return unquote(found[1]) if found else ""


def is_handle(text: str) -> bool:
    """Whether it is a handle."""
    return _HANDLE.fullmatch(text) is not None


def is_rkey(text: str) -> bool:
    """Whether it is the key of a record."""
    return _RKEY.fullmatch(text) is not None


def record_of(uri: object) -> Record | None:
    """The record that an `at://` URI names by its DID; None for anything else."""
    found = _AT.fullmatch(uri) if isinstance(uri, str) else None
    if found is None or not is_did(found["repo"]) or not is_rkey(found["rkey"]):
        return None
    return Record(found["repo"], found["collection"], found["rkey"])


def account_urn(did: str) -> str:
    """Of an account."""
    return f"urn:atproto:{did}"


def account_url(did: str) -> str:
    """Of an account's profile."""
    return f"{NAME}:profile/{did}"


def post_urn(post: Record) -> str:
    """Of a post."""
    return f"{account_urn(post.did)}:post:{post.rkey}"


def post_url(post: Record) -> str:
    """Of a post."""
    return f"{account_url(post.did)}/post/{post.rkey}"
