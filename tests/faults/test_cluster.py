"""Three nodes as one broker, of which one is lost with its disk."""

from __future__ import annotations

import asyncio
import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.faults.crawl import crawl, through
from tests.support.services.cluster import Cluster
from tests.support.services.debian import Unavailable
from tests.support.services.fixtures import keeper
from tests.support.services.wanted import absent, distribution


@pytest.fixture
def cluster() -> Iterator[Cluster]:
    """A cluster of the test's own."""
    with keeper("cluster") as kept:
        try:
            own = Cluster(kept, distribution())
        except Unavailable as error:
            absent(error)
        own.start()
        yield own


@pytest.mark.faults
@pytest.mark.timeout(500)
async def test_a_node_that_loses_its_disk_loses_nothing(cluster: Cluster, tmp_path: Path) -> None:
    """Workers are on two nodes; the third is killed, wiped, and joins again as if it were new."""
    first, second, third = cluster.nodes
    async with crawl(first.server, tmp_path, size=800) as it:
        await it.seed()
        await it.start(fetch_s=0.1)
        await it.start(fetch_s=0.1, settings=through(it.settings, second.port))
        await it.settled(30)
        await asyncio.sleep(3)
        third.kill()
        it.shocks += 16
        await it.settled(100)
        shutil.rmtree(third.folder / "data")
        await asyncio.to_thread(first.control, "forget_cluster_node", third.node)
        await asyncio.to_thread(third.start)
        await asyncio.to_thread(cluster.join, third)
        await it.push(2, 3)
        await it.quiet(within_s=300)
        await it.hold_invariants(pending=True)
