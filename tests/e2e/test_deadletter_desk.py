"""Many deadletters at once, and a desk that is struck by lightning in the middle."""

from __future__ import annotations

import asyncio
import signal
import sqlite3
from pathlib import Path

import pytest

from tests.support.builders import a_deadletter, a_request, at
from tests.support.cli import fill, shell

pytestmark = [pytest.mark.crawl, pytest.mark.timeout(600)]  # a dozen processes, on a machine with other work

MANY = 3000


def counts(db: Path) -> tuple[int, int]:
    """How many wait, and how many are buried."""
    connection = sqlite3.connect(f"file:{db}?mode=ro", uri=True)
    try:
        (waiting,) = connection.execute("SELECT COUNT(*) FROM waiting").fetchone()
        (buried,) = connection.execute("SELECT COUNT(*) FROM deadletters").fetchone()
        return waiting, buried
    finally:
        connection.close()


@pytest.fixture
async def db(tmp_path: Path) -> Path:
    path = tmp_path / "ghcrawl.db"
    letters = [a_deadletter(n, request=a_request(n, attempt=5), last_at=at(n)) for n in range(MANY)]
    await fill(path, deadletters=letters)
    return path


async def test_a_requeue_that_is_killed_in_the_middle_loses_none_and_the_next_one_finishes(tmp_path: Path, db: Path):
    async with shell(tmp_path) as sh:
        running = await sh.start("deadletters", "requeue", "--all", "--yes")
        while counts(db)[0] < MANY / 10:
            assert running.process.returncode is None
            await asyncio.sleep(0.005)
        running.send(signal.SIGKILL)
        assert (await running.ended()).status == -signal.SIGKILL
        waiting, buried = counts(db)
        assert waiting < MANY, "it was killed in the middle"
        assert waiting + buried >= MANY

        again = await sh.run("deadletters", "requeue", "--all", "--yes")
        assert again.status == 0, again.err
        assert counts(db) == (MANY, 0)


async def test_thousands_are_listed_counted_and_deleted_by_filter(tmp_path: Path, db: Path):
    async with shell(tmp_path) as sh:
        listed = await sh.run("deadletters", "list", "--type", "issue", "--json", "--limit", "0")
        assert (listed.json["total"], len(listed.json["deadletters"])) == (MANY, MANY)
        one = listed.json["deadletters"][7]
        shown = await sh.run("deadletters", "show", one["urn"])
        assert f"request        issue {one['url']}" in shown.out
        dry = await sh.run("deadletters", "delete", "--class", "http_503", "--dry-run")
        assert dry.err == "This would delete 3,000 deadletters (http_503 3,000).\n"
        gone = await sh.run("deadletters", "delete", "--class", "http_503", "--yes")
        assert (gone.status, gone.err) == (0, "3,000 deadletters deleted.\n")
        assert counts(db) == (0, 0)
