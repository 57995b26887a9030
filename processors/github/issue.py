"""Issues and their comments."""

from __future__ import annotations

import re
from typing import Final

from ghcrawl.values.documents import Origin
from ghcrawl.values.frozen import replace
from ghcrawl.values.jsontext import Json, JsonObject
from ghcrawl.values.outcome import Skip, Visit
from ghcrawl.values.requests import Context, Payload, Push
from ghcrawl.values.times import dated
from processors.fields import at, mappings, number, text
from processors.github.document_graph import Node
from processors.github.entity import Entity
from processors.github.names import last_number, owner_kind, repo_of, required, scope_of

_NUMERIC: Final = re.compile(r".*?/repositories/(?P<repo>\d+)/issues/\d+")
"""Where GitHub leads from the old URL of an issue that was transferred: a number outlives names."""


def issue_urn(body: JsonObject, qualifier: str) -> str:
    """By number, not id: everything that points at an issue gives its number."""
    return f"{repo_of(qualifier)}:issue:{required(number(body.get('number')), 'number')}"


def transferred(visit: Visit) -> Skip | None:
    """For `Entity.moved`: in its old repository the issue is gone, in its new one it is what GitHub just said."""
    request, fetched = visit.request, visit.fetched
    found, above = _NUMERIC.fullmatch(fetched.url), request.context.qualifier
    if found is None or fetched.origin != "fetch" or repo_of(above) == f"urn:repo:{found['repo']}":
        return None
    old = f"{repo_of(above)}:issue:{required(last_number(request.url), 'number')}"
    gone = replace(request.context, urn=old, deleted_at=fetched.observed_at)
    url = text(fetched.body.get("url")) or fetched.url
    there = Context(qualifier=f"urn:repo:{found['repo']}", scope=scope_of(url) or "", private=request.context.private)
    payload = Payload.of(fetched.body, origin="fetch", observed_at=fetched.observed_at, received_at=fetched.checked_at)
    requests = (
        request.child(request.type, request.url, request.policy, gone),
        request.child(request.type, url, request.policy, there, payload),
    )
    return Skip(
        reason="moved", detail=fetched.url, follow_ups=tuple(Push(request=one, queue="event") for one in requests)
    )


def issue_as_rest(body: JsonObject, origin: Origin) -> JsonObject:
    """Webhooks and events leave `closed_by` out for an open issue: the person who closed it before is removed."""
    told = origin in ("webhook", "event") and body.get("state") == "open"
    return {"closed_by": None, **body} if told else body


def describe_issue(node: Node) -> None:
    """An issue leads to people, and to the pull request that it also is."""
    body = node.body
    tagged(node)
    pull_request = text(at(body, "pull_request", "url"))
    if pull_request:
        urn, changed_at = f"{node.repo}:pull_request:{body['number']}", dated(text(body.get("updated_at")))
        node.resource("pull_request", "pull_request", pull_request, urn, changed_at=changed_at)


def tagged(node: Node) -> None:
    """The labels and milestone that an issue or pull request carries: linked, since the repository lists them."""
    labels = (number(label.get("id")) for label in mappings(node.body.get("labels")))
    node.hrefs_in_repo("labels", labels, "label")
    node.link_in_repo("milestone", number(at(node.body, "milestone", "number")))


def below(kind: str, url: Json, qualifier: str) -> str:
    """URN of the issue or pull request that something is on: by the URL it gives, or by the list it came from."""
    found = last_number(url)
    if found is None and owner_kind(qualifier) == kind:
        return qualifier
    return f"{repo_of(qualifier)}:{kind}:{required(found, f'URL of its {kind}')}"


def comment_urn(body: JsonObject, qualifier: str) -> str:
    """`urn:repo:12:issue:34:issue_comment:56`."""
    issue = below("issue", body.get("issue_url"), qualifier)
    return f"{issue}:issue_comment:{required(number(body.get('id')), 'id')}"


# fmt: off
ISSUE = Entity("issue", "/repos/{owner}/{repo}/issues/{issue_number}", issue_urn, was="issue", describe=describe_issue,
    parent="repo", moved=transferred, as_rest=issue_as_rest, people=("user", "assignee", "assignees", "closed_by"),
    lacks=dict.fromkeys(("list", "webhook", "event", "batch"), ("closed_by",)))
ISSUE_COMMENT = Entity("issue_comment", "/repos/{owner}/{repo}/issues/comments/{comment_id}", comment_urn,
    was="issue_comment", parent="issue", people=("user",))
# fmt: on

ENTITIES: Final = (ISSUE, ISSUE_COMMENT)
