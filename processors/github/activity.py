"""Issue events, reactions and discussions."""

from __future__ import annotations

from typing import Final

from ghcrawl.values.jsontext import JsonObject
from processors.fields import at, count, mapping, number, text
from processors.github.document_graph import Node
from processors.github.entity import Entity
from processors.github.issue import below
from processors.github.names import repo_url, required
from processors.github.repo import in_repo


def issue_event_urn(body: JsonObject, qualifier: str) -> str:
    """`urn:repo:12:issue:34:issue_event:99`: an event embeds its issue, or was found on it."""
    issue = below("issue", at(body, "issue", "url"), qualifier)
    return f"{issue}:issue_event:{required(number(body.get('id')), 'id')}"


def describe_issue_event(node: Node) -> None:
    """An event leads to who did it; whom and what it names is linked."""
    body = node.body
    if _lies_here(body):
        node.link_in_repo("commit", text(body.get("commit_id")))
    node.link_in_repo("label", number(at(body, "label", "id")))


def _lies_here(body: JsonObject) -> bool:
    """Whether the commit that an event names lies in the event's repository; a fork's or a stranger's may be named."""
    named, own = repo_url(text(body.get("commit_url"))), repo_url(text(body.get("url")))
    return not named or not own or named.lower() == own.lower()


def reaction_urn(body: JsonObject, qualifier: str) -> str:
    """`urn:repo:12:issue:34:reaction:5`: a reaction names nothing but who and what, so its list tells on what."""
    return f"{required(qualifier, 'thing that it is on')}:reaction:{required(number(body.get('id')), 'id')}"


def reaction_url(body: JsonObject, base: str) -> str:
    """Where it could be deleted; it cannot be read alone."""
    return f"{base}/reactions/{body.get('id')}"


def has_reactions(body: JsonObject) -> bool:
    """Whether it has any, by its rollup of counters."""
    rollup = mapping(body.get("reactions"))
    return bool(rollup) and count(rollup.get("total_count")) > 0


# fmt: off
ISSUE_EVENT = Entity("issue_event", "/repos/{owner}/{repo}/issues/events/{event_id}", issue_event_urn,
    describe=describe_issue_event, parent="issue", changed=("created_at",), lacks={"list": ("issue",)},
    people=("actor", "assignee", "requested_reviewer"))
REACTION = Entity("reaction", "", reaction_urn, url=reaction_url, parent="on", changed=("created_at",),
    people=("user",))
DISCUSSION = Entity("discussion", "/repos/{owner}/{repo}/discussions/{discussion_number}",
    in_repo("discussion", "number"), url=lambda body, base: f"{base}/discussions/{body.get('number')}",
    parent="repo", has_url=False, people=("user",))
# fmt: on

ENTITIES: Final = (ISSUE_EVENT, REACTION, DISCUSSION)
