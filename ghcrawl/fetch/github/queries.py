"""What is asked of the GraphQL API: what REST's lists leave out, and how long they are, of up to 100 nodes in one call.

A test holds each query against the official schema (npm `@octokit/graphql-schema`).
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from msgspec import Struct

_ACTOR: Final = """
fragment A on Actor { __typename login avatarUrl url
  ... on User { id databaseId isSiteAdmin userViewType }
  ... on Bot { id databaseId }
  ... on Organization { id databaseId } }
"""
_PULLS: Final = (
    """
query Pulls($ids: [ID!]!, $open: Boolean!) {
  nodes(ids: $ids) { id ... on PullRequest { number updatedAt headRefOid
    mergedBy { ...A } maintainerCanModify additions deletions changedFiles
    comments { totalCount } commits { totalCount } reviews { totalCount }
    reviewThreads(first: 20) { totalCount nodes { comments { totalCount } } }
    mergeable @include(if: $open) canBeRebased @include(if: $open) mergeStateStatus @include(if: $open) } } }
"""
    + _ACTOR
)
_USERS: Final = """
query Users($ids: [ID!]!) { viewer { databaseId }
  nodes(ids: $ids) { id ... on User { databaseId login name company websiteUrl location email isHireable bio
    twitterUsername createdAt updatedAt
    repositories(privacy: PUBLIC, ownerAffiliations: [OWNER]) { totalCount }
    gists(privacy: PUBLIC) { totalCount }
    followers { totalCount } following { totalCount } } } }
"""
_REVIEWS: Final = (
    """
query Reviews($ids: [ID!]!) {
  nodes(ids: $ids) { id ... on PullRequest { number updatedAt
    reviews(first: 100) { totalCount
      nodes { id fullDatabaseId author { ...A } body state url submittedAt commit { oid } authorAssociation } } } } }
"""
    + _ACTOR
)
_COUNTS: Final = """
query Counts($ids: [ID!]!) {
  nodes(ids: $ids) { id ... on Repository {
    issues { totalCount } pullRequests { totalCount } releases { totalCount } deployments { totalCount }
    commitComments { totalCount } refs(refPrefix: "refs/heads/") { totalCount }
    defaultBranchRef { target { ... on Commit { history { totalCount } } } } } } }
"""


class Query(Struct, frozen=True, kw_only=True):
    """of: type of what it completes. text: with the variable `ids`. size: nodes of one call, while that is answered."""

    of: str
    text: str
    size: int


QUERIES: Final[Mapping[str, Query]] = {
    "user_batch": Query(of="user", text=_USERS, size=100),
    "pull_request_batch": Query(of="pull_request", text=_PULLS, size=50),
    "review_batch": Query(of="reviews", text=_REVIEWS, size=25),
    "counts": Query(of="counts", text=_COUNTS, size=100),
}
"""By the type of the requests that ask it."""
