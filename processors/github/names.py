"""URNs of GitHub's things, and what their URLs tell."""

from __future__ import annotations

import re
from functools import lru_cache
from typing import Final

from ghcrawl.values.errors import Malformed
from ghcrawl.values.jsontext import Json
from processors.fields import text

NAME: Final = "github"
"""Of the platform."""
_REPO_URL = re.compile(r".*?/(?:repos/[^/?#]+/[^/?#]+|repositories/\d+)(?=[/?#]|$)")
_SCOPE = re.compile(
    r".*?/(?:repos/(?P<repo>[^/?#]+/[^/?#]+)|orgs/(?P<org>[^/?#]+)|(?:users|user)/(?P<user>[^/?#]+))(?=[/?#]|$)"
)
NAMED_WITHOUT_CASE: Final = frozenset({"repo", "org", "user"})
"""They are found under their URL in lower case, too: their names differ by more than case."""
_MANY_DIGITS: Final = 20
"""A longer number is no identity, and Python refuses to read very long ones."""
_CANONICAL: Final = "https://api.github.com/"
_BASE = re.compile(r"(.*?/)(?:repos|repositories|orgs|organizations|users?|teams)(?=[/?#]|$)")


def here(asked: str, url: str) -> str:
    """`url` below the API that answered `asked`: a mirror or a proxy repeats what GitHub's own API says of itself."""
    if not url.startswith(_CANONICAL) or asked.startswith(_CANONICAL):
        return url
    base = _BASE.match(asked)
    return base[1] + url.removeprefix(_CANONICAL) if base else url


def parent_of(urn: str) -> str:
    """The URN of what the thing lies in; empty: nothing."""
    return ":".join(urn.split(":")[:-2]) if urn.count(":") > 2 else ""


@lru_cache(1024)
def repo_of(urn: str) -> str:
    """`urn:repo:12` of anything that lies in that repository. Raises Malformed."""
    parts = urn.split(":", 3)
    if len(parts) < 3 or parts[1] != "repo":
        raise Malformed(f"this needs its repository, and {urn or 'nothing'!r} names none")
    return ":".join(parts[:3])


def owner_kind(urn: str) -> str:
    """The type in a URN's last step: `repo` of `urn:repo:12`, `issue` of `urn:repo:12:issue:34`."""
    parts = urn.split(":")
    return parts[-2] if len(parts) > 2 else ""


def repo_url(url: str) -> str:
    """The API URL of the repository that `url` lies in; empty where it lies in none."""
    match = _REPO_URL.match(url)
    return match[0] if match else ""


def org_url(url: str) -> str:
    """The organisation's own URL: an owner's `url` says `/users/NAME` even where it is one."""
    return url.replace("/users/", "/orgs/", 1)


def scope_of(url: str) -> str | None:
    """`owner/repo` or `owner` as the URL spells it; empty for users, who have no owner; None if it does not say."""
    match = _SCOPE.match(url)
    if match is None:
        return None
    if match["user"]:
        return ""
    return match["repo"] or match["org"]


def last_number(url: Json) -> int | None:
    """The number at the end of `…/issues/34`."""
    tail = text(url).rstrip("/").rpartition("/")[2]
    return int(tail) if tail.isdecimal() and len(tail) < _MANY_DIGITS else None


def required(value: int | str | None, what: str) -> int | str:
    """`value`, which gives a thing its name. Raises Malformed where there is none."""
    if value is None or value == "":
        raise Malformed(f"GitHub's answer has no {what}")
    if isinstance(value, int) and value < 0:
        raise Malformed(f"GitHub's answer has {value} as {what}, which is none")
    return value
