"""The parts that there are: all of them are a repository's."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Final

from ghcrawl.values.jsontext import Json, JsonObject
from processors.github.graph import mapping
from processors.github.part import Part, arrays, counts, has, objects


def empty(repo: JsonObject) -> bool:
    """Nothing was pushed yet; a push would have changed the repository."""
    return repo.get("size") == 0


def may(right: str) -> Callable[[JsonObject], bool]:
    """Whether the token that asked has that right in the repository; where nothing is said of rights, it has none."""
    return lambda repo: mapping(repo.get("permissions")).get(right) is True


def _has_files(repo: JsonObject) -> bool:
    return not empty(repo)


def _public_source(repo: JsonObject) -> bool:
    return repo.get("private") is False and repo.get("fork") is False


def _topics(repo: JsonObject) -> JsonObject | None:
    names = repo.get("topics")
    return {"names": names} if isinstance(names, list) else None


def _languages(body: Json) -> bool:
    return isinstance(body, Mapping) and counts(body.values())


_PUSHES: Final = may("push")


def _traffic(type: str, path: str, is_one: Callable[[Json], bool]) -> Part:
    return Part(
        type=type,
        of="repo",
        is_one=is_one,
        path=f"/traffic/{path}",
        when=_PUSHES,
        only_if="the token may push",
        daily=True,
        was=f"{type} traffic",
    )


PARTS: Final[tuple[Part, ...]] = (
    Part(
        type="topics",
        of="repo",
        is_one=has("names"),
        path="/topics",
        embedded=_topics,
        settled=True,
    ),
    Part(
        type="languages",
        of="repo",
        is_one=_languages,
        path="/languages",
        when=_has_files,
        only_if="`size` > 0",
        settled=True,
    ),
    Part(
        type="license",
        of="repo",
        is_one=has("content", "sha"),
        path="/license",
        when=lambda repo: bool(mapping(repo.get("license"))),
        only_if="`license`",
        settled=True,
    ),
    Part(
        type="readme",
        of="repo",
        is_one=has("content", "sha"),
        path="/readme",
        when=_has_files,
        only_if="`size` > 0",
        settled=True,
    ),
    Part(
        type="codeowners",
        of="repo",
        is_one=has("content", "sha"),
        path="/contents/.github/CODEOWNERS",
        elsewhere=("/contents/CODEOWNERS", "/contents/docs/CODEOWNERS"),
        when=_has_files,
        only_if="`size` > 0",
        settled=True,
    ),
    Part(
        type="community_profile",
        of="repo",
        is_one=has("health_percentage", "files"),
        path="/community/profile",
        when=_public_source,
        only_if="it is public and no fork",
        settled=True,
    ),
    Part(
        type="sbom",
        of="repo",
        is_one=has("sbom"),
        path="/dependency-graph/sbom",
        when=_has_files,
        only_if="`size` > 0",
        settled=True,
    ),
    _traffic("views", "views", has("count", "uniques")),
    _traffic("clones", "clones", has("count", "uniques")),
    _traffic("paths", "popular/paths", objects),
    _traffic("referrers", "popular/referrers", objects),
    Part(
        type="contributor_statistics",
        of="repo",
        is_one=objects,
        path="/stats/contributors",
        computed=True,
        when=_has_files,
        only_if="`size` > 0",
        settled=True,
    ),
    Part(
        type="commit_activity",
        of="repo",
        is_one=objects,
        path="/stats/commit_activity",
        computed=True,
        when=_has_files,
        only_if="`size` > 0",
        settled=True,
    ),
    Part(
        type="code_frequency",
        of="repo",
        is_one=arrays,
        path="/stats/code_frequency",
        computed=True,
        when=_has_files,
        only_if="`size` > 0",
        settled=True,
        limited="10,000 commits or more",
    ),
    Part(
        type="participation",
        of="repo",
        is_one=has("all"),
        path="/stats/participation",
        computed=True,
        when=_has_files,
        only_if="`size` > 0",
        settled=True,
    ),
    Part(
        type="punch_card",
        of="repo",
        is_one=arrays,
        path="/stats/punch_card",
        computed=True,
        when=_has_files,
        only_if="`size` > 0",
        settled=True,
    ),
)
