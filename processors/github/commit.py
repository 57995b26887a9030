"""Commits and comments on them."""

from __future__ import annotations

from typing import Final

from ghcrawl.values.frozen import replace
from ghcrawl.values.jsontext import JsonObject
from ghcrawl.values.requests import Pagination
from processors.fields import at, count, mappings, number, text
from processors.github.document_graph import Node
from processors.github.entity import Entity
from processors.github.names import repo_of, required


def commit_urn(body: JsonObject, qualifier: str) -> str:
    """`urn:repo:12:commit:<sha>`."""
    return f"{repo_of(qualifier)}:commit:{required(text(body.get('sha')), 'sha')}"


def describe_commit(node: Node) -> None:
    """A commit leads to the accounts behind it; its parents are linked, for the list has them."""
    parents = (text(parent.get("sha")) for parent in mappings(node.body.get("parents")))
    node.hrefs_in_repo("parents", parents, "commit")
    _more_files(node)


def _more_files(node: Node) -> None:
    """Of many files its own answer holds the first, and says where the others are: pages of a relation."""
    fetched, policy = node.visit.fetched, node.visit.next_hops.pages("files")
    url = fetched.link.get("next")
    if not url or "files" not in node.body:
        return
    node.link("files", f"{node.urn}:files:pages", type="relation")
    if policy is not None and fetched.origin == "fetch":
        pagination = Pagination(page=2, first=node.url, started_at=fetched.observed_at)
        context = replace(node.context(qualifier=node.urn), pagination=pagination)
        node.follow("commit_files", url, policy, context, queue="soon")


def has_comments(body: JsonObject) -> bool:
    """By the counter in the git part, the only one there is."""
    return count(at(body, "commit", "comment_count")) > 0


def commit_comment_urn(body: JsonObject, qualifier: str) -> str:
    """`urn:repo:12:commit:<sha>:commit_comment:9`."""
    sha = required(text(body.get("commit_id")), "commit_id")
    return f"{repo_of(qualifier)}:commit:{sha}:commit_comment:{required(number(body.get('id')), 'id')}"


# fmt: off
COMMIT = Entity("commit", "/repos/{owner}/{repo}/commits/{ref}", commit_urn, was="commit pull_request_commit",
    describe=describe_commit, parent="repo", changed=(), immutable=True, people=("author", "committer"),
    lacks=dict.fromkeys(("list", "webhook", "event", "batch"), ("files", "stats")))
COMMIT_COMMENT = Entity("commit_comment", "/repos/{owner}/{repo}/comments/{comment_id}", commit_comment_urn,
    was="commit_comment pull_request_commit_comment", parent="commit", people=("user",))
# fmt: on

ENTITIES: Final = (COMMIT, COMMIT_COMMENT)
