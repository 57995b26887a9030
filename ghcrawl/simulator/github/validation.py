"""ETags by GitHub's formula, and when an answer is "not modified"."""

from __future__ import annotations

from collections.abc import Mapping
from email.utils import parsedate_to_datetime
from hashlib import sha256
from typing import Final

from ghcrawl.simulator.github.rendering import Rendered

VARY: Final = "Accept, Authorization, Cookie, X-GitHub-OTP,Accept-Encoding, Accept, X-Requested-With"
ANONYMOUS_VARY: Final = "Accept,Accept-Encoding, Accept, X-Requested-With"
_HASHED: Final = ("Accept", "Authorization", "Cookie")
_HASHED_ANONYMOUSLY: Final = ("Accept",)


def etag(body: bytes, headers: Mapping[str, str], *, authenticated: bool) -> str:
    """The strong tag of `body` for these request headers: sha256 of what Vary names, then the exact bytes.

    Source: github.com/bored-engineer/github-conditional-http-transport, verified on recorded anonymous answers.
    """
    tag = sha256()
    for name in _HASHED if authenticated else _HASHED_ANONYMOUSLY:
        value = headers.get(name)
        if value is not None:
            tag.update(f"{value}:".encode())
    tag.update(body)
    return f'"{tag.hexdigest()}"'


def not_modified(rendered: Rendered, tag: str, headers: Mapping[str, str]) -> bool:
    """Whether the asker has it already. A tag counts in its weak form too, and where there is one, no date does."""
    tags = headers.get("If-None-Match")
    if tags is not None:
        return any(each.strip().removeprefix("W/") in (tag, "*") for each in tags.split(","))
    since = headers.get("If-Modified-Since")
    if since is None or rendered.last_modified is None:
        return False
    try:
        asked = parsedate_to_datetime(since)
    except ValueError:
        return False
    return parsedate_to_datetime(rendered.last_modified) <= asked
