"""Tables of relations: who is a member, who gave a star, which files a pull request changes.

A relation's documents are pages of a list, which hold the elements themselves; a table has a row for each element.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from msgspec import Struct

from ghcrawl.platforms.columns import KEY, Column, columns, linked, made, person
from ghcrawl.platforms.tables import Table, relation
from processors.github.entities import BY_TYPE
from processors.github.listings import LISTINGS
from processors.github.tables_fields import ACCOUNT_URLS, PLATFORM

_ACCOUNT: Final = f"id login type user_view_type site_admin html_url avatar_url name email {ACCOUNT_URLS}"
_USER: Final = person("user", ())
_PERMISSIONS: Final = columns("json", "permissions")
_TEAM: Final = (
    made("team_urn", "urn:team:{id}", "teams.urn"),
    *columns("integer", "team_id=id"),
    *columns("text", "team_slug=slug team_name=name permission"),
)
_REPO: Final = (
    *columns("integer", "id stargazers_count forks_count"),
    *columns("text", "full_name visibility role_name"),
    *person("owner"),
    *columns("timestamp", "created_at pushed_at"),
)
_FILE: Final = (
    *columns("text", "filename status previous_filename sha"),
    *columns("integer", "additions deletions changes"),
)


class _Relation(Struct, frozen=True):
    """What stands in the elements. left_out: names without a column; empty: it is a copy of what has a table."""

    name: str
    own: tuple[Column, ...]
    left_out: str = ""


_RELATIONS: Final[Mapping[str, _Relation]] = {
    "members": _Relation("org_members", _USER, _ACCOUNT),
    "admins": _Relation("org_admins", _USER, _ACCOUNT),
    "outside_collaborators": _Relation("org_outside_collaborators", _USER, _ACCOUNT),
    "external_groups": _Relation(
        "org_external_groups",
        (*columns("integer", "group_id"), *columns("text", "group_name updated_at")),
        "group_id",
    ),
    "team_members": _Relation("team_members", _USER, _ACCOUNT),
    "maintainers": _Relation("team_maintainers", _USER, _ACCOUNT),
    "team_repos": _Relation("team_repos", (made("repo_urn", "urn:repo:{id}", "repos.urn"), *_REPO, *_PERMISSIONS)),
    "repo_teams": _Relation("repo_teams", (*_TEAM, *_PERMISSIONS)),
    "contributors": _Relation("repo_contributors", (*_USER, *columns("integer", "contributions")), _ACCOUNT),
    "collaborators": _Relation("repo_collaborators", (*_USER, *columns("text", "role_name"), *_PERMISSIONS), _ACCOUNT),
    "stargazers": _Relation("stargazers", (*person("user"), *columns("timestamp", "starred_at")), "user"),
    "subscribers": _Relation("subscribers", _USER, _ACCOUNT),
    "forks": _Relation("repo_forks", (made("fork_urn", "urn:repo:{id}", "repos.urn"), *_REPO)),
    "orgs": _Relation(
        "user_orgs", (made("org_urn", "urn:org:{id}", "orgs.urn"), *columns("integer", "id"), *columns("text", "login"))
    ),
    "commit_pull_requests": _Relation(
        "commit_pull_requests",
        (
            *columns("integer", "number base_repo_id=base.repo.id"),
            *columns("text", "title state base_repo=base.repo.full_name"),
            *person("user"),
            *columns("timestamp", "merged_at"),
        ),
    ),
    "pull_request_files": _Relation("pull_request_files", _FILE, "blob_url raw_url contents_url patch"),
    "annotations": _Relation(
        "check_run_annotations",
        (
            *columns("text", "path annotation_level title message raw_details"),
            *columns("integer", "start_line end_line start_column end_column"),
        ),
        "blob_href",
    ),
    "timeline": _Relation(
        "issue_timeline",
        (*columns("integer", "id"), *columns("text", "event"), *person("actor"), *columns("timestamp", "created_at")),
        "node_id url",
    ),
}
NO_TABLE: Final[Mapping[str, str]] = {
    "teams": "`teams.organization_urn` says the same",
    "child_teams": "`teams.parent_urn` says the same",
    "tag_refs": "`tags` and `tag_objects` say the same",
    "commit_files": "of commits with more files than their own answer holds",
}
"""Relations without one, and why."""


def _table(kind: str, row: _Relation) -> Table:
    listing = next(each for each in LISTINGS if each.type == kind)
    owner = BY_TYPE[listing.of]
    return relation(
        PLATFORM,
        kind,
        linked(f"{owner.type}_urn", "origin", f"{owner.collection}.{KEY}"),
        *row.own,
        name=row.name,
        pages_of=listing.urn(""),
        left_out=row.left_out,
    )


RELATION_TABLES: Final[tuple[Table, ...]] = tuple(_table(kind, row) for kind, row in _RELATIONS.items())
"""GitHub's."""
