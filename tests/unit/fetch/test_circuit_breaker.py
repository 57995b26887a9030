"""A host that is out of reach costs no attempt; a request that fails on its own does."""

from __future__ import annotations

import asyncio
from datetime import timedelta
from typing import Any

import pytest
from aiohttp import web

from ghcrawl.fetch.circuit_breaker import CircuitBreaker, refusal
from ghcrawl.values.errors import FetchError
from ghcrawl.values.outcome import Fetched, Throttled
from tests.support.builders import NOW, a_request, at
from tests.support.clock import FakeClock
from tests.support.scripted import ScriptedFetcher, a_body

API = "https://api.example.test"
URL = a_request().url
SILENCE = FetchError("no answer from GET", url=URL)
BROKEN = FetchError("it broke", url=URL, status=503)


class Line:
    """The network: why no connection is taken, and whom one was tried to."""

    def __init__(self, reason: str = "") -> None:
        self.reason = reason
        self.tried: list[tuple[str, int]] = []

    async def connect(self, host: str, port: int) -> str:
        self.tried.append((host, port))
        return self.reason


def a_reach(line: Line, *answers: Any, url: str = API) -> tuple[CircuitBreaker, ScriptedFetcher, FakeClock]:
    clock, fetcher = FakeClock(), ScriptedFetcher({URL: list(answers)})
    return CircuitBreaker(fetcher, url, clock, connect=line.connect), fetcher, clock


async def ask(reach: CircuitBreaker) -> Any:
    return await reach.fetch(a_request(), None)


async def test_an_answer_is_passed_on() -> None:
    reach, _, _ = a_reach(Line(), a_body([]))
    assert isinstance(await ask(reach), Fetched)
    assert reach.blocked_until() is None
    assert reach.outage is None


async def test_a_failure_of_a_host_that_takes_connections_is_the_requests_own() -> None:
    line = Line()
    reach, _, _ = a_reach(line, a_body([]), SILENCE)
    await ask(reach)
    with pytest.raises(FetchError):
        await ask(reach)
    assert reach.outage is None
    assert line.tried == [("api.example.test", 443)]


async def test_an_answer_that_says_it_broke_is_an_answer() -> None:
    line = Line("connection refused")
    reach, _, _ = a_reach(line, BROKEN)
    with pytest.raises(FetchError):
        await ask(reach)
    assert not line.tried
    assert reach.outage is None


async def test_while_the_host_takes_no_connection_requests_are_put_off_without_a_call() -> None:
    reach, fetcher, _ = a_reach(Line("connection refused"), a_body([]), SILENCE)
    await ask(reach)
    assert await ask(reach) == Throttled(until=at(2), reason="unreachable")
    assert await ask(reach) == Throttled(until=at(2), reason="unreachable")
    assert reach.blocked_until() == at(2)
    assert len(fetcher.asked) == 2
    assert reach.outage is not None
    assert (reach.outage.reason, reach.outage.heard, reach.outage.since) == ("connection refused", True, NOW)


async def test_until_a_first_answer_came_every_silence_is_an_outage() -> None:
    reach, _, _ = a_reach(Line(), SILENCE)
    assert await ask(reach) == Throttled(until=at(2), reason="unreachable")
    assert reach.outage is not None
    assert not reach.outage.heard
    assert reach.outage.reason == "no answer from GET"


async def test_it_is_tried_again_ever_more_rarely() -> None:
    reach, _, clock = a_reach(Line("down"), SILENCE)
    waits = []
    for _ in range(6):
        throttled = await ask(reach)
        waits.append((throttled.until - clock.now()).total_seconds())
        clock.advance(waits[-1])
    assert waits == [2, 4, 8, 16, 30, 30]
    assert reach.outage is not None
    assert reach.outage.failures == 6
    assert reach.outage.since == NOW


async def test_the_first_answer_ends_it() -> None:
    reach, _, clock = a_reach(Line("down"), SILENCE, a_body([]))
    await ask(reach)
    clock.advance(2)
    assert reach.blocked_until() is None
    assert isinstance(await ask(reach), Fetched)
    assert reach.outage is None


async def test_one_request_alone_finds_out() -> None:
    asked = asyncio.Event()
    goes_on = asyncio.Event()

    async def slow(_: Any) -> Fetched:
        asked.set()
        await goes_on.wait()
        return a_body([])

    reach, fetcher, clock = a_reach(Line("down"), SILENCE, slow)
    await ask(reach)
    clock.advance(2)
    probe = asyncio.create_task(ask(reach))
    await asked.wait()
    assert await ask(reach) == Throttled(until=at(3), reason="unreachable")
    assert reach.blocked_until() == at(3)
    goes_on.set()
    assert isinstance(await probe, Fetched)
    assert reach.blocked_until() is None
    assert len(fetcher.asked) == 2


async def test_many_calls_that_fail_together_are_one_outage() -> None:
    reach, _, _ = a_reach(Line("down"), SILENCE)
    found = await asyncio.gather(*(ask(reach) for _ in range(20)))
    assert {answer.until for answer in found} == {at(2)}
    assert reach.outage is not None
    assert reach.outage.failures == 1


async def test_waiting_for_quota_is_no_answer_and_the_longer_wait_holds() -> None:
    reach, fetcher, _ = a_reach(Line("down"), Throttled(until=at(9), reason="primary"), SILENCE)
    assert await ask(reach) == Throttled(until=at(9), reason="primary")
    await ask(reach)
    fetcher.blocked = NOW + timedelta(seconds=60)
    assert reach.blocked_until() == at(60)
    fetcher.blocked = at(1)
    assert reach.blocked_until() == at(2)


async def test_what_nobody_may_ask_for_waits_for_a_moment_only() -> None:
    reach, fetcher, _ = a_reach(Line(), Throttled(until=at(3600), reason="no_principal"))
    assert await ask(reach) == Throttled(until=at(3600), reason="no_principal"), "somebody else may ask meanwhile"
    fetcher.blocked = at(3600)
    assert await ask(reach) == Throttled(until=at(5), reason="no_principal")
    fetcher.answers[URL] = Throttled(until=at(1), reason="primary")
    assert await ask(reach) == Throttled(until=at(1), reason="primary")


@pytest.mark.parametrize(
    ("url", "address"),
    [
        ("http://127.0.0.1:8080/api/v3", ("127.0.0.1", 8080)),
        ("http://ghe.example.test", ("ghe.example.test", 80)),
        ("https://ghe.example.test", ("ghe.example.test", 443)),
    ],
)
async def test_the_connection_is_made_where_the_api_is(url: str, address: tuple[str, int]) -> None:
    line = Line("down")
    reach, _, _ = a_reach(line, SILENCE, url=url)
    await ask(reach)
    assert line.tried == [address]


async def test_a_port_where_somebody_listens_takes_a_connection() -> None:
    async def answer(_: web.BaseRequest) -> web.Response:
        return web.Response()

    runner = web.ServerRunner(web.Server(answer))
    await runner.setup()
    site = web.TCPSite(runner, "127.0.0.1", 0)
    await site.start()
    port = runner.addresses[0][1]
    assert await refusal("127.0.0.1", port) == ""
    await runner.cleanup()
    assert await refusal("127.0.0.1", port) == "connection refused"
