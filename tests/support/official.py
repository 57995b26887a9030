"""What GitHub itself says of its things: its published schemas, from the package that is generated of them."""

from __future__ import annotations

import types
import typing
import warnings
from collections.abc import Iterator, Mapping
from enum import Enum
from functools import cache
from importlib import import_module
from typing import Any, Final

from msgspec import Struct

OFFICIAL: Final[Mapping[str, tuple[str, ...]]] = {
    "org": ("OrganizationFull",),
    "user": ("PublicUser", "PrivateUser"),
    "team": ("TeamFull", "Team"),
    "repo": ("FullRepository",),
    "label": ("Label",),
    "milestone": ("Milestone",),
    "release": ("Release",),
    "branch": ("BranchWithProtection", "ShortBranch"),
    "tag": ("Tag", "GitRef"),
    "issue": ("Issue",),
    "issue_comment": ("IssueComment",),
    "pull_request": ("PullRequest", "PullRequestSimple"),
    "review": ("PullRequestReview",),
    "review_comment": ("PullRequestReviewComment",),
    "commit": ("Commit",),
    "commit_comment": ("CommitComment",),
    "release_asset": ("ReleaseAsset",),
    "issue_event": ("IssueEvent",),
    "reaction": ("Reaction",),
    "discussion": ("Discussion",),
    "status": ("Status",),
    "check_suite": ("CheckSuite",),
    "check_run": ("CheckRun",),
    "deployment": ("Deployment",),
    "deployment_status": ("DeploymentStatus",),
    "workflow": ("Workflow",),
    "workflow_run": ("WorkflowRun",),
    "project": ("ProjectsV2",),
    "project_item": ("ProjectsV2ItemSimple", "ProjectsV2ItemWithContent"),
    "security_advisory": ("RepositoryAdvisory",),
    "dependabot_alert": ("DependabotAlert",),
}
"""Kind → the schemas of its forms, its own first: of kinds that have columns."""
DESCRIBED: Final[Mapping[str, tuple[str, ...]]] = {
    **OFFICIAL,
    "artifact": ("Artifact",),
    "workflow_job": ("Job",),
    "environment": ("Environment",),
    "ruleset": ("RepositoryRuleset",),
    "branch_protection": ("BranchProtection",),
    "code_scanning_alert": ("CodeScanningAlert", "CodeScanningAlertItems"),
    "secret_scanning_alert": ("SecretScanningAlert",),
    "tag_object": ("GitTag",),
    "gist": ("GistSimple", "BaseGist"),
    "package": ("Package",),
    "membership": ("OrgMembership",),
}
"""The same of all kinds that are described."""


@cache
def models() -> Any:
    """The module of schemas; importing it takes long, and warns of names that shadow pydantic's."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return import_module("githubkit_schemas.v2022_11_28.models")


def leaves(annotation: Any) -> Iterator[Any]:
    """The types that a value may have, without `None`, unset, and what a list is of."""
    origin = typing.get_origin(annotation)
    if origin in (typing.Union, types.UnionType, typing.Annotated):
        found = typing.get_args(annotation)
        for each in found[:1] if origin is typing.Annotated else found:
            yield from leaves(each)
    elif origin is typing.Literal:
        yield from {type(each) for each in typing.get_args(annotation)}
    elif origin is list:
        yield list
    elif isinstance(annotation, type) and issubclass(annotation, Enum):
        if "Unset" not in annotation.__name__:
            yield str
    elif annotation is not type(None) and "UNSET" not in str(annotation):
        yield origin or annotation


class Said(Struct, frozen=True, kw_only=True):
    """What the schemas of a kind say of one field. types: without null. always: every form has it; of others the
    package does not tell whether they may also be null."""

    types: frozenset[Any]
    nullable: bool
    always: bool


@cache
def fields(kind: str) -> Mapping[str, Said]:
    """Every field that some form of the kind has."""
    forms = [getattr(models(), name).model_fields for name in DESCRIBED[kind]]
    named = [{info.alias or name: info for name, info in form.items()} for form in forms]
    return {
        name: Said(
            types=frozenset(each for form in named if name in form for each in _types(form[name].annotation)),
            nullable=any(_nullable(form[name].annotation) for form in named if name in form),
            always=all(name in form and form[name].is_required() for form in named),
        )
        for name in dict.fromkeys(name for form in named for name in form)
    }


def _types(annotation: Any) -> Iterator[Any]:
    return (each for each in leaves(annotation) if getattr(each, "__name__", "") != "Unset")


def _nullable(annotation: Any) -> bool:
    return annotation in (None, type(None), Any) or any(map(_nullable, _choices(annotation)))


def _choices(annotation: Any) -> tuple[Any, ...]:
    origin, found = typing.get_origin(annotation), typing.get_args(annotation)
    if origin is typing.Annotated:
        return found[:1]
    return found if origin in (typing.Union, types.UnionType) else ()
