"""Base URLs of the simulator, as in its bodies."""

from __future__ import annotations

from base64 import urlsafe_b64encode
from collections import Counter
from collections.abc import Mapping
from functools import lru_cache
from typing import Any, TypeAlias
from urllib.parse import quote

from msgspec import Struct

from ghcrawl.simulator.github.entities import Repo
from ghcrawl.simulator.github.moments import Dated

Body: TypeAlias = dict[str, Any]


class Site(Struct, frozen=True):
    """The base of every URL, with no slash at its end. As on an Enterprise server, pages live on the same host."""

    base: str

    def repo(self, repo: Repo) -> str:
        """The API URL of `repo`, by its name."""
        return f"{self.base}/repos/{repo.owner.login}/{repo.name}"

    def page(self, repo: Repo) -> str:
        """The page of `repo`."""
        return f"{self.base}/{repo.owner.login}/{repo.name}"


@lru_cache(maxsize=16_384)
def quoted(name: str) -> str:
    """A name as one segment of a path."""
    return quote(name, safe="!$&'()*+,;=:@-._~")


@lru_cache(maxsize=16_384)
def quoted_ref(name: str) -> str:
    """A branch or tag as a path: GitHub leaves its slashes as they are."""
    return quote(name, safe="!$&'()*+,;=:@-._~/")


@lru_cache(maxsize=65_536)
def node_id(prefix: str, *numbers: int) -> str:
    """A global id: opaque, distinct for every thing, and not a number."""
    raw = b"".join(number.to_bytes(8, "big") for number in numbers)
    return f"{prefix}_kwDO{urlsafe_b64encode(raw).decode().rstrip('=')}"


def ids(prefix: str, *numbers: int) -> Body:
    """The id of a thing, which is the last of `numbers`, and its global id."""
    return {"id": numbers[-1], "node_id": node_id(prefix, *numbers)}


def dated(thing: Dated) -> Body:
    """When it was made, and when it was last changed."""
    return {"created_at": thing.created_at, "updated_at": thing.updated_at}


def url_names(*paths: str) -> dict[str, str]:
    """Paths and templates by the names of their URLs: `/members{/member}` is `members_url`."""
    return {f"{path.partition('{')[0].strip('/')}_url": path for path in paths}


REACTIONS = ("+1", "-1", "laugh", "hooray", "confused", "heart", "rocket", "eyes")


def reactions(url: str, repo: Repo, thing: object) -> Body:
    """A rollup of the reactions to `thing`."""
    contents = Counter(reaction.content for reaction in repo.records.reactions.get(thing, ()))
    return {"url": f"{url}/reactions", "total_count": contents.total(), **{each: contents[each] for each in REACTIONS}}


VERSIONS = ("2022-11-28", "2026-03-10")
"""The API versions there are; the first is what one gets without asking."""

_REMOVED = frozenset(
    {"assignee", "merge_commit_sha", "has_downloads", "master_branch", "use_squash_pr_title_as_default", "rate"}
)


def in_version(body: Any, version: str) -> Any:
    """`body` as that API version writes it: the newer one has dropped some fields wherever they stood."""
    if version == VERSIONS[0]:
        return body
    if isinstance(body, Mapping):
        return {key: in_version(value, version) for key, value in body.items() if key not in _REMOVED}
    if isinstance(body, list):
        return [in_version(item, version) for item in body]
    return body
