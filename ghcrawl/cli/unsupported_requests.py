"""Waiting requests, split by whether this version can process them."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping

from ghcrawl.cli.words import counted
from ghcrawl.ports.queue import Depth
from ghcrawl.values.lanes import QUEUES, Lane, QueueName


def ours(depths: Mapping[Lane, Depth], platforms: Collection[str]) -> Mapping[Lane, Depth]:
    """The lanes of these platforms."""
    return {lane: depth for lane, depth in depths.items() if lane.platform in platforms}


def left_waiting(depths: Mapping[Lane, Depth], platforms: Collection[str]) -> Mapping[str, int]:
    """How many requests wait of each platform that is none of these."""
    totals: dict[str, int] = {}
    for lane, depth in sorted(depths.items()):
        if lane.platform not in platforms and depth.total:
            totals[lane.platform] = totals.get(lane.platform, 0) + depth.total
    return totals


def depth_figures(depths: Mapping[QueueName, Depth]) -> Mapping[QueueName, Mapping[str, int]]:
    """What each queue holds, as `--json` has it."""
    parts = ("ready", "delayed", "in_flight", "total")
    return {name: {part: getattr(depths[name], part) for part in parts} for name in QUEUES}


def sentences(waiting: Mapping[str, int]) -> Iterable[str]:
    """One for each platform that this version does not have."""
    for platform, number in waiting.items():
        what = counted(number, f"request of platform {platform} waits", f"requests of platform {platform} wait")
        yield f"{what}; this version does not have it"
