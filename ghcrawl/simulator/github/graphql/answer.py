"""One query answered: read, checked against the schema, priced, run, and said with GitHub's words for errors."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from hashlib import blake2b
from typing import Any, Final

from graphql import DocumentNode, GraphQLError, execute, parse, validate
from msgspec import Struct

from ghcrawl.simulator.answers import Answer
from ghcrawl.simulator.github.behaviour import Graphql
from ghcrawl.simulator.github.graphql.cost import Cost, cost_of
from ghcrawl.simulator.github.graphql.nodes import Nodes
from ghcrawl.simulator.github.graphql.schema import SCHEMA
from ghcrawl.simulator.github.limits import Budget
from ghcrawl.simulator.github.moments import at
from ghcrawl.simulator.github.refusals import broken, refused
from ghcrawl.values.frozen import replace

_UNKNOWN_FIELD: Final = re.compile(r"Cannot query field '(\w+)' on type '(\w+)'")
TOO_SLOW: Final = (
    "Something went wrong while executing your query. This may be the result of a timeout, or it could be a GitHub "
    "bug. Please include `FFFF:1` when reporting this issue."
)
NO_EMAIL: Final = (
    "Your token has not been granted the required scopes to execute this query. The 'email' field requires one of the "
    "following scopes: ['user:email', 'read:user'], but your token has only been granted the: [''] scopes. Please "
    "modify your token's scopes at: https://github.com/settings/tokens."
)


class Asked(Struct, frozen=True, kw_only=True):
    """A query as it came. name: digest of query and variables. refusal: what is answered at once."""

    document: DocumentNode | None = None
    variables: Mapping[str, Any] | None = None
    cost: Cost | None = None
    refusal: Answer | None = None
    name: str = ""

    @property
    def points(self) -> int:
        """What is charged for it."""
        return self.cost.points if self.cost is not None else 1


def read(raw: bytes, manners: Graphql) -> Asked:
    """The query in the body of a call."""
    return replace(_read(raw, manners), name=blake2b(raw, digest_size=6).hexdigest())


def _read(raw: bytes, manners: Graphql) -> Asked:
    try:
        body = json.loads(raw)
        source, variables = str(body["query"]), body.get("variables") or {}
        document = parse(source)
    except GraphQLError as error:
        return Asked(refusal=_errors([dict(error.formatted)]))
    except (ValueError, KeyError, TypeError):
        return Asked(refusal=refused(400, "Problems parsing JSON"))
    if wrong := validate(SCHEMA, document):
        return Asked(refusal=_errors([_invalid(error) for error in wrong]))
    cost = cost_of(document, variables)
    if cost.errors:
        return Asked(refusal=_errors([{"type": type, "message": message} for type, message in cost.errors]), cost=cost)
    return Asked(document=document, variables=variables, cost=cost, refusal=_not_for(body, variables, manners))


def _not_for(body: Mapping[str, Any], variables: Mapping[str, Any], manners: Graphql) -> Answer | None:
    if not manners.email_scope and "email" in body["query"] and variables.get("email") is not False:
        return _errors([{"type": "INSUFFICIENT_SCOPES", "locations": [], "message": NO_EMAIL}])
    ids = variables.get("ids") or ()
    if manners.too_slow_above is not None and len(ids) > manners.too_slow_above:
        if manners.slow_as_200:
            return Answer(status=200, body={"data": None, "errors": [{"message": TOO_SLOW}]})
        return broken(502)
    return None


def limited(who: str) -> Answer:
    """The points of this window are used up: said with status 200."""
    return _errors([{"type": "RATE_LIMITED", "message": f"API rate limit exceeded for {who}."}])


def answer(asked: Asked, nodes: Nodes, budget: Budget, manners: Graphql) -> Answer:
    """The data, with an error for each node that cannot be shown."""
    assert asked.document is not None
    root = _Root(nodes, budget, asked, heavy_above=manners.resources_above)
    result = execute(SCHEMA, asked.document, root_value=root, variable_values=dict(asked.variables or {}))
    assert not hasattr(result, "__await__")
    body: dict[str, Any] = {"data": result.data}
    if errors := [_failed(error) for error in result.errors or ()]:
        body["errors"] = errors
    return Answer(status=200, body=body)


class _Root:
    """The resolvers of `Query`."""

    def __init__(self, nodes: Nodes, budget: Budget, asked: Asked, *, heavy_above: int | None) -> None:
        self._nodes = nodes
        self._budget = budget
        self._asked = asked
        self._heavy_above = heavy_above

    def nodes(self, _info: Any, ids: Sequence[str]) -> Sequence[Any]:
        return [self._one(each, place) for place, each in enumerate(ids)]

    def _one(self, global_id: str, place: int) -> Any:
        if self._heavy_above is not None and place >= self._heavy_above:
            words = "Resource limits for this query exceeded."
            return GraphQLError(words, extensions={"type": "RESOURCE_LIMITS_EXCEEDED"})
        try:
            return self._nodes.node(global_id)
        except GraphQLError as error:
            return error  # one element that cannot be shown leaves the others as they are

    def node(self, _info: Any, id: str) -> Any:
        return self._nodes.node(id)

    def viewer(self, _info: Any) -> Any:
        return self._nodes.viewer_node()

    def rateLimit(self, _info: Any) -> Mapping[str, Any]:  # noqa: N802  # the schema's name
        cost = self._asked.cost
        assert cost is not None
        return {
            "cost": cost.points,
            "limit": self._budget.limit,
            "nodeCount": cost.nodes,
            "remaining": self._budget.remaining,
            "resetAt": at(self._budget.resets_at),
            "used": self._budget.used,
        }


def _errors(errors: list[dict[str, Any]]) -> Answer:
    return Answer(status=200, body={"errors": errors})


def _invalid(error: GraphQLError) -> dict[str, Any]:
    found = _UNKNOWN_FIELD.match(error.message)
    if found is None:
        return dict(error.formatted)
    return {
        **error.formatted,
        "path": ["query"],
        "extensions": {"code": "undefinedField", "typeName": found[2], "fieldName": found[1]},
        "message": f"Field '{found[1]}' doesn't exist on type '{found[2]}'",
    }


def _failed(error: GraphQLError) -> dict[str, Any]:
    shown: dict[str, Any] = {**error.formatted}
    said = {**shown.pop("extensions", {})}
    if type := said.pop("type", ""):
        shown["type"] = type
    return shown | ({"extensions": said} if said else {})
