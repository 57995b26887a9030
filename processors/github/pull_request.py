"""Pull requests, their reviews and review comments."""

from __future__ import annotations

from typing import Final

from ghcrawl.values.documents import Origin
from ghcrawl.values.jsontext import JsonObject
from processors.fields import at, number, text
from processors.github.document_graph import Node
from processors.github.entity import Entity
from processors.github.issue import below, tagged
from processors.github.names import repo_of, required


def pull_request_urn(body: JsonObject, qualifier: str) -> str:
    """By number; the repository is the one it was found in, or the one it asks to be merged into."""
    repo = number(at(body, "base", "repo", "id"))
    above = f"urn:repo:{repo}" if repo is not None and not qualifier else repo_of(qualifier)
    return f"{above}:pull_request:{required(number(body.get('number')), 'number')}"


def describe_pull_request(node: Node) -> None:
    """A pull request leads to people; head and base are linked, since a fork belongs to another owner."""
    body = node.body
    tagged(node)
    node.link("issue", f"{node.repo}:issue:{body['number']}")
    node.link("issue_comments", f"{node.repo}:issue:{body['number']}:issue_comments", type="collection")
    node.link("pull_request_commits", f"{node.urn}:commits", type="collection")
    for side in ("head", "base"):
        repo = number(at(body, side, "repo", "id"))
        if repo is not None:
            node.link(side, f"urn:repo:{repo}")


def review_urn(body: JsonObject, qualifier: str) -> str:
    """`urn:repo:12:pull_request:34:review:7`."""
    pull_request = below("pull_request", body.get("pull_request_url"), qualifier)
    return f"{pull_request}:review:{required(number(body.get('id')), 'id')}"


def review_as_rest(body: JsonObject, _origin: Origin) -> JsonObject:
    """Webhooks and events write `approved` for what REST calls `APPROVED`."""
    state = text(body.get("state"))
    return body if state == state.upper() else {**body, "state": state.upper()}


def review_url(body: JsonObject, base: str) -> str:
    """Reviews do not say where they live."""
    return f"{text(body.get('pull_request_url')) or base}/reviews/{body.get('id')}"


def review_comment_urn(body: JsonObject, qualifier: str) -> str:
    """`urn:repo:12:pull_request:34:review_comment:8`. Answers of 2012 name the pull request only among the links."""
    linked = at(body, "_links", "pull_request", "href")
    pull_request = below("pull_request", body.get("pull_request_url") or linked, qualifier)
    return f"{pull_request}:review_comment:{required(number(body.get('id')), 'id')}"


def describe_review_comment(node: Node) -> None:
    """A review comment leads to who wrote it, its review and its commit."""
    pull_request = node.urn.rpartition(":review_comment:")[0]
    review = number(node.body.get("pull_request_review_id"))
    if review is not None:
        node.link("review", f"{pull_request}:review:{review}")
    node.link_in_repo("commit", text(node.body.get("commit_id")))


LISTS_LEAVE_OUT: Final = (
    "merged",
    "mergeable",
    "rebaseable",
    "mergeable_state",
    "merged_by",
    "comments",
    "review_comments",
    "maintainer_can_modify",
    "commits",
    "additions",
    "deletions",
    "changed_files",
)
# fmt: off
PULL_REQUEST = Entity("pull_request", "/repos/{owner}/{repo}/pulls/{pull_number}", pull_request_urn, was="pull_request",
    describe=describe_pull_request, parent="repo", version=2, lacks=dict.fromkeys(("list", "event"), LISTS_LEAVE_OUT),
    people=("user", "merged_by", "assignee", "assignees", "requested_reviewers"))
REVIEW = Entity("review", "/repos/{owner}/{repo}/pulls/{pull_number}/reviews/{review_id}", review_urn, was="review",
    url=review_url, as_rest=review_as_rest, parent="pull_request", changed=("submitted_at",), people=("user",))
REVIEW_COMMENT = Entity("review_comment", "/repos/{owner}/{repo}/pulls/comments/{comment_id}", review_comment_urn,
    was="review_comment", describe=describe_review_comment, parent="pull_request", people=("user",))
# fmt: on

ENTITIES: Final = (PULL_REQUEST, REVIEW, REVIEW_COMMENT)
