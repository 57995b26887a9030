"""A disk that is full under the embedded file, queue, documents and all."""

from __future__ import annotations

import asyncio
import shutil
import subprocess
import sys
from collections import defaultdict
from pathlib import Path

import pytest

from ghcrawl.backend import open_backend
from ghcrawl.ports.deadletters import DeadletterFilter
from ghcrawl.ports.queue import Depth, by_queue
from ghcrawl.ports.store import DocumentFilter
from tests.faults.crawl import ROOT
from tests.faults.embedded import Alone, crawl
from tests.faults.graph import ATTEMPTS, expected, lasting, number_of

SIZE = 1500
IN_OWN_MOUNTS = ("unshare", "--map-root-user", "--mount", "sh", "-c")
ON_A_SMALL_DISK = """
    mount -t tmpfs -o size=1m tmpfs "$0" || exit 99
    "$@"; status=$?
    cp "$0"/crawl.db* "$0/.."
    exit $status
"""

pytestmark = [pytest.mark.faults, pytest.mark.timeout(120)]


def fetches_of(told: Alone) -> list[tuple[int, int, int]]:
    """Number, version and attempt of each."""
    lines = [line.split() for line in Path(told.journal).read_text().splitlines()]
    return [(int(line[1]), int(line[2]), int(line[3])) for line in lines if line[0] == "fetch"]


async def hold_invariants(told: Alone) -> None:
    """Of the nine, those that one process and one file have."""
    documents, dead = expected(told.size)
    fetches = fetches_of(told)
    async with open_backend(told.settings()) as backend:
        kept = {number_of(doc.url): doc async for doc in backend.store.list(DocumentFilter())}
        letters = await backend.deadletters.list(DeadletterFilter(), limit=1000)
        depths = by_queue(await backend.queue.depths())
    assert {number: lasting(doc.body) for number, doc in kept.items()} == documents, "I1"
    assert sorted(number_of(letter.request.url) for letter in letters) == sorted(dead), "I2: and each once"
    assert set(depths.values()) == {Depth()}, "I3, I4: nothing waits, nothing is in hand"
    newest: dict[int, int] = defaultdict(int)
    for number, version, _ in fetches:
        newest[number] = max(newest[number], version)
    assert {number: doc.body["version"] for number, doc in kept.items()}.items() <= newest.items(), "I5"
    assert all(attempt < ATTEMPTS for *_, attempt in fetches), "I8: a full disk is nobody's failure"


async def test_a_file_that_may_not_grow_loses_nothing_and_goes_on_when_it_may(tmp_path: Path) -> None:
    """Case 22, by SQLite's own bound."""
    told = Alone(path=str(tmp_path / "crawl.db"), journal=str(tmp_path / "journal"), size=SIZE, max_mb=1)
    assert await crawl(told), "it was full"
    on = Alone(path=told.path, journal=told.journal, size=SIZE, begins=False)
    assert not await crawl(on)
    await hold_invariants(on)


def test_a_full_disk_loses_nothing_and_the_same_process_goes_on_when_there_is_room(tmp_path: Path) -> None:
    """Case 22, by a disk of one megabyte that nobody else sees."""
    probe = [*IN_OWN_MOUNTS, "mount -t tmpfs x ."]
    if shutil.which("unshare") is None or subprocess.run(probe, check=False).returncode:
        pytest.skip("this system lets nobody mount anything")
    disk = tmp_path / "disk"
    disk.mkdir()
    told = Alone(
        path=str(disk / "crawl.db"),
        journal=str(tmp_path / "journal"),
        size=SIZE,
        room=("mount", "-o", "remount,size=64m", str(disk)),
    )
    command = [*IN_OWN_MOUNTS, ON_A_SMALL_DISK, str(disk), sys.executable, "-m", "tests.faults.embedded", told.text()]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr[-3000:]
    assert (tmp_path / "journal.full").read_text() == "True", "it was full"
    asyncio.run(hold_invariants(Alone(path=str(tmp_path / "crawl.db"), journal=told.journal, size=SIZE)))
