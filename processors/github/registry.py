"""Every entity, list and part of GitHub, and what each request type is made of."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Final, Literal

from ghcrawl.platform import Kind
from processors.github import activity, automation, commit, entity, issue, org, page, part, planning, pull_request, repo
from processors.github.entity import Entity
from processors.github.graph import QUEUE_OF
from processors.github.listing import Listings, Walking, cursor_of, refusal_of, resume_of, walk_again
from processors.github.listings import LISTINGS
from processors.github.parts import PARTS
from processors.github.scenarios import Behind
from processors.github.spec import user_instead

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
    repo.RELEASE_ASSET,
    activity.ISSUE_EVENT,
    activity.REACTION,
    activity.DISCUSSION,
    automation.STATUS,
    automation.CHECK_SUITE,
    automation.CHECK_RUN,
    automation.DEPLOYMENT,
    automation.DEPLOYMENT_STATUS,
    automation.WORKFLOW,
    automation.WORKFLOW_RUN,
    planning.PROJECT,
    planning.PROJECT_ITEM,
    planning.SECURITY_ADVISORY,
    planning.DEPENDABOT_ALERT,
)
BY_TYPE: Final[Mapping[str, Entity]] = {row.type: row for row in ENTITIES}
"""The same by what they are called."""

Commits = Literal["list", "full"]


def kinds(*, commits: Commits = "list") -> Mapping[str, Kind]:
    """Every kind of request. commits="full" asks for each commit by itself: statistics and files, at a call each."""
    lists = listings(commits)
    found = {
        row.type: Kind(
            processor=entity.processor(row, lists, PARTS),
            position=row.type,
            version=row.version,
            queue=QUEUE_OF.get(row.type, "normal"),
            immutable=row.immutable,
            private=repo.is_private,
            fallback=user_instead if row.type == "org" else None,
            listed=not row.endpoint,
            referred=not row.parent,
        )
        for row in ENTITIES
    }
    for each in PARTS:
        found[each.type] = Kind(
            processor=part.processor(each),
            position=each.type,
            version=each.version,
            queue="later",
            refusal=each.refusal,
            limited=bool(each.limited),
            fallback=part.elsewhere_of(each) if each.elsewhere else None,
        )
    process = page.processor(lists, BY_TYPE)
    for listing in LISTINGS:
        kind = Kind(
            processor=process,
            position=f"{listing.of}@/{listing.link}",
            queue="soon",
            refusal=refusal_of(lists),
            private=lambda _: True,  # a list is gone with what it is of, which says so itself
        )
        if listing.walking is not Walking.PAGES:
            kind = replace(kind, cursor=cursor_of(lists), resume=resume_of(lists), fallback=walk_again)
        found.setdefault(listing.type, kind)
    bookkeeping = {
        "cursor": Kind(processor=page.cursor, position="self"),
        "census": Kind(processor=page.cursor, position="self", census=page.census),
    }
    return {**found, **bookkeeping}


def listings(commits: Commits) -> Listings:
    """Every list, by type of owner and type of page."""
    rows = {(row.of, row.type): row for row in LISTINGS}
    if commits == "full":
        rows["repo", "commits"] = replace(rows["repo", "commits"], complete=False)
    return rows


def behind(map_name: str, link: str) -> Behind:
    """What a link of a visitor map leads to at once. Whatever is neither list nor part nor named here is a person."""
    return _BEHIND.get((map_name, link)) or _ELSE.get(link) or Behind(things=frozenset({"user"}))


_ELSE: Final[Mapping[str, Behind]] = {
    "owner": Behind(things=frozenset({"user", "org"})),
    "organization": Behind(things=frozenset({"org"})),
    "pull_request": Behind(things=frozenset({"pull_request"})),
}
_BEHIND: Final[Mapping[tuple[str, str], Behind]] = {
    **{
        (owner, row.link): Behind(things=frozenset({row.element} - {""}), pages=row.type)
        for row in LISTINGS
        for owner in (row.of, *row.via)
    },
    **{(row.of, row.type): Behind(things=frozenset({row.type})) for row in PARTS},
}
DOCUMENT_TYPES: Final = frozenset(
    {row.type for row in ENTITIES} | {row.type for row in PARTS} | {row.type for row in LISTINGS}
)
