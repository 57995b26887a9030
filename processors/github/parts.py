"""The parts that there are: all of them are a repository's."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Final

from ghcrawl.values.jsontext import Json, JsonObject
from processors.fields import mapping
from processors.github.condition import HAS_FILES, MAY_PUSH, Condition
from processors.github.part import Part, arrays, counts, has, objects


def _topics(repo: JsonObject) -> JsonObject | None:
    names = repo.get("topics")
    return {"names": names} if isinstance(names, list) else None


def _languages(body: Json) -> bool:
    return isinstance(body, Mapping) and counts(body.values())


def _traffic(type: str, path: str, is_one: Callable[[Json], bool]) -> Part:
    return Part(type, f"/traffic/{path}", is_one, when=MAY_PUSH, daily=True, was=f"{type} traffic")


_FILE: Final = has("content", "sha")
_HAS_LICENSE: Final = Condition("`license`", lambda repo: bool(mapping(repo.get("license"))))
_PUBLIC_SOURCE: Final = Condition(
    "it is public and no fork", lambda repo: repo.get("private") is False and repo.get("fork") is False
)
PARTS: Final[tuple[Part, ...]] = (
    Part("topics", "/topics", has("names"), embedded=_topics, settled=True),
    Part("languages", "/languages", _languages, when=HAS_FILES, settled=True),
    Part("license", "/license", _FILE, when=_HAS_LICENSE, settled=True),
    Part("readme", "/readme", _FILE, when=HAS_FILES, settled=True),
    Part(
        "codeowners",
        "/contents/.github/CODEOWNERS",
        _FILE,
        elsewhere=("/contents/CODEOWNERS", "/contents/docs/CODEOWNERS"),
        when=HAS_FILES,
        settled=True,
    ),
    Part(
        "community_profile", "/community/profile", has("health_percentage", "files"), when=_PUBLIC_SOURCE, settled=True
    ),
    Part("sbom", "/dependency-graph/sbom", has("sbom"), when=HAS_FILES, settled=True),
    _traffic("views", "views", has("count", "uniques")),
    _traffic("clones", "clones", has("count", "uniques")),
    _traffic("paths", "popular/paths", objects),
    _traffic("referrers", "popular/referrers", objects),
    Part("contributor_statistics", "/stats/contributors", objects, computed=True, when=HAS_FILES, settled=True),
    Part("commit_activity", "/stats/commit_activity", objects, computed=True, when=HAS_FILES, settled=True),
    Part(
        "code_frequency",
        "/stats/code_frequency",
        arrays,
        computed=True,
        when=HAS_FILES,
        settled=True,
        limited="10,000 commits or more",
    ),
    Part("participation", "/stats/participation", has("all"), computed=True, when=HAS_FILES, settled=True),
    Part("punch_card", "/stats/punch_card", arrays, computed=True, when=HAS_FILES, settled=True),
)
