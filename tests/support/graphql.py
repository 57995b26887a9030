"""The official schema of GitHub's GraphQL API, installed from npm when a test asks for it."""

from __future__ import annotations

from functools import lru_cache

from graphql import GraphQLSchema, build_schema

from tests.support.recordings import installed_npm

SCHEMA = "@octokit/graphql-schema@15.26.1"


@lru_cache(maxsize=1)
def official() -> GraphQLSchema:
    """The schema."""
    text = (installed_npm("graphql-schema", SCHEMA) / "package/schema.graphql").read_text(encoding="utf-8")
    return build_schema(text, assume_valid=True)
