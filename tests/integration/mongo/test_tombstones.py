"""What is gone takes with it what lay in it, and on MongoDB, too, no look reads what happened."""

from __future__ import annotations

from collections import Counter

from ghcrawl.engine import tombstones
from stores.mongo.documents import MongoStore
from stores.mongo.driver import Mongo
from tests.integration.mongo.commands import COMMANDS
from tests.unit.engine.test_tombstones import Bench, gone

COMMENTS = tombstones.AT_ONCE + 1
HAPPENINGS = 4 * tombstones.AT_ONCE


async def test_burying_costs_the_same_however_much_happened(mongo: Mongo) -> None:
    bench = Bench(await MongoStore.open(mongo))
    await bench.keep("urn:repo:12:issue:9:happening:1", "happening")  # the collection is there
    quiet, busy = [await buried(bench, number, happenings) for number, happenings in ((3, 0), (4, HAPPENINGS))]

    assert busy == quiet
    assert len([urn for urn in await bench.alive() if urn.startswith("urn:repo:12:issue:4:happening:")]) == HAPPENINGS
    assert not [urn for urn in await bench.alive() if ":comment:" in urn]


async def buried(bench: Bench, number: int, happenings: int) -> Counter[str]:
    """Buries an issue with comments. Returns how many commands of each name that took."""
    issue = await bench.keep(f"urn:repo:12:issue:{number}", "issue")
    for each in range(COMMENTS):
        await bench.keep(f"{issue.urn}:comment:{each:04}")
    for each in range(happenings):
        await bench.keep(f"{issue.urn}:happening:{each:04}", "happening")
    with COMMANDS.heard() as heard:
        await bench.drain(gone(issue))
    return Counter(heard)
