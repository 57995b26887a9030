"""Whatever is wrong is said in one clear line, with the right exit status, and nothing is lost."""

from __future__ import annotations

import asyncio
import shutil
import signal
import subprocess
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

from ghcrawl.simulator.github.generation.size import SMALL, TINY, WorldSize
from ghcrawl.values.frozen import replace
from ghcrawl.wiring import crawled_by
from tests.support.cli import Ran, Shell, shell
from tests.support.crawling import TOKEN, Stage, stage

pytestmark = [pytest.mark.crawl, pytest.mark.timeout(600)]  # a dozen processes, on a machine with other work

CLOSED = "http://127.0.0.1:9"
IN_OWN_MOUNTS = ("unshare", "--map-root-user", "--mount", "sh", "-c")
FULL = """
    mount -t tmpfs -o size=1m tmpfs disk || exit 99
    "$@" > full.json 2> full.err
    echo $? > full.status
    mount -o remount,size=100m disk
    "$@"; status=$?
    cp disk/x.db roomy.db
    exit $status
"""
READ_ONLY = """
    mount -t tmpfs -o size=100m tmpfs disk || exit 99
    test ! -e x.db || cp x.db disk/
    mount -o remount,ro disk
    "$@"
"""


@asynccontextmanager
async def scene(folder: Path, size: WorldSize = TINY) -> AsyncIterator[tuple[Stage, Shell]]:
    async with (
        stage(folder, size) as it,
        shell(folder, GHCRAWL_TOKENS=TOKEN, GHCRAWL_GITHUB__API_URL=it.server.url) as sh,
    ):
        yield it, sh


def mounting(script: str) -> Sequence[str]:
    """What runs a command in `script`, whose mounts nobody else sees. Skips the test where nobody may mount."""
    if (
        shutil.which("unshare") is None
        or subprocess.run([*IN_OWN_MOUNTS, "mount -t tmpfs x ."], check=False).returncode
    ):
        pytest.skip("this system lets nobody mount anything")
    return (*IN_OWN_MOUNTS, script, "sh")


def complaint(ran: Ran) -> str:
    """The one line that says what is wrong."""
    said = [line.removeprefix("ghcrawl: ") for line in ran.err.splitlines() if line.startswith("ghcrawl: ")]
    assert len(said) == 1, ran.err
    assert "Traceback" not in ran.err
    return said[0]


async def test_what_nobody_can_mean_is_said_before_anything_is_asked(tmp_path: Path):
    (tmp_path / "typo.toml").write_text("[crawl]\nlops = 3\n")
    async with scene(tmp_path) as (it, sh):
        ran = await sh.run("crawl", "two words")
        assert (ran.status, ran.out) == (2, "")
        assert complaint(ran).startswith(
            "'two words' is nothing to crawl; write an organisation or user (acme), a repo"
        )
        ran = await sh.run("crawl", "acme", "--config", "typo.toml")
        assert (ran.status, ran.out) == (2, "")
        assert complaint(ran) == "crawl.lops (typo.toml): unknown setting; did you mean crawl.loops?"
        assert it.server.journal.total == 0


async def test_an_organisation_that_is_not_there_is_named_and_the_others_are_crawled(tmp_path: Path):
    async with scene(tmp_path) as (it, sh):
        ran = await sh.run("crawl", "nobody", "acme", "--json")

        assert ran.status == 2
        assert complaint(ran) == (f"nobody cannot be crawled: not found, 404 Not Found ({it.server.url}/users/nobody)")
        assert [refused["spec"] for refused in ran.json["refused"]] == ["nobody"]
        assert ran.json["entities"]["stored"] >= len(it.expected())
        assert (await sh.run("crawl", "nobody", "--quiet")).out == ""


async def test_a_wrong_token_is_told_from_others_by_its_hash_and_the_crawl_goes_on_with_a_right_one(tmp_path: Path):
    async with scene(tmp_path) as (it, sh):
        ran = await sh.run("crawl", "acme", "--quiet", GHCRAWL_TOKENS="ghp_wrong0000000000000000000000000000000")
        assert ran.status == 2
        assert "rejects all tokens (token " in complaint(ran)
        assert "401 Bad credentials); correct GHCRAWL_TOKENS or the tokens file. Nothing is lost" in ran.err

        resumed = await sh.run("crawl", "acme", "--json")
        assert (resumed.status, resumed.json["resumed"]) == (0, True)
        assert resumed.json["entities"]["stored"] >= len(it.expected())


async def test_an_api_that_cannot_be_reached_is_said_and_the_same_command_goes_on_when_it_can(tmp_path: Path):
    async with shell(tmp_path, GHCRAWL_CRAWL__RETRY_BASE_S="0.1") as sh:
        ran = await sh.run("crawl", "acme", "--api-url", CLOSED, "--json")

        assert ran.status == 2
        assert complaint(ran) == (
            f"cannot reach {CLOSED}: connection refused. Nothing is lost: run the same command again to resume"
        )
        assert ran.json["stopped"] == f"cannot reach {CLOSED}: connection refused"
        assert ran.json["waiting"]["immediate"] == 1


async def test_a_second_crawl_of_the_same_file_at_the_same_time_is_refused_and_the_first_goes_on(tmp_path: Path):
    async with scene(tmp_path) as (it, sh):
        first = await sh.start("crawl", "acme", GHCRAWL_CRAWL__PAUSED="true")
        async with asyncio.timeout(60):
            while crawled_by(tmp_path / "ghcrawl.db") != first.process.pid:  # noqa: ASYNC110  # a lock knows no events
                await asyncio.sleep(0.02)
        second = await sh.run("crawl", "acme")
        looked = await sh.run("status")
        first.send(signal.SIGINT)

        assert second.status == 2
        assert complaint(second).startswith(f"ghcrawl.db is being crawled by another process (pid {first.process.pid}")
        assert f"process {first.process.pid}" in looked.out
        assert (await first.ended()).status == 130
        ran = await sh.run("crawl", "acme", "--json")
        assert (ran.status, ran.json["resumed"]) == (0, True)
        assert ran.json["entities"]["stored"] >= len(it.expected())


async def test_a_full_disk_stops_a_crawl_which_goes_on_once_there_is_room(tmp_path: Path):
    (tmp_path / "disk").mkdir()
    async with scene(tmp_path, replace(SMALL, quirks=False)) as (it, sh):
        ran = await sh.run("crawl", "acme", "--db", "disk/x.db", "--json", wrap=mounting(FULL))
        full = Ran(
            int((tmp_path / "full.status").read_text()),
            (tmp_path / "full.json").read_text(),
            (tmp_path / "full.err").read_text(),
        )

        assert full.status == 2
        assert complaint(full) == "no space left for disk/x.db. Nothing is lost: run the same command again to resume"
        assert full.json["stopped"] == "no space left for disk/x.db"
        assert (ran.status, ran.json["resumed"], ran.json["deadletters"]["left"]) == (0, True, 0), ran.err
        kept = {document["_metadata"]["urn"] for document in await sh.export(Path("roomy.db"))}
        assert {urn for _, urn in it.expected()} <= kept


async def test_what_is_on_a_read_only_disk_can_be_looked_at_and_not_crawled(tmp_path: Path):
    (tmp_path / "disk").mkdir()
    wrap = mounting(READ_ONLY)
    async with scene(tmp_path) as (_, sh):
        ran = await sh.run("crawl", "acme", "--db", "disk/x.db", wrap=wrap)
        assert (ran.status, complaint(ran)) == (2, "disk/x.db cannot be opened or created")
        assert (await sh.run("crawl", "acme", "--db", "x.db", "--quiet")).status == 0

        ran = await sh.run("crawl", "acme", "--db", "disk/x.db", wrap=wrap)
        assert ran.status == 2
        assert complaint(ran) == (
            "disk/x.db cannot be crawled: disk/x.db.lock cannot be written (Read-only file system)"
        )
        assert (await sh.run("status", "--db", "disk/x.db", wrap=wrap)).status == 0
        ran = await sh.run("documents", "export", "--db", "disk/x.db", "-o", "disk/all.jsonl", wrap=wrap)
        assert (ran.status, complaint(ran)) == (2, "cannot write disk/all.jsonl: Read-only file system")
        ran = await sh.run("requests", "push", "acme", "--db", "disk/x.db", wrap=wrap)
        assert ran.status == 2
        assert "disk/x.db" in complaint(ran)


async def test_a_standard_output_that_takes_nothing_is_said_and_one_that_is_closed_is_not(tmp_path: Path):
    async with scene(tmp_path) as (_, sh):
        assert (await sh.run("crawl", "acme", "--quiet")).status == 0
        ran = await sh.run("documents", "export", wrap=("sh", "-c", '"$@" > /dev/full', "sh"))
        assert (ran.status, complaint(ran)) == (2, "cannot write to standard output: No space left on device")
        ran = await sh.run("documents", "export", wrap=("bash", "-c", '"$@" | head -1; exit ${PIPESTATUS[0]}', "bash"))
        assert (ran.status, len(ran.out.splitlines()), ran.err) == (0, 1, "")
        ran = await sh.run("documents", "export", "-o", "/dev/full")
        assert (ran.status, complaint(ran)) == (2, "cannot write /dev/full: No space left on device")
