"""Lanes, as tests name them."""

from __future__ import annotations

from ghcrawl.values.lanes import QUEUES, Lane, QueueName
from ghcrawl.values.type_names import LEGACY_PLATFORM


def lanes(*queues: QueueName, platform: str = LEGACY_PLATFORM) -> list[Lane]:
    """These queues' lanes of one platform; of no queue at all: every one."""
    return [Lane(platform, queue) for queue in queues or QUEUES]


LANES = tuple(lanes())
