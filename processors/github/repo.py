"""Repositories, and what lies in them that needs no more than its own fields: labels, milestones, releases, refs."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final
from urllib.parse import quote

from ghcrawl.values.documents import Document
from ghcrawl.values.errors import Malformed
from ghcrawl.values.jsontext import JsonObject
from processors.fields import at, mapping, mappings, number, text
from processors.github.condition import HAS_FILES
from processors.github.document_graph import Node
from processors.github.entity import Entity
from processors.github.listing import Listing
from processors.github.names import repo_of, required


def describe_repo(node: Node) -> None:
    """A repository leads to its owner and its lists, and to everything that was requested of it."""
    node.scope = text(node.body.get("full_name")) or node.scope
    node.private = node.private or node.body.get("private") is True
    node.account("owner", node.body.get("owner"))
    node.account("organization", _as_organization(node.body.get("organization")))
    owner = mapping(node.body.get("owner"))
    if number(owner.get("id")) is not None:
        kind = "org" if owner.get("type") == "Organization" else "user"
        node.link("siblings", f"urn:{kind}:{owner['id']}:repos", type="collection")
    node.link("pull_requests", f"{node.urn}:pull_requests", type="collection")
    node.link("events", f"{node.urn}:events", type="collection")
    for name in ("parent", "source", "template_repository"):
        other = number(at(node.body, name, "id"))
        if other is not None:
            node.link(name, f"urn:repo:{other}")


def is_private(document: Document) -> bool:
    """For `Thing.private`: drafts of releases are shown to people with push access; those of pull requests, to all."""
    body = mapping(document.body)
    return body.get("private") is True or (document.type == "release" and body.get("draft") is True)


def _as_organization(value: object) -> JsonObject:
    """The embedded organisation; older answers leave out its `type`."""
    organization = mapping(value)
    return {**organization, "type": "Organization"} if organization else organization


def in_repo(type: str, field: str) -> Callable[[JsonObject, str], str]:
    """How something that a repository holds is named by one of its fields: `urn:repo:12:label:208`."""
    read = text if field == "name" else number
    return lambda body, qualifier: f"{repo_of(qualifier)}:{type}:{required(read(body.get(field)), field)}"


def label_urn(body: JsonObject, qualifier: str) -> str:
    """By id, since labels are renamed; by name where an old server gives none."""
    identity = number(body.get("id"))
    named = (
        required(identity, "id")
        if identity is not None
        else quote(str(required(text(body.get("name")), "id")), safe="")
    )
    return f"{repo_of(qualifier)}:label:{named}"


def describe_release(node: Node) -> None:
    """A release leads to its author; its assets are part of it."""
    assets = (number(asset.get("id")) for asset in mappings(node.body.get("assets")))
    node.hrefs_in_repo("holds", assets, "release_asset")
    node.link_in_repo("tag", text(node.body.get("tag_name")))


def describe_ref(node: Node) -> None:
    """A branch or tag leads to the commit it names. An annotated tag names an object of its own, which names that."""
    named = mapping(node.body.get("object"))
    commit = mapping(node.body.get("commit")) or (named if named.get("type") != "tag" else {})
    node.link_in_repo("commit", text(commit.get("sha")))


def describe_branch(node: Node) -> None:
    """A branch leads to the commit that it names, and to what protects it."""
    describe_ref(node)
    name, url = text(node.body.get("name")), text(node.body.get("protection_url"))
    if node.body.get("protected") is True and url:
        urn = f"{node.repo}:branch_protection:{name}"
        node.resource("protection", "branch_protection", url, urn)


def describe_tag(node: Node) -> None:
    """A tag leads to the commit that it names, or to the object that does, which says who tagged it and why."""
    describe_ref(node)
    named = mapping(node.body.get("object"))
    sha, url = text(named.get("sha")), text(named.get("url"))
    if named.get("type") == "tag" and sha and url:
        node.resource("tag_object", "tag_object", url, f"{node.repo}:tag_object:{sha}")


def tag_object_urn(body: JsonObject, qualifier: str) -> str:
    """`urn:repo:12:tag_object:<sha>`. A ref that names a commit names no such object: Malformed."""
    if body.get("type", "tag") != "tag":
        raise Malformed("the ref names no tag object")
    return f"{repo_of(qualifier)}:tag_object:{required(text(body.get('sha')), 'sha')}"


def tag_object_url(body: JsonObject, _base: str) -> str:
    """The URL that it gives, or the ref that names it; empty for a ref that names a commit."""
    return text(body.get("url")) if body.get("type", "tag") == "tag" else ""


def describe_tag_object(node: Node) -> None:
    """An annotated tag's object names the tag and what was tagged."""
    node.link_in_repo("tag", text(node.body.get("tag")))
    describe_ref(node)


def branch_url(body: JsonObject, base: str) -> str:
    """Branches in lists do not say where they live."""
    return f"{base}/branches/{quote(text(body.get('name')), safe='/')}"


def tag_urn(body: JsonObject, qualifier: str) -> str:
    """By name; what `git/ref` answers calls it `refs/tags/NAME`."""
    name = text(body.get("name")) or text(body.get("ref")).removeprefix("refs/tags/")
    return f"{repo_of(qualifier)}:tag:{required(name, 'name')}"


def tag_url(body: JsonObject, base: str) -> str:
    """Tags in lists do not say where they live."""
    return f"{base}/git/ref/tags/{quote(text(body.get('name')), safe='/')}"


def repo_urn(body: JsonObject, _qualifier: str) -> str:
    """`urn:repo:12`: the number survives renames and transfers."""
    return f"urn:repo:{required(number(body.get('id')), 'id')}"


# fmt: off
REPO = Entity("repo", "/repos/{owner}/{repo}", repo_urn, was="repo", describe=describe_repo, version=2,
    lacks={"own": ("permissions",), **dict.fromkeys(("list", "webhook"), ("network_count", "subscribers_count"))})
LABEL = Entity("label", "/repos/{owner}/{repo}/labels/{name}", label_urn, was="label", parent="repo",
    lists=(Listing("repo", "labels", "label", "/labels", topic="issues", complete=True),))
MILESTONE = Entity("milestone", "/repos/{owner}/{repo}/milestones/{milestone_number}", in_repo("milestone", "number"),
    parent="repo", people=("creator",),
    lists=(
        Listing("repo", "milestones", "milestone", "/milestones", topic="issues", query="state=all", complete=True),
    ))
RELEASE = Entity("release", "/repos/{owner}/{repo}/releases/{release_id}", in_repo("release", "id"),
    also=("/repos/{owner}/{repo}/releases/latest", "/repos/{owner}/{repo}/releases/tags/{tag...}"),
    describe=describe_release, parent="repo", changed=("updated_at", "published_at", "created_at"), people=("author",),
    lists=(Listing("repo", "releases", "release", "/releases", topic="code", complete=True, newest_first=True),))
RELEASE_ASSET = Entity("release_asset", "/repos/{owner}/{repo}/releases/assets/{asset_id}",
    in_repo("release_asset", "id"), parent="repo", people=("uploader",))
BRANCH = Entity("branch", "/repos/{owner}/{repo}/branches/{branch...}", in_repo("branch", "name"),
    describe=describe_branch, url=branch_url, parent="repo", plural="branches",
    lacks={"list": ("_links", "commit.commit")},
    lists=(Listing("repo", "branches", "branch", "/branches", topic="code", complete=True, skip_if_empty=True),))
TAG = Entity("tag", "/repos/{owner}/{repo}/git/ref/tags/{tag...}", tag_urn, describe=describe_tag, url=tag_url,
    lacks={"own": ("name", "commit"), "list": ("ref", "object")}, parent="repo",
    lists=(Listing("repo", "tags", "tag", "/tags", topic="code", complete=True, skip_if_empty=True),))
TAG_OBJECT = Entity("tag_object", "/repos/{owner}/{repo}/git/tags/{sha}", tag_object_urn, url=tag_object_url,
    describe=describe_tag_object, parent="repo", changed=(), immutable=True,
    lists=(
        Listing("repo", "tag_refs", "tag_object", "/git/matching-refs/tags", relation=True, inside="object",
                when=HAS_FILES),
    ))
# fmt: on

ENTITIES: Final = (REPO, LABEL, MILESTONE, RELEASE, BRANCH, TAG, TAG_OBJECT, RELEASE_ASSET)
