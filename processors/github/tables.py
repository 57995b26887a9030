"""GitHub's tables: each kind with its columns, people and link tables, by the names of GitHub's own description.

Only what the kinds do not know already is written here: which field has which type. Names of tables, and what lies in
what, come from the registry. A test holds the types to GitHub's published schemas, which also name every field here.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Final

from ghcrawl.platforms.columns import (
    AFTER,
    BEFORE,
    KEY,
    POSITION,
    Column,
    columns,
    linked,
    made,
    ordered,
    owned_by,
    person,
)
from ghcrawl.platforms.tables import LinkTable, Schema, Table, table
from ghcrawl.values.frozen import replace
from processors.github.entities import BY_TYPE, ENTITIES
from processors.github.events import event_kinds
from processors.github.registry import listings
from processors.github.tables_fields import FIELDS, PLATFORM, Fields
from processors.github.tables_parts import PART_TABLES, REPO_ID
from processors.github.tables_questions import QUESTIONS
from processors.github.tables_relations import RELATION_TABLES

VERSION: Final = 3
"""Of the schema. Raised when a column is added, is renamed, or means something else."""

PARENTS: Final[Mapping[str, tuple[str, ...]]] = {
    "issue_comment": ("repo", "issue"),
    "issue_event": ("repo", "issue"),
    "review": ("repo", "pull_request"),
    "review_comment": ("repo", "pull_request"),
    "commit_comment": ("repo", "commit"),
    "status": ("repo", "commit"),
    "check_suite": ("repo", "commit"),
    "check_run": ("repo", "commit"),
    "deployment_status": ("repo", "deployment"),
    "workflow_job": ("repo", "workflow_run"),
    "project_item": ("org", "project"),
    "reaction": ("repo", "issue", "release"),
}
"""What a kind lies in, outermost first; what is not named lies in its parent alone."""
_CALLED: Final = {
    "issue": Column(name="issue_number", type="integer", source="above_name", path=("issue",)),
    "pull_request": Column(name="pull_request_number", type="integer", source="above_name", path=("pull_request",)),
    "commit": Column(name="commit_sha", type="text", source="above_name", path=("commit",)),
}
"""What a thing is called below its repository, beside its URN."""

ABOUT: Final = {
    "commits.author_id": "the account that the author's address belongs to",
    "commits.authored_at": "`commit.author.date`: when it was written; a rebase keeps it",
    "commits.committed_at": "`commit.committer.date`: when it was applied",
    "issues.comments": "how many there are",
    "issues.draft": "of its pull request",
    "issues.pull_request_urn": "the pull request that it is the issue of; null for an issue proper",
    "issues.reactions_total": "`reactions.total_count`",
    "pull_requests.commits": "how many there are",
    "pull_requests.issue_urn": "the issue of the same number, to which labels and comments belong",
    "pull_requests.head_urn": "the repository that it comes from",
    "pull_requests.merge_commit_sha": "of the merge; before it, of a trial merge",
    "pull_requests.mergeable": "null until GitHub has tried it",
    "repos.open_issues_count": "open issues and open pull requests",
    "repos.subscribers_count": "people who watch it",
    "repos.watchers_count": "the same as `stargazers_count`",
    "repos.size": "in KB",
}
"""What a name says wrongly, or not at all."""


def _table(fields: Fields) -> Table:
    kind = fields.kind
    own = (
        *columns("integer", fields.integers),
        *columns("text", fields.texts),
        *columns("boolean", fields.booleans),
        *columns("timestamp", fields.times),
        *(column for each in fields.people.split() for column in person(each)),
        *(_linked(each) for each in fields.links.split()),
        *(made(*each) for each in _threes(fields.made.split())),
        *columns("json", fields.json),
    )
    several = tuple(_link(kind, each) for each in fields.several.split())
    names = {column.name for column in own}
    found = table(
        PLATFORM,
        kind,
        *(column for column in _above(kind) if column.name not in names),
        *own,
        name=BY_TYPE[kind].collection,
        links=several,
        people=(
            *([()] if kind in ("user", "org") else []),
            *((each,) for each in fields.people.split()),
            *(link.path for link in several if link.columns[2:] == _ELEMENTS["person"]),
        ),
        left_out=f"url {fields.left_out}",
    )
    told = (replace(each, about=ABOUT.get(f"{found.name}.{each.name}", each.about)) for each in found.columns)
    return replace(found, columns=tuple(told), always=kind == "repo")


def _threes(words: list[str]) -> Iterable[tuple[str, str, str]]:
    return zip(words[::3], words[1::3], words[2::3], strict=True)


def _above(kind: str) -> Iterable[Column]:
    parent = BY_TYPE[kind].parent
    for each in PARENTS.get(kind) or ((parent,) if parent in BY_TYPE else ()):
        if each == "repo":
            yield REPO_ID
        key = f"{BY_TYPE[each].collection}.{KEY}"
        yield Column(name=f"{each}_urn", type="text", source="above", path=(each,), references=key)
        if each in _CALLED:
            yield _CALLED[each]


def _linked(spec: str) -> Column:
    """`milestone:milestone` → `milestone_urn`, which is found in `milestones`."""
    link, _, kind = spec.partition(":")
    return linked(f"{link}_urn", link, f"{BY_TYPE[kind].collection}.{KEY}" if kind else "")


_ELEMENTS: Final[Mapping[str, tuple[Column, ...]]] = {
    "person": person("user", ()),
    "label": (
        made("label_urn", "{repo}:label:{id}", "labels.urn"),
        *columns("integer", "label_id=id"),
        *columns("text", "label_name=name value"),
    ),
    "team": (*columns("integer", "team_id=id"), *columns("text", "team_slug=slug")),
    "parent": (made("parent_urn", "{repo}:commit:{sha}", "commits.urn"), *columns("text", "parent_sha=sha")),
    "pull_request": (
        made("pull_request_urn", "{repo}:pull_request:{number}", "pull_requests.urn"),
        *columns("integer", "pull_request_number=number"),
    ),
    "file": (
        *columns("text", "filename status previous_filename sha"),
        *columns("integer", "additions deletions changes"),
    ),
    "asset": (
        made("release_asset_urn", "{repo}:release_asset:{id}", "release_assets.urn"),
        *columns("integer", "release_asset_id=id"),
        *columns("text", "name"),
    ),
    "text": columns("text", "value"),
}


def _link(kind: str, spec: str) -> LinkTable:
    """`labels:label` → `issue_labels`."""
    field, sort, *name = spec.split(":")
    return LinkTable(
        name=name[0] if name else f"{kind}_{field}",
        path=(field,),
        columns=(owned_by(kind, BY_TYPE[kind].collection), POSITION, *_ELEMENTS[sort]),
    )


def _events() -> Table:
    """Every kind of event in one table: what happened, where, and by whom; the rest stays JSON."""
    kinds = frozenset(event_kinds(BY_TYPE, listings())) - {"events"}
    found = (
        *BEFORE,
        *ordered(
            (
                Column(name="type", type="text", source="document", path=("type",)),
                REPO_ID,
                Column(name="repo_urn", type="text", source="above", path=("repo",), references="repos.urn"),
                Column(name="org_urn", type="text", source="above", path=("org",), references="orgs.urn"),
                *columns("text", "id action=payload.action hook_action=action"),
                *person("actor"),
                *person("sender"),
                *columns("timestamp", "created_at"),
                *columns("json", "payload"),
            )
        ),
        *AFTER,
    )
    known = frozenset({"id", "actor", "sender", "created_at", "payload", "type", "action", "repo", "org", "public"})
    return Table(
        platform=PLATFORM, name="events", kinds=kinds, columns=found, known=known, people=(("actor",), ("sender",))
    )


TABLES: Final = Schema(
    version=VERSION,
    tables=(
        *(_table(FIELDS.get(row.type) or Fields(kind=row.type)) for row in ENTITIES),
        *RELATION_TABLES,
        *PART_TABLES,
        _events(),
    ),
    questions=QUESTIONS,
)
"""GitHub's schema."""

_COMMITS: Final = "commits of pull requests, and of branches beside the default one, are crawled on demand only"
_OTHERS: Final = "may be a repository of another owner"
OUTSIDE: Final[Mapping[str, str]] = {
    "repos.parent_urn": _OTHERS,
    "repos.source_urn": _OTHERS,
    "repos.template_repository_urn": _OTHERS,
    "pull_requests.head_urn": _OTHERS,
    "teams.parent_urn": "may be a team that the token may not see",
    "branches.commit_urn": _COMMITS,
    "tags.commit_urn": _COMMITS,
    "reviews.commit_urn": _COMMITS,
    "review_comments.commit_urn": _COMMITS,
    "issue_events.commit_urn": _COMMITS,
    "issue_events.label_urn": "may have been deleted since",
    "workflow_runs.commit_urn": _COMMITS,
    "deployments.commit_urn": _COMMITS,
    "repo_forks.fork_urn": _OTHERS,
    "team_repos.repo_urn": _OTHERS,
    "user_orgs.org_urn": "organisations of people are listed, not crawled",
}
"""Column → why what it refers to may not be in the crawl, though everything else is."""
