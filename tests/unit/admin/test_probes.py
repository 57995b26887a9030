"""Probes: alive unless starting anew would help, ready unless traffic should go elsewhere, and why."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

from aiohttp import ClientSession
from aiohttp.test_utils import TestServer
from prometheus_client import CollectorRegistry
from structlog.testing import capture_logs

from ghcrawl.admin import probes
from ghcrawl.admin.probes import Probed, application
from ghcrawl.admin.write_check import WriteCheck
from ghcrawl.ports.queue import Depth
from ghcrawl.ports.source import PrincipalView
from ghcrawl.telemetry.service_metrics import MAX_EVENTS, ServiceMetrics
from ghcrawl.values.errors import QueueError, StoreError
from ghcrawl.values.frozen import replace
from ghcrawl.values.lanes import Lane
from queues.memory import MemoryQueue
from stores.memory import MemoryStore
from tests.support.builders import NOW, at
from tests.unit.admin.conftest import Answered, Rig


@asynccontextmanager
async def probing(rig: Rig, **over: Any) -> AsyncIterator[Any]:
    """Asks the probes of a service."""
    probed = Probed(
        queue=rig.queue,
        writes=writing(rig, rig.store),
        clock=rig.clock,
        registry=CollectorRegistry(),
        workers=lambda: rig.workers,
        last_turn=lambda: NOW,
        timeout_s=lambda: 600.0,
        refresh=nothing,
    )
    server = TestServer(application(replace(probed, **over)))
    await server.start_server()
    async with ClientSession() as session:

        async def ask(path: str) -> Answered:
            return await Answered.of(await session.get(server.make_url(path)))

        yield ask
    await server.close()


async def nothing() -> None:
    pass


def writing(rig: Rig, store: MemoryStore) -> WriteCheck:
    return WriteCheck(store, rig.clock, failed=lambda _: None, worked=lambda: None)


async def test_a_service_that_is_well_passes_both(rig: Rig):
    async with probing(rig) as ask:
        live, ready = await ask("/livez"), await ask("/readyz")
    assert (live.status, live.json) == (200, {"status": "pass", "checks": {"loops": "pass"}})
    assert ready.json["checks"] == {"draining": "pass", "queue": "pass", "store": "pass", "crawl": "pass"}


async def test_loops_that_never_come_round_are_helped_by_starting_anew(rig: Rig):
    rig.clock.advance(600 + probes.STALL_MARGIN_S)
    async with probing(rig) as ask:
        assert (await ask("/livez")).status == 200
        rig.clock.advance(1)
        stalled = await ask("/livez")
        assert (stalled.status, stalled.json["checks"]["loops"]) == (503, "no worker has made progress for 661 s")
        for reason in ({"paused": True}, {"draining": True}, {"wanted": 0}):
            rig.workers = replace(Rig().workers, **reason)
            assert (await ask("/livez")).status == 200, reason


class AwayQueue(MemoryQueue):
    async def depths(self) -> Any:
        raise QueueError("the broker is away")


class AwayStore(MemoryStore):
    """Answers reads, and takes no write: a locked file, a full disk, a secondary."""

    away = True

    async def write_state(self, name: str, value: Any) -> None:
        if self.away:
            raise StoreError("the database is away")
        await super().write_state(name, value)


class SilentStore(MemoryStore):
    def __init__(self) -> None:
        super().__init__()
        self.answers = asyncio.Event()

    async def write_state(self, name: str, value: Any) -> None:
        await self.answers.wait()
        await super().write_state(name, value)


async def test_traffic_goes_elsewhere_while_nothing_can_be_made_durable_and_starting_anew_helps_nobody(rig: Rig):
    async with probing(rig, queue=AwayQueue(rig.clock), writes=writing(rig, AwayStore())) as ask:
        ready, live = await ask("/readyz"), await ask("/livez")
    assert (ready.status, live.status) == (503, 200)
    assert ready.json["checks"]["queue"] == "the broker is away"
    assert ready.json["checks"]["store"] == "the database is away"


class Broker:
    blocked = False

    async def answer(self) -> None:
        pass


async def test_a_broker_judges_the_queue_by_itself_and_takes_nothing_while_it_is_blocked(rig: Rig):
    broker = Broker()
    async with probing(rig, queue=AwayQueue(rig.clock), broker=broker) as ask:
        assert (await ask("/readyz")).status == 200
        broker.blocked = True
        blocked = await ask("/readyz")
    assert (blocked.status, blocked.json["checks"]["store"]) == (503, "pass")
    assert blocked.json["checks"]["queue"] == "the broker blocks publishing: it is short of memory or disk"


async def test_a_store_that_does_not_answer_is_a_store_that_is_away(rig: Rig, monkeypatch: Any):
    monkeypatch.setattr(probes, "CHECK_S", 0.02)
    silent = SilentStore()
    async with probing(rig, writes=writing(rig, silent)) as ask:
        ready = await ask("/readyz")
        assert (ready.status, ready.json["checks"]["store"]) == (503, "no answer to a write within 0.02 s")
        monkeypatch.setattr(probes, "CHECK_S", 4.0)
        silent.answers.set()
        assert (await ask("/readyz")).status == 200


async def test_each_result_of_a_write_is_told_and_the_log_has_the_reason_once(rig: Rig):
    store, told = AwayStore(), list[str]()
    check = WriteCheck(store, rig.clock, failed=lambda error: told.append(str(error)), worked=lambda: told.append(""))
    with capture_logs() as logged:
        assert [await check.why_not(within_s=1) for _ in range(3)] == ["the database is away"] * 3
        rig.clock.advance(97)
        store.away = False
        assert await check.why_not(within_s=1) == ""
    assert told == [*["the database is away"] * 3, ""]
    assert [(line["event"], line.get("error"), line.get("after_s")) for line in logged] == [
        ("store_not_writable", "the database is away", None),
        ("store_writable_again", None, 97.0),
    ]


async def test_traffic_goes_elsewhere_while_this_process_stops(rig: Rig):
    rig.workers = replace(rig.workers, draining=True, trouble="the disk is full")
    async with probing(rig) as ask:
        ready = await ask("/readyz")
    assert ready.json["status"] == "fail"
    assert ready.json["checks"]["draining"] == "the process is draining"
    assert ready.json["checks"]["crawl"] == "the disk is full"


async def test_what_failed_before_a_pause_does_not_keep_traffic_away_for_all_of_it(rig: Rig):
    async with probing(rig) as ask:
        rig.workers = replace(rig.workers, trouble="the broker is away")
        assert (await ask("/readyz")).status == 503
        for idle in ({"paused": True}, {"wanted": 0}):
            rig.workers = replace(Rig().workers, trouble="the broker is away", **idle)
            assert (await ask("/readyz")).status == 200, idle


async def test_metrics_are_made_current_before_they_are_shown(rig: Rig):
    registry = CollectorRegistry()
    metrics = ServiceMetrics(registry)

    async def refresh() -> None:
        soon = Depth(ready=3, delayed=2, in_flight=1, oldest_at=NOW)
        metrics.depths({Lane("mine", "soon"): soon, Lane("typed by hand", "later"): Depth(ready=7)}, ["mine"])
        metrics.deadletters({"mine": {"Malformed": 4}, "once": {"Malformed": 1}, "twice": {"Malformed": 2}}, ["mine"])

    async with probing(rig, registry=registry, refresh=refresh) as ask:
        answer = await ask("/metrics")
    assert answer.headers["Content-Type"] == "text/plain; version=0.0.4; charset=utf-8"
    assert 'ghcrawl_queue_requests{platform="mine",queue="soon",state="delayed"} 2.0' in answer.text
    assert 'ghcrawl_queue_requests{platform="not_mounted",queue="later",state="ready"} 7.0' in answer.text
    assert "typed by hand" not in answer.text
    assert 'ghcrawl_deadletters{class="Malformed",platform="mine"} 4.0' in answer.text
    assert 'ghcrawl_deadletters{class="Malformed",platform="not_mounted"} 3.0' in answer.text
    assert 'ghcrawl_queue_oldest_timestamp_seconds{platform="mine",queue="soon"} 1.7' in answer.text
    assert 'ghcrawl_queue_oldest_timestamp_seconds{platform="mine",queue="later"}' not in answer.text
    assert "_created" not in answer.text


def test_what_is_gone_is_no_longer_shown_and_strangers_cannot_make_labels():
    registry = CollectorRegistry()
    metrics = ServiceMetrics(registry)
    metrics.deadletters({"mine": {"Malformed": 4, "http_503": 1}}, ["mine"])
    metrics.deadletters({"mine": {"http_503": 2}}, ["mine"])
    assert registry.get_sample_value("ghcrawl_deadletters", {"platform": "mine", "class": "Malformed"}) is None
    assert registry.get_sample_value("ghcrawl_deadletters", {"platform": "mine", "class": "http_503"}) == 2
    for number in range(MAX_EVENTS + 50):
        metrics.delivered(f"event_{number}", "accepted")
    labels = {"event": "other", "result": "accepted"}
    assert registry.get_sample_value("ghcrawl_webhook_deliveries_total", labels) == 50


def test_what_deliveries_come_to_is_counted_from_zero_whatever_they_tell_of():
    registry = CollectorRegistry()
    metrics = ServiceMetrics(registry)
    metrics.expect(("accepted", "unavailable"))
    for event in ("push", "issues"):
        metrics.delivered(event, "accepted")
    value = registry.get_sample_value
    assert value("ghcrawl_webhook_answers_total", {"result": "unavailable"}) == 0
    assert value("ghcrawl_webhook_answers_total", {"result": "accepted"}) == 2


async def test_phases_sizes_and_loops_are_told():
    registry = CollectorRegistry()
    metrics = ServiceMetrics(registry)
    metrics.measure.phase("settle", 0.5)
    metrics.measure.document(2_000)
    metrics.workers(running=2, busy=1, wanted=3, restarts=4, paused=True)
    spent = PrincipalView(id="a", label="a", platform="mine", benched_until=at(0))
    refused = PrincipalView(id="b", label="b", platform="mine", retired="401")
    metrics.principals([spent, replace(spent, label="the same budget"), refused, refused], ["mine", "yours"])
    metrics.blocked({"mine": at(0), "yours": None})
    metrics.reachable("queue", answers=False)
    for count in (2, 2, 5):
        metrics.outages("queue", count)
    value = registry.get_sample_value
    assert value("ghcrawl_phase_seconds_sum", {"phase": "settle"}) == 0.5
    assert value("ghcrawl_document_bytes_sum") == 2_000
    assert value("ghcrawl_loops", {"state": "wanted"}) == 3
    assert (value("ghcrawl_loop_restarts_total"), value("ghcrawl_paused")) == (4, 1)
    for platform, expected in (("mine", (1, 2)), ("yours", (0, 0))):
        names = ("ghcrawl_principals_benched", "ghcrawl_principals_retired")
        assert tuple(value(name, {"platform": platform}) for name in names) == expected
    assert value("ghcrawl_blocked_until_timestamp_seconds", {"platform": "mine"}) == NOW.timestamp()
    assert value("ghcrawl_blocked_until_timestamp_seconds", {"platform": "yours"}) == 0
    assert value("ghcrawl_reachable", {"port": "queue"}) == 0
    assert value("ghcrawl_outages_total", {"port": "queue"}) == 5
