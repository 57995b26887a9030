"""Gists, packages and memberships of accounts."""

from __future__ import annotations

from typing import Final

from ghcrawl.values.jsontext import JsonObject
from processors.fields import at, number, text
from processors.github.condition import Condition
from processors.github.document_graph import Node
from processors.github.entity import Entity
from processors.github.listing import Listing
from processors.github.names import owner_kind, required


def gist_urn(body: JsonObject, _qualifier: str) -> str:
    """`urn:gist:aa5a315d61ae`: its id is a word, and anonymous gists have no owner."""
    return f"urn:gist:{required(text(body.get('id')), 'id')}"


def describe_gist(node: Node) -> None:
    """Link the owner. `people` would add owners to the visitor maps of scenarios that leave gists out."""
    node.account("owner", node.body.get("owner"))


def package_urn(body: JsonObject, qualifier: str) -> str:
    """`urn:org:9:package:7`."""
    owner = required(qualifier if owner_kind(qualifier) in ("org", "user") else "", "owner")
    return f"{owner}:package:{required(number(body.get('id')), 'id')}"


def membership_urn(body: JsonObject, _qualifier: str) -> str:
    """`urn:org:9:membership:5`: by organisation and user."""
    org, user = (number(at(body, name, "id")) for name in ("organization", "user"))
    return f"urn:org:{required(org, 'organization')}:membership:{required(user, 'user')}"


HAS_GISTS: Final = Condition("`public_gists` > 0", lambda user: (number(user.get("public_gists")) or 0) > 0)
"""Where there is no such counter, nothing was said."""
# fmt: off
GIST = Entity("gist", "/gists/{gist_hash}", gist_urn, lacks={"list": ("history",)}, describe=describe_gist,
    lists=(Listing("user", "gists", "gist", "/gists", complete=True, dated=True, newest_first=True, when=HAS_GISTS),))
PACKAGE = Entity("package", "/orgs/{org}/packages/{package_type}/{package_name}", package_urn,
    also=("/users/{username}/packages/{package_type}/{package_name}",), parent="owner",
    lists=tuple(
        Listing(owner, "packages", "package", "/packages", query="package_type=container", complete=True)
        for owner in ("org", "user")
    ))
MEMBERSHIP = Entity("membership", "/orgs/{org}/memberships/{username}", membership_urn, parent="org", changed=(),
    people=("user",))
# fmt: on

ENTITIES: Final = (GIST, PACKAGE, MEMBERSHIP)
