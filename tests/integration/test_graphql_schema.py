"""What is asked of the GraphQL API, and what the simulator answers, against GitHub's own schema."""

from __future__ import annotations

import pytest
from graphql import (
    GraphQLEnumType,
    GraphQLInterfaceType,
    GraphQLObjectType,
    NoDeprecatedCustomRule,
    parse,
    specified_rules,
    validate,
)

from ghcrawl.fetch.github.queries import QUERIES
from ghcrawl.simulator.github.graphql.schema import SCHEMA
from tests.support.graphql import official

pytestmark = pytest.mark.recordings


@pytest.mark.parametrize("name", sorted(QUERIES))
def test_every_query_is_valid_and_asks_for_nothing_deprecated(name: str) -> None:
    document = parse(QUERIES[name].text)
    assert validate(official(), document, [*specified_rules, NoDeprecatedCustomRule]) == []


def test_the_simulators_schema_is_a_part_of_the_official_one() -> None:
    whole = official().type_map
    for name, mine in SCHEMA.type_map.items():
        if name.startswith("__"):
            continue
        theirs = whole[name]
        assert type(mine) is type(theirs), name
        if isinstance(mine, GraphQLEnumType):
            assert isinstance(theirs, GraphQLEnumType)
            assert mine.values.keys() <= theirs.values.keys(), name
        if isinstance(mine, GraphQLObjectType | GraphQLInterfaceType):
            assert isinstance(theirs, GraphQLObjectType | GraphQLInterfaceType)
            for field, said in mine.fields.items():
                assert str(said.type) == str(theirs.fields[field].type), (name, field)
                arguments = {argument: str(each.type) for argument, each in said.args.items()}
                assert arguments.items() <= {a: str(e.type) for a, e in theirs.fields[field].args.items()}.items()
