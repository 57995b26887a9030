"""What a survey assumes of batches, and what the fetcher does: they may not import each other."""

from __future__ import annotations

from ghcrawl.fetch.github import queries, querying
from processors.github import batch_requests, estimate_counts


def test_as_many_things_are_compared_with_rest_as_the_estimate_assumes():
    assert (querying.FIRST, querying.ONE_IN) == (estimate_counts.PROVEN, estimate_counts.PROVEN_ONE_IN)


def test_a_query_takes_as_many_nodes_as_a_batch_has_members():
    assert {type: queries.QUERIES[type].size for type in batch_requests.SIZES} == batch_requests.SIZES
