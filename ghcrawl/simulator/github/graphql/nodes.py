"""Nodes: from a global id to what is behind it, as the asker may see it; fields are made of REST's own bodies."""

from __future__ import annotations

import re
from base64 import urlsafe_b64decode
from binascii import Error
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any, Final

from graphql import GraphQLError
from msgspec import Struct

from ghcrawl.simulator.github.entities import Issue, Pull, Repo, Review
from ghcrawl.simulator.github.people import Org, Owner
from ghcrawl.simulator.github.principals import Viewer
from ghcrawl.simulator.github.shapes import accounts, pulls
from ghcrawl.simulator.github.shapes.site import Site, node_id
from ghcrawl.simulator.github.world import World

Node = dict[str, Any]
_MERGEABLE: Final = {True: "MERGEABLE", False: "CONFLICTING", None: "UNKNOWN"}


class Nodes(Struct, frozen=True, kw_only=True):
    """Answers for one viewer. wrong: fields that say something else than REST does."""

    world: World
    site: Site
    viewer: Viewer
    wrong: frozenset[str] = frozenset()

    def node(self, global_id: str) -> Node:
        """The node of that id. Raises GraphQLError with GitHub's own words."""
        prefix, numbers = _numbers(global_id)
        found: Node | None = None
        if prefix in ("U", "O") and len(numbers) == 1:
            account = self.world.accounts.get(numbers[0])
            found = self._account(account) if account is not None else None
        elif prefix == "PR" and len(numbers) == 2:
            found = self._pull(*numbers)
        elif prefix == "R" and len(numbers) == 1:
            repo = self._visible(numbers[0])
            found = _repository(repo) if repo is not None else None
        if found is None:
            words = f"Could not resolve to a node with the global id of '{global_id}'."
            raise GraphQLError(words, extensions={"type": "NOT_FOUND"})
        return found | {name: _other(found[name]) for name in self.wrong if name in found}

    def viewer_node(self) -> Node:
        """The user whose token it is. Raises GraphQLError for an installation."""
        account = self.world.accounts.get(self.viewer.user)
        if account is None:
            raise GraphQLError("Resource not accessible by integration", extensions={"type": "FORBIDDEN"})
        return self._account(account)

    # Accounts -------------------------------------------------------------------------------------------------

    def actor(self, account: Owner | None) -> Node | None:
        """The actor; null for a deleted account."""
        if account is None:
            return None
        simple = accounts.simple_user(self.site, account)
        return {
            "__typename": simple["type"],
            "id": simple["node_id"],
            "databaseId": account.id,
            "login": account.login.removesuffix("[bot]") if simple["type"] == "Bot" else account.login,
            "url": simple["html_url"],
            "avatarUrl": simple["avatar_url"].replace("?v=", f"?u={account.id:040x}&v="),
            "isSiteAdmin": simple["site_admin"],
            "userViewType": simple["user_view_type"].upper(),
        }

    def _account(self, account: Owner) -> Node:
        actor = self.actor(account)
        assert actor is not None
        if isinstance(account, Org) or actor["__typename"] != "User":
            return actor
        body = accounts.user(self.site, self.world, account, Viewer(kind="user"))
        return {
            **actor,
            **_alike(body, "name", "company", "location", "bio", "twitter_username", "created_at", "updated_at"),
            "websiteUrl": body["blog"] or None,
            "email": body["email"] or "",
            "isHireable": bool(body["hireable"]),
            "repositories": _counted(body["public_repos"]),
            "gists": _counted(body["public_gists"]),
            "followers": _counted(body["followers"]),
            "following": _counted(body["following"]),
        }

    # Repositories ---------------------------------------------------------------------------------------------

    def _visible(self, repo_id: int) -> Repo | None:
        """The repository, as far as it is shown. Raises GraphQLError where single sign-on is missing."""
        repo = self.world.repos.get(repo_id)
        if repo is None or not self.viewer.sees(repo) or repo.standing != "fine":
            return None
        if (why := self.viewer.denial(repo.owner)) is not None:
            extensions = {"type": "FORBIDDEN", "saml_failure": why == "sso"}
            raise GraphQLError("Resource protected by organization SAML enforcement.", extensions=extensions)
        return repo

    # Pull requests --------------------------------------------------------------------------------------------

    def _pull(self, repo_id: int, pull_id: int) -> Node | None:
        repo = self._visible(repo_id)
        if repo is None:
            return None
        issue = next((each for each in repo.pulls if each.request.id == pull_id), None)
        return self._described(repo, issue) if issue is not None else None

    def _described(self, repo: Repo, issue: Issue) -> Node:
        pull = issue.request
        body = pulls.pull(self.site, self.world, repo, issue)
        return {
            "__typename": "PullRequest",
            "id": body["node_id"],
            **_alike(body, "number", "updated_at", "maintainer_can_modify", "additions", "deletions", "changed_files"),
            "headRefOid": body["head"]["sha"],
            "mergedBy": self.actor(pull.merged_by),
            "mergeable": _MERGEABLE[body["mergeable"]],
            "canBeRebased": bool(body["rebaseable"]),
            "mergeStateStatus": body["mergeable_state"].upper(),
            "comments": _counted(body["comments"]),
            "commits": _counted(body["commits"]),
            "reviews": _paged([partial(self._review, repo, issue, each) for each in pull.reviews]),
            "reviewThreads": _paged([partial(dict, each) for each in _threads(pull)]),
        }

    def _review(self, repo: Repo, issue: Issue, review: Review) -> Node:
        body = pulls.review(self.site, repo, issue, review)
        return {
            "__typename": "PullRequestReview",
            "id": body["node_id"],
            "fullDatabaseId": str(body["id"]),
            "author": self.actor(review.user),
            **_alike(body, "author_association", "body", "state", "submitted_at"),
            "url": body["html_url"],
            "commit": {"__typename": "Commit", "oid": body["commit_id"], "id": node_id("C", repo.id, review.id)},
        }


def _alike(body: Mapping[str, Any], *fields: str) -> Node:
    """Fields that have the same value in REST. Their names are those of REST in camel case."""
    return {re.sub(r"_(\w)", lambda found: found[1].upper(), name): body[name] for name in fields}


def _repository(repo: Repo) -> Node:
    head, pulls = repo.head, len(repo.pulls)
    tip = head and {
        "__typename": "Commit",
        "id": node_id("C", repo.id),
        "oid": head.sha,
        "history": _counted(len(repo.history(head))),
    }
    return {
        "__typename": "Repository",
        "id": node_id("R", repo.id),
        "issues": _counted(len(repo.issues) - pulls),
        "pullRequests": _counted(pulls),
        "releases": _counted(len(repo.releases)),
        "deployments": _counted(len(repo.records.deployments)),
        "commitComments": _counted(len(repo.commit_comments)),
        "refs": _counted(len(repo.branches)),
        "defaultBranchRef": tip and {"__typename": "Ref", "id": node_id("REF", repo.id), "target": tip},
    }


def _threads(pull: Pull) -> Sequence[Node]:
    """Comments on one line are a thread: the first one and its replies."""
    replies: dict[int, int] = {}
    for comment in pull.comments:
        first = comment.reply_to or comment
        replies[first.id] = replies.get(first.id, 0) + 1
    return [
        {"__typename": "PullRequestReviewThread", "id": node_id("PRRT", first), "comments": _counted(count)}
        for first, count in replies.items()
    ]


def _counted(total: int) -> Callable[..., Mapping[str, Any]]:
    return lambda _info, **_arguments: {"totalCount": total}


def _paged(makers: Sequence[Callable[[], Node]]) -> Callable[..., Mapping[str, Any]]:
    def connection(_info: Any, first: int | None = None) -> Mapping[str, Any]:
        shown = makers[: first or 0]
        page = {"hasNextPage": len(makers) > len(shown), "endCursor": str(len(shown)) if shown else None}
        return {"totalCount": len(makers), "nodes": [make() for make in shown], "pageInfo": page}

    return connection


def _other(value: Any) -> Any:
    if isinstance(value, int) and not isinstance(value, bool):
        return value + 1
    return f"{value} (not what REST says)"


def _numbers(global_id: str) -> tuple[str, tuple[int, ...]]:
    """What `node_id` made an id of; nothing for what it did not make."""
    prefix, _, coded = global_id.partition("_kwDO")
    try:
        raw = urlsafe_b64decode(coded + "=" * (-len(coded) % 4))
    except (Error, ValueError):
        return "", ()
    return prefix, tuple(int.from_bytes(raw[at : at + 8], "big") for at in range(0, len(raw), 8))
