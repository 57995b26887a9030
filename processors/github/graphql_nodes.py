"""Nodes of the GraphQL API as REST writes the same things. None: REST must say it, for what is given leaves doubt.

Sources for each field: the official schema, REST's description, and recorded answers of both.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from email.utils import format_datetime
from typing import Any, Final
from urllib.parse import quote

from ghcrawl.values.jsontext import Json, JsonObject
from ghcrawl.values.times import moment
from processors.fields import at, mapping, number, sequence, text
from processors.github.document_graph import ACCOUNT_URLS, embedded
from processors.github.pull_request import LISTS_LEAVE_OUT

PROFILE: Final = (
    "name",
    "company",
    "blog",
    "location",
    "email",
    "hireable",
    "bio",
    "twitter_username",
    "created_at",
)
"""The fields of a profile that are GraphQL's and stay as they are while its date does; counters do not."""
STABLE: Final = tuple(name for name in LISTS_LEAVE_OUT if name not in {"mergeable", "rebaseable", "mergeable_state"})
"""The same of a pull request: whether it can be merged is calculated at each request."""
_MERGEABLE: Final[Mapping[str, bool | None]] = {"MERGEABLE": True, "CONFLICTING": False, "UNKNOWN": None}


def user(simple: JsonObject, node: JsonObject) -> dict[str, Json] | None:
    """The whole profile: the account as a list of REST embeds it, and the fields that only the profile has."""
    counts = {name: _total(node, field) for name, field in _COUNTS.items()}
    same = node.get("login") == simple.get("login") and node.get("databaseId") == simple.get("id")
    if not same or None in counts.values() or "email" not in node:
        return None
    return {
        **embedded(simple),
        "name": node.get("name") or None,
        "company": node.get("company") or None,
        "blog": node.get("websiteUrl") or "",
        "location": node.get("location") or None,
        "email": node.get("email") or None,
        "hireable": True if node.get("isHireable") is True else None,
        "bio": node.get("bio") or None,
        "twitter_username": node.get("twitterUsername") or None,
        **counts,
        "created_at": node.get("createdAt"),
        "updated_at": node.get("updatedAt"),
    }


_COUNTS: Final = {
    "public_repos": "repositories",
    "public_gists": "gists",
    "followers": "followers",
    "following": "following",
}


def pull_request(
    element: JsonObject, node: JsonObject, people: Mapping[int, JsonObject], *, is_open: bool
) -> dict[str, Json] | None:
    """The whole pull request: the element of REST's list, and the twelve fields that only its own URL has.

    people: accounts as REST writes them, by id. Whether it can be merged is calculated at each request: the current
    answer is used for open ones; REST mostly has none for others.
    """
    head = text(at(element, "head", "sha"))
    if node.get("updatedAt") != element.get("updated_at") or node.get("headRefOid") != head or not head:
        return None
    merged = element.get("merged_at") is not None
    base = text(element.get("url")).partition("/repos/")[0]
    merged_by = _account(mapping(node.get("mergedBy")), people, base) if merged else None
    comments = _review_comments(mapping(node.get("reviewThreads")))
    if (merged and merged_by is None) or comments is None:
        return None
    found: dict[str, Json] = {
        "merged": merged,
        "merged_by": merged_by,
        "comments": _total(node, "comments"),
        "review_comments": comments,
        "maintainer_can_modify": node.get("maintainerCanModify"),
        "commits": _total(node, "commits"),
        "additions": number(node.get("additions")),
        "deletions": number(node.get("deletions")),
        "changed_files": number(node.get("changedFiles")),
    }
    if any(value is None for name, value in found.items() if name != "merged_by"):
        return None
    return {**element, **found, **_mergeable(node, is_open=is_open)}


def _mergeable(node: JsonObject, *, is_open: bool) -> dict[str, Json]:
    mergeable = _MERGEABLE.get(text(node.get("mergeable"))) if is_open else None
    state = text(node.get("mergeStateStatus")).lower() if is_open else ""
    rebaseable = node.get("canBeRebased") if mergeable is not None else None
    return {"mergeable": mergeable, "rebaseable": rebaseable, "mergeable_state": state or "unknown"}


def _review_comments(threads: JsonObject) -> int | None:
    """The comments of all threads; None where not all were shown."""
    shown = [_total(mapping(thread), "comments") for thread in sequence(threads.get("nodes"))]
    if threads.get("totalCount") != len(shown):
        return None
    return sum(filter(None, shown)) if None not in shown else None


def reviews(pull_url: str, node: JsonObject) -> Sequence[dict[str, Json]] | None:
    """REST's list of a pull request's reviews."""
    found = mapping(node.get("reviews"))
    base = pull_url.partition("/repos/")[0]
    shown = [_review(mapping(each), pull_url, base) for each in sequence(found.get("nodes"))]
    if found.get("totalCount") != len(shown):
        return None
    whole = [each for each in shown if each is not None]
    return whole if len(whole) == len(shown) else None


def _review(node: JsonObject, pull_url: str, base: str) -> dict[str, Json] | None:
    identity = text(node.get("fullDatabaseId"))
    author = node.get("author")
    account = _account(mapping(author), {}, base) if author is not None else None
    if not identity.isdecimal() or (author is not None and account is None) or not node.get("url"):
        return None
    html = text(node.get("url"))
    body = {
        "id": int(identity),
        "node_id": node.get("id"),
        "user": account,
        "body": node.get("body"),
        "state": node.get("state"),
        "html_url": html,
        "pull_request_url": pull_url,
        "author_association": node.get("authorAssociation"),
        "_links": {"html": {"href": html}, "pull_request": {"href": pull_url}},
        "commit_id": text(at(node, "commit", "oid")) or None,
    }
    submitted = text(node.get("submittedAt"))
    return body | ({"submitted_at": submitted} if submitted else {})  # a pending one has no such field


def _account(actor: JsonObject, people: Mapping[int, JsonObject], base: str) -> dict[str, Any] | None:
    """An account as REST embeds it; None if the actor does not tell: bots, deleted accounts."""
    identity = number(actor.get("databaseId"))
    if identity is not None and identity in people:
        return dict(people[identity])
    if identity is None or actor.get("__typename") != "User":
        return None
    login = text(actor.get("login"))
    url = f"{base}/users/{quote(login, safe='-_.~')}"
    return {
        "login": login,
        "id": identity,
        "node_id": actor.get("id"),
        "avatar_url": _avatar(text(actor.get("avatarUrl"))),
        "gravatar_id": "",
        "url": url,
        "html_url": actor.get("url"),
        **{name: url + suffix for name, suffix in ACCOUNT_URLS},
        "type": "User",
        "user_view_type": "public",
        "site_admin": actor.get("isSiteAdmin") is True,
    }


def _avatar(url: str) -> str:
    """GraphQL adds a hash of the picture, which REST leaves out."""
    path, _, query = url.partition("?")
    kept = [pair for pair in query.split("&") if pair and not pair.startswith("u=")]
    return f"{path}?{'&'.join(kept)}" if kept else path


def _total(node: JsonObject, name: str) -> int | None:
    return number(at(node, name, "totalCount"))


def http_date(changed_at: str) -> str:
    """A moment of a body as `Last-Modified` writes it; empty where it is none."""
    try:
        return format_datetime(moment(changed_at), usegmt=True)
    except ValueError:
        return ""
