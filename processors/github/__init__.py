"""GitHub: what its JSON means. Every entity and every list is one row here."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from functools import partial
from typing import Final, Literal

from ghcrawl.model import JsonObject
from ghcrawl.platform import Kind, Platform
from ghcrawl.visitor_map import Node, Scenarios
from processors.github import commit, entity, issue, org, page, pull_request, repo
from processors.github.entity import Entity
from processors.github.events import event_kinds
from processors.github.graph import QUEUE_OF, count
from processors.github.listing import Listing, Listings, Walking, cursor_of, resume_of, walk_again
from processors.github.maps import SCENARIOS
from processors.github.spec import reader, user_instead
from processors.github.webhook import delivery_request

ENTITIES: Final[tuple[Entity, ...]] = (
    org.ORG,
    org.USER,
    org.TEAM,
    repo.REPO,
    repo.LABEL,
    repo.MILESTONE,
    repo.RELEASE,
    repo.BRANCH,
    repo.TAG,
    issue.ISSUE,
    issue.ISSUE_COMMENT,
    pull_request.PULL_REQUEST,
    pull_request.REVIEW,
    pull_request.REVIEW_COMMENT,
    commit.COMMIT,
    commit.COMMIT_COMMENT,
)

_BY_CREATION: Final = "sort=created&direction=asc"
"""A complete walk in this order is not disturbed by what is added or changed meanwhile."""
_BY_CHANGE: Final = "sort=updated&direction=asc"


def empty(repo: JsonObject) -> bool:
    """Nothing was pushed yet; a push would have changed the repository."""
    return repo.get("size") == 0


LISTINGS: Final[tuple[Listing, ...]] = (
    Listing(
        type="repos",
        of="org",
        element="repo",
        path="/repos",
        query="type=all&sort=created&direction=desc",
        newest_first=True,
    ),
    Listing(
        type="repos",
        of="user",
        element="repo",
        path="/repos",
        query="type=owner&sort=created&direction=desc",
        newest_first=True,
        when=lambda user: count(user.get("public_repos")) > 0 or "plan" in user,
    ),
    Listing(type="members", of="org", element="user", path="/members", relation=True),
    Listing(type="teams", of="org", element="team", path="/teams", relation=True),
    Listing(
        type="team_members",
        name="members",
        of="team",
        element="user",
        path="/members",
        relation=True,
        when=lambda team: count(team.get("members_count")) > 0,
    ),
    Listing(
        type="team_repos",
        name="repos",
        of="team",
        element="repo",
        path="/repos",
        relation=True,
        when=lambda team: count(team.get("repos_count")) > 0,
    ),
    Listing(
        type="issues",
        of="repo",
        element="issue",
        path="/issues",
        query=f"state=all&{_BY_CREATION}",
        since_query=f"state=all&{_BY_CHANGE}",
        complete=True,
        walking=Walking.SINCE,
        when=lambda repo: repo.get("has_issues") is not False,
    ),
    Listing(
        type="pull_requests",
        of="repo",
        element="pull_request",
        path="/pulls",
        query=f"state=all&{_BY_CREATION}",
        when=lambda repo: repo.get("has_issues") is False,  # else the issues lead to every one of them
    ),
    Listing(
        type="issue_comments",
        of="repo",
        element="issue_comment",
        path="/issues/comments",
        query=_BY_CREATION,
        since_query=_BY_CHANGE,
        complete=True,
        walking=Walking.SINCE,
        known_only=True,
    ),
    Listing(
        type="issue_comments",
        of="issue",
        element="issue_comment",
        path="/comments",
        complete=True,
        covered_by="repo",
        when=lambda issue: count(issue.get("comments")) > 0,
    ),
    Listing(type="reviews", of="pull_request", element="review", path="/reviews", complete=True),
    Listing(
        type="review_comments",
        of="repo",
        element="review_comment",
        path="/pulls/comments",
        query=_BY_CREATION,
        since_query=_BY_CHANGE,
        complete=True,
        walking=Walking.SINCE,
        known_only=True,
    ),
    Listing(
        type="review_comments",
        of="pull_request",
        element="review_comment",
        path="/comments",
        complete=True,
        covered_by="repo",
        when=lambda pull: count(pull.get("review_comments")) > 0,
    ),
    Listing(
        type="commits",
        of="repo",
        element="commit",
        path="/commits",
        complete=True,
        walking=Walking.HEAD,
        still=empty,
        between="/compare/",
        item_at="commits",
    ),
    Listing(
        type="commit_comments",
        of="repo",
        element="commit_comment",
        path="/comments",
        complete=True,
        known_only=True,
        quiet=True,
    ),
    Listing(
        type="commit_comments",
        of="commit",
        element="commit_comment",
        path="/comments",
        complete=True,
        covered_by="repo",
        when=commit.has_comments,
    ),
    Listing(type="labels", of="repo", element="label", path="/labels", complete=True),
    Listing(type="milestones", of="repo", element="milestone", path="/milestones", query="state=all", complete=True),
    Listing(type="releases", of="repo", element="release", path="/releases", complete=True, newest_first=True),
    Listing(type="branches", of="repo", element="branch", path="/branches", complete=True, still=empty),
    Listing(type="tags", of="repo", element="tag", path="/tags", complete=True, still=empty),
    Listing(type="contributors", of="repo", element="user", path="/contributors", relation=True, still=empty),
)

Commits = Literal["list", "full"]


def kinds(*, commits: Commits = "list") -> Mapping[str, Kind]:
    """Every kind of request. commits="full" asks for each commit by itself: statistics and files, at a call each."""
    entities = {row.type: row for row in ENTITIES}
    listings = _listings(commits)
    found = {
        row.type: Kind(
            processor=entity.processor(row, listings),
            position=row.type,
            version=row.version,
            queue=QUEUE_OF.get(row.type, "normal"),
            immutable=row.immutable,
            fallback=user_instead if row.type == "org" else None,
        )
        for row in ENTITIES
    }
    process = page.processor(listings, entities)
    for listing in LISTINGS:
        position = f"{listing.of}@/{listing.link}"
        kind = Kind(processor=process, position=position, queue="soon")
        if listing.walking is not Walking.PAGES:
            kind = replace(kind, cursor=cursor_of(listings), resume=resume_of(listings), fallback=walk_again)
        found.setdefault(listing.type, kind)
    return {**found, "cursor": Kind(processor=page.cursor, position="self"), **event_kinds()}


def _listings(commits: Commits) -> Listings:
    rows = {(row.of, row.type): row for row in LISTINGS}
    if commits == "full":
        rows["repo", "commits"] = replace(rows["repo", "commits"], complete=False)
    return rows


def platform(*, commits: Commits = "list", scenarios: Mapping[str, Mapping[str, Node]] | None = None) -> Platform:
    """GitHub. scenarios: replaces the visitor maps named in it."""
    known = kinds(commits=commits)
    return Platform(
        name="github",
        kinds=known,
        scenarios=Scenarios({**SCENARIOS, **(scenarios or {})}),
        read_spec=reader({row.type: row for row in ENTITIES}, _listings("list")),
        deliveries=partial(delivery_request, known=frozenset(known)),
    )
