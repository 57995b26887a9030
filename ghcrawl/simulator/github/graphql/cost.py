"""What a query costs, by the documented rules: points, nodes, and what is refused before anything is looked up.

Source: GitHub's "Rate limits and query limits for the GraphQL API". Points are the requests that the connections of a
query need, divided by 100 and rounded, at least 1; a connection is one request for each of its parents. That the ids
of `nodes` count as parents is the cautious reading: it is not documented.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Final

from graphql import (
    DirectiveNode,
    DocumentNode,
    FieldNode,
    FragmentDefinitionNode,
    FragmentSpreadNode,
    InlineFragmentNode,
    OperationDefinitionNode,
    SelectionSetNode,
    Undefined,
    value_from_ast_untyped,
)
from msgspec import Struct

MAX_NODES: Final = 500_000
MAX_PAGE: Final = 100
MAX_IDS: Final = 100
CONNECTIONS: Final = frozenset(
    {"comments", "commits", "followers", "following", "gists", "repositories", "reviewThreads", "reviews"}
    | {"commitComments", "deployments", "history", "issues", "pullRequests", "refs", "releases"}
)
"""The fields of the schema's subset that are connections."""


@dataclass(slots=True)
class Cost:
    """requests: of all connections. nodes: that may be returned. errors: (type, message) of what is not allowed."""

    requests: int = 0
    nodes: int = 0
    errors: list[tuple[str, str]] | None = None

    @property
    def points(self) -> int:
        """What is charged."""
        return max(1, round(self.requests / 100))

    def refuse(self, type: str, message: str) -> None:
        """This makes the whole query void."""
        self.errors = [*(self.errors or ()), (type, message)]


def cost_of(document: DocumentNode, variables: Mapping[str, Any]) -> Cost:
    """The cost of the only operation in `document`."""
    fragments = {each.name.value: each for each in document.definitions if isinstance(each, FragmentDefinitionNode)}
    cost = Cost()
    for operation in document.definitions:
        if isinstance(operation, OperationDefinitionNode):
            _add(cost, operation.selection_set, 1, _Query(fragments, variables))
    if cost.nodes > MAX_NODES:
        cost.refuse(
            "MAX_NODE_LIMIT_EXCEEDED",
            f"This query requests up to {cost.nodes:,} possible nodes which exceeds the maximum limit of 500,000.",
        )
    return cost


class _Query(Struct, frozen=True):
    fragments: Mapping[str, FragmentDefinitionNode]
    variables: Mapping[str, Any]

    def argument(self, node: FieldNode | DirectiveNode, name: str) -> Any:
        """The value of that argument; None where it is missing."""
        given = next((each.value for each in node.arguments or () if each.name.value == name), None)
        value = value_from_ast_untyped(given, dict(self.variables)) if given is not None else None
        return None if value is Undefined else value

    def fields(self, selections: SelectionSetNode) -> Iterator[FieldNode]:
        for selection in selections.selections:
            if isinstance(selection, FieldNode):
                if all(self.argument(each, "if") is not False for each in selection.directives or ()):
                    yield selection
            elif isinstance(selection, InlineFragmentNode):
                yield from self.fields(selection.selection_set)
            elif isinstance(selection, FragmentSpreadNode):
                yield from self.fields(self.fragments[selection.name.value].selection_set)


def _add(cost: Cost, selections: SelectionSetNode, parents: int, query: _Query) -> None:
    for field in query.fields(selections):
        if field.selection_set is None:
            continue
        name, inner = field.name.value, parents
        if name in CONNECTIONS:
            cost.requests += parents
            inner = parents * _page(cost, field, query)
            cost.nodes += inner if _lists(field, query) else 0
        elif name == "nodes" and (ids := query.argument(field, "ids")) is not None:
            if len(ids) > MAX_IDS:
                cost.refuse(
                    "ARGUMENT_LIMIT", f"You may not provide more than {MAX_IDS} node ids; you provided {len(ids)}."
                )
            inner = len(ids)
            cost.nodes += inner
        _add(cost, field.selection_set, inner, query)


def _lists(field: FieldNode, query: _Query) -> bool:
    assert field.selection_set is not None
    return any(each.name.value in ("nodes", "edges") for each in query.fields(field.selection_set))


def _page(cost: Cost, field: FieldNode, query: _Query) -> int:
    first, name = query.argument(field, "first"), field.name.value
    if first is None:
        if _lists(field, query):
            cost.refuse(
                "MISSING_PAGINATION_BOUNDARIES",
                f"You must provide a `first` or `last` value to properly paginate the `{name}` connection.",
            )
        return 1
    if first > MAX_PAGE:
        cost.refuse(
            "EXCESSIVE_PAGINATION",
            f"Requesting {first} records on the `{name}` connection exceeds the `first` limit of {MAX_PAGE} records.",
        )
    return int(first)
