"""A service from its start to its end: it crawls, drains, takes deliveries and follows its settings."""

from __future__ import annotations

import asyncio
import json
import signal
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from ghcrawl.simulator.faults import Faults, Slow
from ghcrawl.simulator.github.generation.size import TINY
from ghcrawl.simulator.github.oracle import TYPES
from tests.integration.service.conftest import Serve, Served
from tests.support.cli import shell
from tests.support.crawling import TOKEN, stage

pytestmark = pytest.mark.crawl

TABLES = ("waiting", "in_flight")


async def things(served: Served) -> set[tuple[str, str]]:
    """(type, URN) of what was saved and is neither a page nor a cursor."""
    found, after = set(), ""
    while True:
        page = await served.ask("GET", f"/api/v1/documents?limit=500&deleted=false&after={after}")
        found |= {(one["_metadata"]["type"], one["_metadata"]["urn"]) for one in page["documents"]}
        if page["next"] is None:
            return {key for key in found if key[0] in TYPES}
        after = page["next"]


def left_in(folder: Path) -> tuple[int, int]:
    """How many requests wait in the file, and how many are in flight."""
    with closing(sqlite3.connect(folder / "ghcrawl.db")) as file:
        (waiting,), (in_flight,) = (file.execute(f"SELECT COUNT(*) FROM {table}").fetchone() for table in TABLES)
    return waiting, in_flight


def left_by_a_newer_version(folder: Path, live: dict[str, object]) -> None:
    """These are the live settings in the file."""
    with closing(sqlite3.connect(folder / "ghcrawl.db")) as file, file:
        text = json.dumps(live, separators=(",", ":"))
        changed = file.execute("UPDATE state SET value = ? WHERE name = 'live'", (text,)).rowcount
    assert changed == 1


async def test_a_service_crawls_what_it_is_asked_for_and_stops_when_it_is_told_to(tmp_path: Path, serve: Serve):
    async with stage(tmp_path, TINY) as it, serve("--api-url", it.server.url, GHCRAWL_TOKENS=TOKEN) as served:
        await served.ask("POST", "/api/v1/requests", {"specs": ["acme"]})
        await served.until_done()
        assert await things(served) == set(it.expected())
        principals = await served.ask("GET", "/api/v1/principals")
        status = await served.ask("GET", "/api/v1/status")
        ran = await served.stop(signal.SIGTERM)
    assert (ran.status, ran.out) == (0, "")
    log = served.logged()
    assert [line["event"] for line in log[-2:]] == ["service_draining", "service_stopped"]
    assert log[-1]["finished"] is True
    assert status["figures"]["calls"]["total"] == it.server.journal.total
    for text in (served.log.read_text(), json.dumps(principals), json.dumps(status)):
        assert TOKEN not in text


async def test_what_is_in_hand_is_finished_and_what_waits_waits_for_the_next(tmp_path: Path, serve: Serve):
    slow = Faults([(1.0, Slow(0.3))])
    async with stage(tmp_path, TINY, faults=slow) as it:
        async with serve("--api-url", it.server.url, "--loops", "4", GHCRAWL_TOKENS=TOKEN) as served:
            await served.ask("POST", "/api/v1/requests", {"specs": ["acme"]})
            await served.holds("/api/v1/loops", lambda workers: workers["busy"] > 0)
            assert (await served.stop(signal.SIGTERM)).status == 0
        waiting, in_flight = left_in(tmp_path)
        assert (waiting > 0, in_flight) == (True, 0)
        it.server.faults = Faults()
        async with serve("--api-url", it.server.url, GHCRAWL_TOKENS=TOKEN) as served:
            await served.until_done()
            assert await things(served) == set(it.expected())


async def test_a_second_signal_ends_it_at_once_and_loses_nothing(tmp_path: Path, serve: Serve):
    slow = Faults([(1.0, Slow(30.0))])
    async with (
        stage(tmp_path, TINY, faults=slow) as it,
        serve("--api-url", it.server.url, GHCRAWL_TOKENS=TOKEN) as served,
    ):
        await served.ask("POST", "/api/v1/requests", {"specs": ["acme"]})
        await served.holds("/api/v1/loops", lambda workers: workers["busy"] > 0)
        served.running.send(signal.SIGTERM)
        await served.until("service_draining")
        assert (await served.probe("/readyz"))[0] == 503
        assert (await served.probe("/livez"))[0] == 200
        assert (await served.stop(signal.SIGTERM)).status == 128 + signal.SIGTERM
    assert sum(left_in(tmp_path)) >= 1


async def test_a_delivery_becomes_documents_without_a_call(tmp_path: Path, serve: Serve):
    async with stage(tmp_path, TINY) as it, serve("--api-url", it.server.url, GHCRAWL_TOKENS=TOKEN) as served:
        issue = {"id": 1, "number": 7, "url": f"{it.server.url}/repos/acme/web/issues/7", "title": "from a hook"}
        body = {"action": "labeled", "issue": {**issue, "updated_at": "2026-11-21T12:00:00Z"}, "sender": {"id": 3}}
        repository = {"id": 12, "name": "web", "full_name": "acme/web", "url": f"{it.server.url}/repos/acme/web"}
        raw = json.dumps({**body, "repository": repository}).encode()
        statuses = await asyncio.gather(*(served.deliver("issues", "delivery-1", raw) for _ in range(5)))
        assert statuses == [202] * 5
        await served.until_done()
        _, metrics = await served.probe("/metrics")
        assert 'ghcrawl_webhook_deliveries_total{event="issues",result="accepted"} 1.0' in metrics
        assert 'ghcrawl_webhook_deliveries_total{event="issues",result="duplicate"} 4.0' in metrics
        assert (await served.ask("GET", "/api/v1/deadletter-counts"))["total"] == 0
        counts = (await served.ask("GET", "/api/v1/document-counts"))["by_type"]
        assert counts["IssuesEvent"] == 1


async def test_settings_changed_elsewhere_take_effect_in_a_moment(tmp_path: Path, serve: Serve):
    async with (
        stage(tmp_path, TINY) as it,
        serve("--api-url", it.server.url, "--loops", "2", GHCRAWL_TOKENS=TOKEN) as served,
        shell(tmp_path) as sh,
    ):

        async def until(**wanted: object) -> None:
            await served.holds("/api/v1/loops", lambda workers: all(workers[each] == wanted[each] for each in wanted))

        await until(running=2)
        assert (await sh.run("config", "set", "crawl.loops", "5")).status == 0
        await until(running=5)
        left_by_a_newer_version(tmp_path, {"crawl.loops": 5, "crawl.newer_setting": 1})
        await served.until("live_setting_not_understood")
        await sh.run("config", "set", "crawl.paused", "true")
        await until(paused=True)
        await served.ask("PATCH", "/api/v1/settings", {"crawl.exclude": ["acme"], "log.level": "error"})
        await served.ask("POST", "/api/v1/requests", {"specs": ["acme"]})
        await served.ask("POST", "/api/v1/resume")
        await until(paused=False)
        assert (await sh.run("config", "set", "crawl.newer_setting", "--unset")).status == 0
        assert len([line for line in served.logged() if line["event"] == "live_setting_not_understood"]) == 1
        await served.until_done()
        assert it.server.journal.total == 0, "what may not be crawled was asked for"
        before = len(served.logged())
        await served.ask("POST", "/api/v1/requests", {"specs": ["acme/web"]})
        await served.until_done()
        assert len(served.logged()) == before, "only errors are logged now"


async def test_a_live_setting_that_wins_over_the_command_line_is_told(tmp_path: Path, serve: Serve):
    async with stage(tmp_path, TINY) as it:
        words = ("--api-url", it.server.url, "--loops", "2")
        async with serve(*words, GHCRAWL_TOKENS=TOKEN) as served:
            await served.ask("PATCH", "/api/v1/settings", {"crawl.loops": 6})
            assert not any(line["event"] == "live_setting_wins" for line in served.logged())
            await served.stop(signal.SIGTERM)
        async with serve(*words, GHCRAWL_TOKENS=TOKEN) as served:
            line = await served.until("live_setting_wins")
            assert (line["name"], line["live"], line["command_line"]) == ("crawl.loops", 6, 2)
            assert line["remove_with"] == "ghcrawl config set crawl.loops --unset"
            await served.stop(signal.SIGTERM)


async def test_new_secrets_are_good_as_soon_as_they_are_written(tmp_path: Path, serve: Serve):
    tokens, secrets = tmp_path / "tokens", tmp_path / "secrets"
    tokens.write_text("first-admin-token")
    secrets.write_text("another-secret")
    environ = {
        "GHCRAWL_ADMIN_TOKEN": "",
        "GHCRAWL_SERVICE__ADMIN_TOKENS_FILE": str(tokens),
        "GHCRAWL_WEBHOOK_SECRETS": "",
        "GHCRAWL_SERVICE__WEBHOOK_SECRETS_FILE": str(secrets),
    }
    async with serve(**environ) as served:
        await served.ask("GET", "/api/v1/loops", token="first-admin-token")
        assert await served.deliver("ping", "p", b"{}") == 401
        tokens.write_text("second-admin-token")
        secrets.write_text("another-secret\nwebhook-secret\n")
        await served.ask("GET", "/api/v1/loops", token="second-admin-token")
        assert await served.deliver("ping", "p", b"{}") == 200
        with pytest.raises(AssertionError, match="unknown token"):
            await served.ask("GET", "/api/v1/loops", token="first-admin-token")


async def test_nobody_is_never_asked_as_instead_of_somebody(tmp_path: Path, serve: Serve):
    tokens = tmp_path / "github-tokens"
    tokens.write_text("ghp_theFirstOne\n")
    async with serve(GHCRAWL_GITHUB__TOKENS_FILE=str(tokens)) as served:
        before = await served.ask("GET", "/config/tokens")
        tokens.write_text("")
        assert "contains no token" in (await served.until("tokens_refused"))["error"]
        for none in ("", "#private"):
            with pytest.raises(AssertionError, match='"status":422'):
                await served.ask("PUT", "/config/tokens", none)
        assert await served.ask("GET", "/config/tokens") == before
        tokens.write_text("ghp_theSecondOne\n")
        await served.until("tokens_read")
        assert await served.ask("GET", "/config/tokens") != before


async def test_what_it_cannot_begin_with_is_one_line(tmp_path: Path, serve: Serve):
    async with serve() as served, shell(tmp_path) as sh:
        port = served.url.rpartition(":")[2]
        taken = await sh.run("serve", "--port", port, "--metrics-port", "0", "--db", "other.db")
        same_file = await sh.run("serve", "--port", "0", "--metrics-port", "0")
        weak = await sh.run("serve", "--port", "0", "--db", "third.db", GHCRAWL_ADMIN_TOKEN="secret")
    assert (taken.status, same_file.status, weak.status) == (2, 2, 2)
    assert taken.err.splitlines()[-1].endswith(
        "(Address already in use); choose another host or port in section service"
    )
    assert "is being crawled by another process" in same_file.err
    assert "shorter than 8 characters" in weak.err
    assert all(ran.err.count("\n") == 1 for ran in (taken, same_file, weak)), [taken, same_file, weak]
