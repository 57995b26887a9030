"""The memory tags by the contract, and what one push makes of what it finds."""

from __future__ import annotations

import pytest

from queues.memory_tags import MemoryStarts, MemoryTags

pytest.register_assert_rewrite("tests.contracts.tags_contract")

from tests.contracts.tags_contract import StartsContract, TagsContract  # noqa: E402  # after the line above


@pytest.fixture
def tags() -> MemoryTags:
    return MemoryTags()


@pytest.fixture
def starts() -> MemoryStarts:
    return MemoryStarts()


class TestMemoryTags(TagsContract):
    pass


class TestMemoryStarts(StartsContract):
    pass
