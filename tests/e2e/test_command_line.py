"""The command line as people use it: processes of their own against a simulated GitHub, judged by its world."""

from __future__ import annotations

import asyncio
import random
import signal
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest

from ghcrawl.simulator.faults import BAD_WEATHER, Faults, Limited, Slow
from ghcrawl.simulator.github.behaviour import Manners, Secondary
from ghcrawl.simulator.github.changes import issues as change_issues
from ghcrawl.simulator.github.generation.size import SMALL, TINY, WorldSize
from ghcrawl.simulator.github.oracle import TYPES
from ghcrawl.values.frozen import replace
from tests.support.cli import Running, Shell, program, shell
from tests.support.crawling import TOKEN, Stage, stage

pytestmark = [pytest.mark.crawl, pytest.mark.timeout(600)]  # a dozen processes, on a machine with other work

THREE_REPOS = WorldSize(
    orgs=1, repos=3, owners=0, users=20, teams=2, issues=60, pull_share=0.25, commits=60, quirks=False
)
TOKENS = tuple(f"ghp_memberNumber{number}0000000000000000000000" for number in (1, 2, 3))
CRAWL = ("crawl", "acme")
DB = Path("ghcrawl.db")


@asynccontextmanager
async def scene(folder: Path, size: WorldSize = SMALL, **over: Any) -> AsyncIterator[tuple[Stage, Shell]]:
    """A simulated GitHub, and a shell whose crawls ask it with tokens that it knows."""
    tokens: Sequence[str] = over.setdefault("tokens", (TOKEN,))
    async with (
        stage(folder, size, **over) as it,
        shell(
            folder,
            GHCRAWL_TOKENS=";".join(tokens),
            GHCRAWL_GITHUB__API_URL=it.server.url,
            GHCRAWL_SQLITE__SYNCHRONOUS="normal",
            GHCRAWL_CRAWL__RETRY_BASE_S="0.2",
        ) as sh,
    ):
        yield it, sh


def things(documents: Sequence[dict[str, Any]]) -> list[tuple[str, str]]:
    """(type, URN) of those that are neither pages nor cursors, as often as they are there."""
    metadata = [document["_metadata"] for document in documents]
    return sorted((meta["type"], meta["urn"]) for meta in metadata if meta["type"] in TYPES)


async def called(it: Stage, count: int, by: Running) -> None:
    """Return once so many more calls were made."""
    made = asyncio.create_task(it.server.journal.reached(it.server.journal.total + count))
    ended = asyncio.create_task(by.process.wait())
    done, late = await asyncio.wait((made, ended), timeout=180, return_when=asyncio.FIRST_COMPLETED)
    for task in late:
        task.cancel()
    assert made in done, await by.ended()


# Completeness and cost -------------------------------------------------------------------------------------------


async def test_one_command_saves_everything_once_and_prints_one_object(tmp_path: Path):
    async with stage(tmp_path, THREE_REPOS) as it, shell(tmp_path, GHCRAWL_TOKENS=TOKEN) as sh:
        ran = await sh.run(*CRAWL, "--api-url", it.server.url, "--db", "acme.db", "--json")

        assert ran.status == 0, ran.err
        figures = ran.json
        assert things(await sh.export(Path("acme.db"))) == sorted(it.expected())
        entities = figures["entities"]
        assert sum(count for kind, count in entities["stored_by_type"].items() if kind in TYPES) == len(it.expected())
        assert entities["stored"] == entities["saved"]
        assert figures["calls"]["total"] == it.server.journal.total
        assert it.server.journal.total / entities["saved"] <= 0.30
        assert it.server.journal.repeated() == {}
        assert figures["finished"] is True
        assert figures["deadletters"]["left"] == 0
        assert set(figures["waiting"].values()) == {0}
        assert "Traceback" not in ran.err
        again = await sh.run(*CRAWL, "--db", "acme.db", "--json")
        assert (again.status, again.json["api_url"]) == (0, it.server.url), "a file remembers where it is from"


async def test_a_refresh_is_free_from_the_second_time_and_saves_only_what_changed(tmp_path: Path):
    async with scene(tmp_path, THREE_REPOS) as (it, sh):
        refresh = (*CRAWL, "--policy", "refresh", "--json", "--quiet")
        for _ in range(2):
            assert (await sh.run(*refresh)).status == 0
        it.server.journal.clear()
        third = (await sh.run(*refresh)).json
        assert it.server.journal.charged == third["calls"]["charged"] == 0
        assert third["documents"]["saved"] == 0

        repos = it.world.repos_of(it.world.org("acme"))
        for number, repo in enumerate([*repos, *repos][:5]):
            issue = [each for each in repo.issues.values() if each.pull is None][number]
            change_issues.comment(it.world, repo, issue, by=it.member)
        it.server.journal.clear()
        changed = (await sh.run(*refresh)).json

        assert changed["entities"]["saved_by_type"] == {"issue": 5, "issue_comment": 5}
        assert it.server.journal.charged <= 30
        assert things(await sh.export(DB)) == sorted(it.expected())


@pytest.mark.slow
async def test_three_small_budgets_suffice_and_not_one_call_is_made_over_a_limit(tmp_path: Path):
    async with scene(tmp_path, tokens=TOKENS, limit=60, window_s=12) as (it, sh):
        ran = await sh.run(*CRAWL, "--json")

        assert ran.status == 0, ran.err
        assert things(await sh.export(DB)) == sorted(it.expected())
        assert it.server.journal.charged > 180, "one window is not enough"
        assert it.server.journal.violated == 0
        assert sum(ran.json["requests"]["retried"].values()) == 0


async def test_in_bad_weather_everything_is_saved_and_nothing_is_given_up(tmp_path: Path):
    weather = [*((0.07 / len(BAD_WEATHER), fault) for fault in BAD_WEATHER), (0.03, Limited(retry_after_s=1))]
    manners = Manners(secondary=Secondary(retry_after_s=1))
    async with scene(tmp_path, faults=Faults(weather, streak=3), manners=manners, tokens=TOKENS) as (it, sh):
        ran = await sh.run(*CRAWL, "--json")

        assert ran.status == 0, ran.err
        assert things(await sh.export(DB)) == sorted(it.expected())
        assert ran.json["deadletters"] == {"buried": {}, "left": 0, "left_by_class": {}}
        assert sum(ran.json["requests"]["retried"].values()) > 3


# Stopping and going on -------------------------------------------------------------------------------------------


@pytest.mark.slow
async def test_killed_at_six_moments_it_ends_with_each_document_once(tmp_path: Path):
    async with scene(tmp_path) as (it, sh):
        rng = random.Random(7)
        for _ in range(6):
            running = await sh.start(*CRAWL, "--json")
            await called(it, rng.randint(1, 60), running)
            running.send(signal.SIGKILL)
            assert (await running.ended()).status == -signal.SIGKILL
        ran = await sh.run(*CRAWL, "--json")

        assert ran.status == 0, ran.err
        assert ran.json["resumed"] is True
        assert things(await sh.export(DB)) == sorted(it.expected())
        assert ran.json["deadletters"]["left"] == 0


async def test_ctrl_c_finishes_what_is_in_hand_and_the_same_command_goes_on(tmp_path: Path):
    async with scene(tmp_path, replace(SMALL, quirks=False)) as (it, sh):
        running = await sh.start(*CRAWL, "--db", "a b.db", "--json")
        await called(it, 60, running)
        running.send(signal.SIGINT)
        stopped = await running.ended()
        assert stopped.status == 130
        assert stopped.json["interrupted"] == "SIGINT"
        assert sum(stopped.json["waiting"].values()) > 0
        status = await sh.run("status", "--db", "a b.db")
        assert "unfinished   acme" in status.out
        assert status.err.splitlines() == ["# resume acme", "ghcrawl crawl acme --db 'a b.db' --json"]

        resumed = await sh.run(*CRAWL, "--db", "a b.db", "--json")
        assert resumed.status == 0
        assert (resumed.json["resumed"], resumed.json["finished"]) == (True, True)
        assert resumed.json["asked_at"] == stopped.json["asked_at"]
        assert things(await sh.export(Path("a b.db"))) == sorted(it.expected())
        assert it.server.journal.repeated() == {}


async def test_a_person_is_told_how_to_go_on(tmp_path: Path):
    async with scene(tmp_path) as (it, sh):
        running = await sh.start(*CRAWL)
        await called(it, 60, running)
        running.send(signal.SIGINT)
        stopped = await running.ended()

        assert "Stopped by Ctrl-C: " in stopped.out
        assert "# resume\nghcrawl crawl acme\n" in stopped.out


async def test_a_second_ctrl_c_stops_at_once_and_loses_nothing(tmp_path: Path):
    faults = Faults()
    async with scene(tmp_path, TINY, faults=faults) as (it, sh):
        faults.script("*/issues", Slow(600))
        running = await sh.start(*CRAWL, talks=True, GHCRAWL_CRAWL__SHUTDOWN_GRACE_S="600")
        await called(it, 5, running)
        running.send(signal.SIGINT)
        assert running.process.stderr is not None
        async for line in running.process.stderr:
            if line == b"Stopping: finishing requests in flight. Press Ctrl-C again to stop immediately.\n":
                break
        assert running.process.returncode is None, "it waits for the answer that it has asked for"
        running.send(signal.SIGINT)
        assert await asyncio.wait_for(running.process.wait(), 60) == 130

        assert (await sh.run(*CRAWL)).status == 0
        assert things(await sh.export(DB)) == sorted(it.expected())


async def test_sigterm_is_a_clean_end(tmp_path: Path):
    async with scene(tmp_path) as (it, sh):
        running = await sh.start(*CRAWL, "--json")
        await called(it, 40, running)
        running.send(signal.SIGTERM)
        ran = await running.ended()

        assert (ran.status, ran.json["interrupted"], ran.json["finished"]) == (0, "SIGTERM", False)


# Secrets ---------------------------------------------------------------------------------------------------------


def files_in(folder: Path) -> dict[str, bytes]:
    """Every file's content by its name."""
    return {path.name: path.read_bytes() for path in folder.iterdir() if path.is_file()}


async def test_no_token_is_in_any_file_or_in_anything_that_is_said(tmp_path: Path):
    wrong = "ghp_wrongWrongWrongWrongWrongWrongWrong00"
    tokens_file = program(tmp_path) / "tokens"
    tokens_file.write_text(f"{wrong}#public\n")
    commands: Sequence[tuple[str | Path, ...]] = (
        (*CRAWL, "--log-level", "debug"),
        ("tokens",),
        ("tokens", "check", "--tokens-file", tokens_file),
        ("config", "show"),
        ("config", "check"),
        ("status", "--json"),
        ("crawl", TOKENS[0]),
        ("documents", "export", "-o", "all.jsonl"),
    )
    async with scene(tmp_path, TINY, tokens=TOKENS) as (it, sh):
        running = await sh.start(*CRAWL, "-v", "--tokens-file", tokens_file, GHCRAWL_DEBUG="1")
        await called(it, 20, running)
        running.send(signal.SIGKILL)
        said = [await running.ended()]
        left = files_in(tmp_path)
        assert "ghcrawl.db-wal" in left, "killed, it leaves its log"
        said += [await sh.run(*words, GHCRAWL_DEBUG="1", GHCRAWL_LOG__FORMAT="json") for words in commands]
        said.append(await sh.run(*CRAWL, "-v", GHCRAWL_TOKENS=wrong, GHCRAWL_DEBUG="1"))

    texts = [text for ran in said for text in (ran.out, ran.err)]
    texts += [data.decode("latin-1") for data in (*left.values(), *files_in(tmp_path).values())]
    assert any("request_settled" in text for text in texts), "logs were looked at"
    for token in (*TOKENS, wrong):
        for part in (token, token.partition("_")[2]):
            assert [text for text in texts if part in text] == []
