"""Organisations, users and teams."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from ghcrawl.values.frozen import replace
from ghcrawl.values.jsontext import JsonObject
from ghcrawl.values.outcome import Skip, Visit
from ghcrawl.values.policy import parse
from ghcrawl.values.requests import Payload, Push
from processors.fields import mapping, number, text
from processors.github.document_graph import Node
from processors.github.entity import Entity
from processors.github.names import here, org_url, required
from processors.github.webhook import POLICY


def account_urn(kind: str) -> Callable[[JsonObject, str], str]:
    """How accounts are named: `urn:org:9`, `urn:user:5`. They share one number space; ids outlive names."""
    return lambda body, _qualifier: f"urn:{kind}:{required(number(body.get('id')), 'id')}"


def describe_org(node: Node) -> None:
    """An organisation leads to nothing but its lists; it is an account like a user's, and one document."""
    node.scope = text(node.body.get("login")) or node.scope
    node.link("user", node.urn)


def an_organization(visit: Visit) -> Skip | None:
    """For `Entity.moved`: what `/users/NAME` says of an organisation is part of what its own URL says.

    It is kept, and the rest is asked for.
    """
    request, body = visit.request, visit.fetched.body
    url = org_url(text(body.get("url")))
    if body.get("type") != "Organization" or not url or visit.fetched.origin != "fetch":
        return None
    policy = parse(request.policy)
    onward = policy if policy.map == "self" else replace(policy, map="", path=())
    context = replace(request.context, scope=text(body.get("login")) or request.context.scope)
    asked = request.child("org", here(request.url, url), onward.spec, context)
    fetched = visit.fetched
    payload = Payload.of(body, origin="list", observed_at=fetched.observed_at, received_at=fetched.checked_at)
    told = replace(asked, policy=f"{POLICY}:self", context=replace(context, then=()), payload=payload)
    return Skip(
        reason="moved", detail=url, follow_ups=(Push(request=told, queue="event"), Push(request=asked, queue="normal"))
    )


def describe_user(node: Node) -> None:
    """A user leads to nothing but their repositories."""
    node.scope = text(node.body.get("login")) or node.scope


def describe_team(node: Node) -> None:
    """A team leads to its organisation, its parent team and its lists."""
    organization = mapping(node.body.get("organization"))
    identity, url = number(organization.get("id")), text(organization.get("url"))
    if identity is not None:
        node.scope = text(organization.get("login")) or node.scope
        node.resource("organization", "org", org_url(url), f"urn:org:{identity}", scope=node.scope)
        node.link("siblings", f"urn:org:{identity}:teams:pages", type="relation")
    parent = mapping(node.body.get("parent"))
    if number(parent.get("id")) is not None:
        node.link("parent", f"urn:team:{parent['id']}")


_TEAMS_LACK: Final = ("members_count", "repos_count", "created_at", "updated_at", "organization")
# fmt: off
ORG = Entity("org", "/orgs/{org}", account_urn("org"), was="org", describe=describe_org,
    lacks={"own": ("plan",), "list": ("name", "has_organization_projects"), "batch": ("plan",)}, version=2)
USER = Entity("user", "/users/{username}", account_urn("user"), was="user",
    describe=describe_user, moved=an_organization,
    lacks={"own": ("plan",), "list": ("name", "created_at")})  # batches leave one's own profile to REST
TEAM = Entity("team", "/orgs/{org}/teams/{team_slug}", account_urn("team"), was="team", describe=describe_team,
    lacks=dict.fromkeys(("list", "webhook"), _TEAMS_LACK))
# fmt: on

ENTITIES: Final = (ORG, USER, TEAM)
