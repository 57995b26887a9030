"""kill -9 at any moment: nothing that was durable is missing, and nothing is half done."""

from __future__ import annotations

import random
import subprocess
import sys
from collections import defaultdict
from collections.abc import Mapping
from pathlib import Path

import pytest

from ghcrawl.ports.store import DocumentFilter
from ghcrawl.values.lanes import QUEUES
from ghcrawl.values.requests import Push
from tests.contracts.adapters import SqliteRig
from tests.contracts.crawling_child import EXTRA, NODES, children, node

ROUNDS = 4


def crawl_until_killed(path: Path, start: int, lines: int) -> list[tuple[str, int]]:
    """What a child said before it was killed at its `lines`-th line, and in the moment until the kill reached it."""
    command = [sys.executable, "-m", "tests.contracts.crawling_child", str(path), str(start)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, cwd=Path(__file__).parents[2]) as child:
        assert child.stdout is not None
        said = [child.stdout.readline() for _ in range(lines)]
        child.kill()
        said += child.stdout.readlines()
    words = [line.split() for line in said if line.endswith(b"\n")]
    return [(word.decode(), int(number)) for word, number in words]


async def found(rig: SqliteRig) -> tuple[set[int], set[int]]:
    """The numbers that have a document, and those that wait."""
    documents = {int(str(document.body["number"])) async for document in rig.store.list(DocumentFilter())}
    waiting = {
        int(request.context.qualifier) for name in QUEUES for request in await rig.queue.peek(name, limit=100_000)
    }
    return documents, waiting


@pytest.mark.slow
async def test_kill_9_at_any_moment_loses_nothing_and_leaves_nothing_half_done(tmp_path: Path) -> None:
    rig = SqliteRig(tmp_path / "crawl.db")
    await rig.open()
    await rig.queue.push([Push(request=node(1), queue="normal")])
    await rig.file.close()
    dice = random.Random(5)
    told: Mapping[str, set[int]] = defaultdict(set)
    for turn in range(ROUNDS):
        start = EXTRA + 1000 * turn
        for word, number in crawl_until_killed(rig.path, start, lines=dice.randrange(1, 400)):
            told[word].add(number)
        await rig.open()
        documents, waiting = await found(rig)
        await rig.file.close()

        assert documents >= told["settled"], "what was acknowledged is durable"
        assert documents <= told["settling"], "nothing was settled that nobody began to settle"
        known = {1} | {child for number in documents for child in children(number)}
        assert waiting | documents >= known | told["pushed"], "nothing that was found or pushed is lost"
        assert not waiting & documents, "a request is gone if and only if its document is there"
        assert waiting <= known | told["pushing"]
    assert told["settled"] & set(range(2, NODES + 1)), "the child was killed too early to prove anything"
