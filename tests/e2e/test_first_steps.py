"""What a newcomer does first: the demo and everything it suggests, a simulator, a crawl on a terminal."""

from __future__ import annotations

import asyncio
import os
import re
import shlex
import signal
import struct
import termios
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from fcntl import ioctl
from itertools import pairwise
from pathlib import Path

import pytest

from ghcrawl.simulator.faults import Broken, Faults
from ghcrawl.simulator.github.generation.size import SMALL, TINY
from tests.support.cli import ROOT, shell
from tests.support.crawling import TOKEN, stage

pytestmark = [pytest.mark.crawl, pytest.mark.timeout(600)]  # a dozen processes, on a machine with other work

MOVES = re.compile(r"\x1b\[[0-9;?]*[A-Za-z]")


def suggested(text: str) -> Iterator[tuple[str, list[str]]]:
    """(what for, words behind the program's name) of every command that is suggested."""
    lines = text.splitlines()
    for purpose, command in pairwise(lines):
        if purpose.startswith("# "):
            program, *words = shlex.split(command)
            assert program == "ghcrawl"
            yield purpose.removeprefix("# "), words


# The demo --------------------------------------------------------------------------------------------------------


async def test_the_demo_ends_with_a_table_and_with_commands_that_work(tmp_path: Path):
    async with shell(tmp_path) as sh:
        ran = await sh.run("demo", "--size", "400")
        assert ran.status == 0, ran.err
        assert re.search(r"^total +[\d,]+ +[\d,]+ +[\d,]+$", ran.out, re.MULTILINE)
        assert re.search(r"^The third crawl was charged 0 calls: ", ran.out, re.MULTILINE)
        assert "Traceback" not in ran.err
        steps = dict(suggested(ran.out))
        real = steps.pop("crawl the real GitHub, without a token")
        assert real == ["crawl", "octocat/Hello-World"]
        for words in steps.values():
            step = await sh.run(*words)
            assert (step.status, "Traceback" in step.err) == (0, False), step
        assert (tmp_path / "demo.jsonl").read_text().count("\n") > 320

        whole = await sh.run("demo")
        assert whole.status == 0, whole.err
        promised = (ROOT / "README.md").read_text().split("The demo ends with:\n\n```\n")[1].partition("```")[0]
        assert [line for line in promised.splitlines() if line != "..." and line not in whole.out.splitlines()] == []

        again = await sh.run("demo", "--size", "100")
        assert again.status == 0, "its own file is made anew"


@pytest.mark.parametrize(("platform", "title"), [("bluesky", "Bluesky"), ("mastodon", "Mastodon"), ("web", "a blog")])
async def test_the_demo_of_another_platform_needs_nothing_either(tmp_path: Path, platform: str, title: str):
    async with shell(tmp_path) as sh:
        ran = await sh.run("demo", "--platform", platform, "--size", "200")
        assert ran.status == 0, ran.err
        assert "Traceback" not in ran.err
        assert f"Simulating {title} at http://127.0.0.1:" in ran.err
        first, again = map(int, re.findall(r"^The (?:first|second) crawl took (\d+) calls?", ran.out, re.MULTILINE))
        assert again <= first
        assert re.search(r"^The second crawl .*: 0 entities saved\.$", ran.out, re.MULTILINE)
        steps = [words for _, words in suggested(ran.out)]
        assert len(steps) == 2
        for words in steps:
            assert (await sh.run(*words)).status == 0, words
        assert (tmp_path / "demo.jsonl").read_text().count("\n") > 10
        assert (await sh.run("demo", "--size", "100", "--platform", platform)).status == 0, "its file is made anew"


async def test_the_demo_of_a_blog_is_one_304_the_second_time(tmp_path: Path):
    async with shell(tmp_path) as sh:
        ran = await sh.run("demo", "--platform", "web")
    assert "The second crawl took 1 call to find out what is new: 0 entities saved." in ran.out.splitlines()
    assert re.search(r"^web/post +50 +0 +50$", ran.out, re.MULTILINE)


async def test_the_demo_touches_nobody_elses_file(tmp_path: Path):
    async with stage(tmp_path, TINY) as it, shell(tmp_path, GHCRAWL_TOKENS=TOKEN) as sh:
        db = ("--db", "mine.db")
        assert (await sh.run("crawl", "acme", "--api-url", it.server.url, *db, "--quiet")).status == 0
        before = (tmp_path / "mine.db").read_bytes()
        ran = await sh.run("demo", *db)

    assert ran.status == 2
    assert ran.err == "ghcrawl: mine.db was not created by a demo; choose another file with --db\n"
    assert (tmp_path / "mine.db").read_bytes() == before


# A simulator of one's own ----------------------------------------------------------------------------------------


async def test_a_simulator_says_how_to_crawl_it_and_stops_at_ctrl_c(tmp_path: Path):
    async with shell(tmp_path) as sh:
        simulator = await sh.start("simulate", "--port", "0", "--size", "100", "--tokens", "2", talks=True)
        assert simulator.process.stdout is not None
        assert simulator.process.stderr is not None
        url = (await simulator.process.stdout.readline()).decode().strip()
        said = [(await simulator.process.stderr.readline()).decode() for _ in range(5)]
        variable, _, *words = shlex.split(said[4])
        ran = await sh.run(*words, "--json", GHCRAWL_TOKENS=variable.partition("=")[2])

        assert (ran.status, ran.json["api_url"]) == (0, url)
        assert ran.json["entities"]["stored"] > 50
        taken = await sh.run("simulate", "--port", url.rpartition(":")[2])
        assert (taken.status, taken.out) == (2, "")
        assert "Address already in use; choose another with --port" in taken.err
        simulator.send(signal.SIGINT)
        assert await asyncio.wait_for(simulator.process.wait(), 60) == 0


async def test_a_simulator_refuses_options_that_its_platform_does_not_have(tmp_path: Path):
    async with shell(tmp_path) as sh:
        ran = await sh.run("simulate", "--platform", "mastodon", "--port", "0", "--live")
    assert (ran.status, ran.out) == (2, "")
    assert ran.err == (
        "ghcrawl: --live: the simulator of mastodon has no such option; it has --limit, --port, --seed, --size\n"
    )


# A terminal ------------------------------------------------------------------------------------------------------


class Terminal:
    """What a command shows on a terminal of a given width, and where keys are pressed."""

    def __init__(self, controller: int) -> None:
        self.shown = ""
        self._more = asyncio.Event()
        self._controller = controller
        asyncio.get_running_loop().add_reader(controller, self._read)

    def _read(self) -> None:
        try:
            self.shown += os.read(self._controller, 65536).decode("utf-8", "replace")
        except OSError:  # the last process at the other end is gone
            asyncio.get_running_loop().remove_reader(self._controller)
        self._more.set()

    def press(self, keys: bytes) -> None:
        os.write(self._controller, keys)

    async def until(self, text: str) -> None:
        """Return once `text` was shown."""
        async with asyncio.timeout(180):
            while text not in self.shown:
                self._more.clear()
                await self._more.wait()

    @property
    def lines(self) -> list[str]:
        """Everything that was ever shown, without colours and moves."""
        return [line.rstrip() for line in re.split(r"[\r\n]+", MOVES.sub("", self.shown))]


@asynccontextmanager
async def terminal(columns: int) -> AsyncIterator[tuple[Terminal, int]]:
    """A terminal, and the end of it that a command gets."""
    controller, end = os.openpty()
    ioctl(end, termios.TIOCSWINSZ, struct.pack("HHHH", 50, columns, 0, 0))
    try:
        yield Terminal(controller), end
    finally:
        asyncio.get_running_loop().remove_reader(controller)
        os.close(controller)
        os.close(end)


@pytest.mark.parametrize("columns", [80, 120])
async def test_on_a_terminal_a_crawl_is_shown_live_and_leaves_it_as_it_was(tmp_path: Path, columns: int):
    faults = Faults()
    faults.script("/repos/*", *[Broken(503)] * 6)
    async with stage(tmp_path, SMALL, faults=faults) as it, shell(tmp_path, GHCRAWL_TOKENS=TOKEN) as sh:
        sh.environ |= {"TERM": "xterm-256color", "GHCRAWL_CRAWL__RETRY_BASE_S": "0.3"}
        async with terminal(columns) as (screen, end):
            running = await sh.start("crawl", "acme", "--api-url", it.server.url, terminal=end)
            await screen.until("charged per document")
            await asyncio.wait_for(running.process.wait(), 180)
            await screen.until("refresh; unchanged data is free")

    assert running.process.returncode == 0
    labels = {line.partition(" ")[0] for line in screen.lines}
    assert {"documents", "requests", "waiting", "calls", "quota", "errors", "remaining"} <= labels
    assert "Ctrl-C stops; run the same command again to resume." in screen.lines
    assert any(re.search(r"\d+% of [\d,]+ requests known$", line) for line in screen.lines)
    assert any(
        re.fullmatch(r"quota +token \w+: [\d,]+ calls?, [\d,]+ of 5,000 left, resets at [\d: -]+", one)
        for one in screen.lines
    )
    assert any("retries (http_503 " in line for line in screen.lines)
    copied = [line for line in screen.lines if line.startswith(("ghcrawl ", "Crawling acme from "))]
    assert max(len(line) for line in screen.lines if line not in copied) <= columns
    assert screen.shown.rindex("\x1b[?25h") > screen.shown.rindex("\x1b[?25l"), "the cursor is there again"


async def test_ctrl_c_on_a_terminal_stops_and_says_how_to_go_on(tmp_path: Path):
    async with (
        stage(tmp_path, SMALL) as it,
        shell(tmp_path, GHCRAWL_TOKENS=TOKEN, TERM="xterm") as sh,
        terminal(80) as (screen, end),
    ):
        running = await sh.start("crawl", "acme", "--api-url", it.server.url, terminal=end)
        await screen.until("charged per document")
        screen.press(b"\x03")
        assert await asyncio.wait_for(running.process.wait(), 180) == 130
        await screen.until("resume")

    assert any(line.startswith("Stopped by Ctrl-C: ") for line in screen.lines)
    assert f"ghcrawl crawl acme --api-url {it.server.url}" in screen.lines
    assert screen.shown.rindex("\x1b[?25h") > screen.shown.rindex("\x1b[?25l")
    assert "^C" not in screen.lines[-1]


# The deadletter desk ---------------------------------------------------------------------------------------------


async def test_what_was_given_up_is_looked_at_requeued_and_then_it_works(tmp_path: Path):
    faults = Faults()
    async with (
        stage(tmp_path, TINY, faults=faults) as it,
        shell(tmp_path, GHCRAWL_TOKENS=TOKEN, GHCRAWL_CRAWL__RETRY_BASE_S="0.02") as sh,
    ):
        faults.script("/repos/*/labels", *[Broken(503)] * 5)
        first = await sh.run("crawl", "acme", "--api-url", it.server.url, "--json")
        assert (first.status, first.json["deadletters"]["left_by_class"]) == (1, {"http_503": 1})
        assert first.err.splitlines()[1:] == []

        listed = await sh.run("deadletters", "list")
        assert listed.rows[0][2:4] == ["http_503", "labels"]
        ((_, show),) = suggested(listed.err)
        told = (await sh.run(*show)).out
        assert told.count("answered 503") >= 5
        retry = told.splitlines()[-1]
        for command in retry.split(" && "):
            ran = await sh.run(*shlex.split(command)[1:])
            assert ran.status == 0, ran
        labels = {key for key in it.expected() if key[0] == "label"}
        assert len([one for one in await sh.export(Path("ghcrawl.db")) if one["_metadata"]["type"] == "label"]) == len(
            labels
        )
        assert (await sh.run("deadletters", "list", "--json")).json["total"] == 0
