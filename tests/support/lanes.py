"""Lanes, as tests name them."""

from __future__ import annotations

from ghcrawl.values.model import LEGACY_PLATFORM, QUEUES, Lane, QueueName


def lanes(*queues: QueueName, platform: str = LEGACY_PLATFORM) -> list[Lane]:
    """These queues' lanes of one platform; of no queue at all: every one."""
    return [Lane(platform, queue) for queue in queues or QUEUES]


LANES = tuple(lanes())
