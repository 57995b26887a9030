"""Being told to stop, and never having to be."""

from __future__ import annotations

import asyncio
from datetime import UTC, datetime, timedelta
from email.utils import format_datetime
from typing import Any

import pytest
from structlog.testing import capture_logs

from ghcrawl.fetch.budgets import DeclaredBudget
from ghcrawl.fetch.github.fetcher import GitHubFetcher
from ghcrawl.values.errors import FetchError
from ghcrawl.values.outcome import Fetched, Throttled
from tests.support.builders import NOW, a_request, at
from tests.support.clock import FakeClock
from tests.unit.fetch.conftest import Start
from tests.unit.fetch.scripted import (
    HANG_UP,
    Handler,
    Hit,
    Reply,
    Scripted,
    StandingClock,
    Watching,
    no,
    ok,
    quota,
    until,
)

PATH = "/repos/acme/web/issues/1"
RESET = datetime.fromtimestamp(int(NOW.timestamp()) + 3600, UTC)
EXCEEDED = "API rate limit exceeded for user ID 1."
SECONDARY = "You have exceeded a secondary rate limit. Please wait a few minutes before you try again."


async def fetched(start: Start, server: Scripted, *lines: Any, **settings: Any) -> Any:
    url = server.script(PATH, *lines)
    fetcher = await start(**settings)
    return fetcher, await fetcher.fetch(a_request(url=url), None)


@pytest.mark.parametrize("status", [403, 429])
async def test_a_primary_limit_waits_for_the_reset_and_a_second(
    start: Start, server: Scripted, watching: Watching, status: int
) -> None:
    reply = Reply(status=status, body={"message": EXCEEDED}, headers=quota(0))
    fetcher, answer = await fetched(start, server, reply)
    assert isinstance(answer, Throttled)
    assert answer.reason == "primary"
    assert RESET + timedelta(seconds=1) <= answer.until <= RESET + timedelta(seconds=2)
    assert fetcher.blocked_until() == answer.until
    assert [(call.status, call.throttle) for call in watching.calls] == [(status, "primary")]


async def test_while_nobody_has_quota_nothing_is_asked(start: Start, server: Scripted) -> None:
    fetcher, _ = await fetched(start, server, Reply(status=403, body={"message": EXCEEDED}, headers=quota(0)))
    for number in range(5):
        assert isinstance(await fetcher.fetch(a_request(number, url=server.url + PATH), None), Throttled)
    assert len(server.hits) == 1


async def test_after_the_reset_work_goes_on(start: Start, server: Scripted, clock: FakeClock) -> None:
    reply = Reply(status=403, body={"message": EXCEEDED}, headers=quota(0))
    fetcher, answer = await fetched(start, server, reply, ok())
    clock.advance((answer.until - NOW).total_seconds())
    assert fetcher.blocked_until() is None
    assert isinstance(await fetcher.fetch(a_request(url=server.url + PATH), None), Fetched)


async def test_a_spent_reserve_stops_us_before_the_server_does(start: Start, server: Scripted) -> None:
    fetcher, answer = await fetched(start, server, Reply(body={}, headers=quota(3, limit=60)))
    assert isinstance(answer, Fetched)
    put_off = await fetcher.fetch(a_request(url=server.url + PATH), None)
    assert isinstance(put_off, Throttled)
    assert put_off.reason == "budget"
    assert fetcher.blocked_until() == put_off.until
    assert len(server.hits) == 1


@pytest.mark.parametrize("status", [403, 429])
async def test_a_secondary_limit_waits_as_long_as_it_says(
    start: Start, server: Scripted, watching: Watching, status: int
) -> None:
    fetcher, answer = await fetched(start, server, no(status, SECONDARY, Retry_After="77"))
    assert answer == Throttled(until=at(77), reason="secondary")
    assert fetcher.blocked_until() == at(77)
    assert watching.calls[0].throttle == "secondary"


async def test_the_wait_may_be_said_as_a_date_of_the_servers_clock(start: Start, server: Scripted) -> None:
    server.skew = timedelta(minutes=10)
    date = format_datetime(at(600 + 90), usegmt=True)
    _, answer = await fetched(start, server, no(403, SECONDARY, Retry_After=date))
    assert isinstance(answer, Throttled)
    assert abs((answer.until - at(90)).total_seconds()) <= 1


async def test_a_secondary_limit_without_advice_waits_a_minute_then_longer(
    start: Start, server: Scripted, clock: FakeClock
) -> None:
    fetcher, first = await fetched(start, server, no(403, SECONDARY))
    assert first == Throttled(until=at(60), reason="secondary")
    clock.advance(60)
    second = await fetcher.fetch(a_request(url=server.url + PATH), None)
    assert second == Throttled(until=at(60 + 120), reason="secondary")


async def test_a_success_forgives_earlier_secondary_limits(start: Start, server: Scripted, clock: FakeClock) -> None:
    fetcher, _ = await fetched(start, server, no(403, SECONDARY), ok(), no(403, SECONDARY))
    clock.advance(60)
    assert isinstance(await fetcher.fetch(a_request(url=server.url + PATH), None), Fetched)
    answer = await fetcher.fetch(a_request(url=server.url + PATH), None)
    assert answer == Throttled(until=at(60 + 60), reason="secondary")


async def test_a_secondary_limit_with_nothing_remaining_waits_for_the_reset(start: Start, server: Scripted) -> None:
    reply = Reply(status=403, body={"message": SECONDARY}, headers=quota(0))
    _, answer = await fetched(start, server, reply)
    assert isinstance(answer, Throttled)
    assert answer.until > RESET


@pytest.mark.parametrize(
    "reply",
    [
        no(403, "You have triggered an abuse detection mechanism."),
        no(429, "Too many requests"),
        no(429),
        no(403, "whatever", Retry_After="60"),
        no(403, "whatever", gh_limited_by="search-elapsed-time-shared-grouped"),
    ],
)
async def test_every_form_of_a_secondary_limit_is_known(start: Start, server: Scripted, reply: Reply) -> None:
    _, answer = await fetched(start, server, reply)
    assert isinstance(answer, Throttled)
    assert answer.reason == "secondary"


async def test_a_longer_bench_is_not_shortened_by_a_shorter_one(
    start: Start, server: Scripted, clock: FakeClock
) -> None:
    """Two answers in flight: the first asks for an hour, the second for a second."""
    url = server.script(PATH, ok())
    fetcher = await start(concurrency=2)
    await fetcher.fetch(a_request(url=url), None)
    both = asyncio.Barrier(2)

    def told(seconds: str) -> Handler:
        async def answer(_: Hit) -> Reply:
            await both.wait()
            return no(403, SECONDARY, Retry_After=seconds)

        return answer

    server.script("/long", told("3600"))
    server.script("/short", told("1"))
    await asyncio.gather(
        fetcher.fetch(a_request(url=f"{server.url}/long"), None),
        fetcher.fetch(a_request(url=f"{server.url}/short"), None),
    )
    assert fetcher.blocked_until() == at(3600)


async def test_a_limit_of_one_resource_leaves_the_others_alone(start: Start, server: Scripted) -> None:
    searched = "/search/issues?q=x"
    spent = Reply(status=403, body={"message": EXCEEDED}, headers=quota(0, resource="search", resets_in_s=60))
    server.script(searched, spent)
    fetcher, _ = await fetched(start, server, ok())
    assert isinstance(await fetcher.fetch(a_request(type="search", url=server.url + searched), None), Throttled)
    assert fetcher.blocked_until() is None
    assert isinstance(await fetcher.fetch(a_request(url=server.url + PATH), None), Fetched)


async def test_a_resource_that_only_the_answer_names_is_learned_for_its_type(start: Start, server: Scripted) -> None:
    path = "/repos/acme/web/dependency-graph/sbom"
    spent = Reply(status=403, body={"message": EXCEEDED}, headers=quota(0, resource="dependency_sbom"))
    url = server.script(path, spent)
    fetcher = await start()
    for _ in range(3):
        answer = await fetcher.fetch(a_request(type="sbom", url=url), None)
        assert isinstance(answer, Throttled)
        assert answer.until > at(3600)
    assert len(server.hits) == 1


async def test_the_next_principal_is_asked_at_once_when_the_first_is_told_to_stop(
    start: Start, server: Scripted
) -> None:
    def first_come(hit: Hit) -> Reply:
        stopped.setdefault("token", hit.token)
        return no(403, SECONDARY) if hit.token == stopped["token"] else ok()

    stopped: dict[str, str] = {}
    fetcher, answer = await fetched(start, server, first_come, tokens="token-aaaa;token-bbbb")
    assert isinstance(answer, Fetched)
    assert fetcher.blocked_until() is None
    assert {hit.token for hit in server.hits} == {"token-aaaa", "token-bbbb"}


@pytest.mark.parametrize(
    "headers",
    [
        {"x-ratelimit-limit": "many"},
        {"x-ratelimit-limit": "60"},
        {**quota(), "x-ratelimit-remaining": "-1"},
        {**quota(), "x-ratelimit-reset": "99999999999999999"},
        {**quota(), "x-ratelimit-reset": "soon"},
    ],
)
async def test_nonsense_about_a_budget_is_no_report(start: Start, server: Scripted, headers: dict[str, str]) -> None:
    _, answer = await fetched(start, server, Reply(body={}, headers=headers))
    assert isinstance(answer, Fetched)


@pytest.mark.parametrize("wait", ["99999999999999999999", "Fri, 31 Dec 9999 23:59:59 GMT"])
async def test_no_advice_stops_us_for_more_than_a_day(start: Start, server: Scripted, wait: str) -> None:
    _, answer = await fetched(start, server, no(403, SECONDARY, Retry_After=wait))
    assert answer == Throttled(until=at(86_400), reason="secondary")


async def test_a_throttle_is_logged_with_its_principal_and_no_token(start: Start, server: Scripted) -> None:
    with capture_logs() as logs:
        await fetched(start, server, no(403, SECONDARY))
    (line,) = logs
    assert line["event"] == "principal_throttled"
    assert line["limit"] == "secondary"
    assert "token-aaaa" not in repr(line)


async def waiting_for_turns(fetcher: GitHubFetcher, number: int) -> None:
    """Return once `number` fetches wait in the first principal's limiter."""
    limiter = fetcher._pool._slots[0].limiter
    await until(lambda: len(limiter._waiters) == number)


class TestWaitingForATurn:
    """With a clock that stands, so that only answers move things."""

    @pytest.fixture
    def clock(self) -> StandingClock:
        return StandingClock()

    @staticmethod
    def held(server: Scripted, path: str, reply: Reply) -> tuple[asyncio.Event, asyncio.Event]:
        """A script that answers when told to. Returns what tells it, and what tells us that it was asked."""
        go, asked = asyncio.Event(), asyncio.Event()

        async def answer(_: Hit) -> Reply:
            asked.set()
            await go.wait()
            return reply

        server.script(path, answer)
        return go, asked

    async def test_a_burst_at_the_start_makes_one_call_until_the_first_answer(
        self, start: Start, server: Scripted
    ) -> None:
        go, asked = self.held(server, PATH, ok())
        fetcher = await start()
        burst = [asyncio.create_task(fetcher.fetch(a_request(url=server.url + PATH), None)) for _ in range(6)]
        await asked.wait()
        await waiting_for_turns(fetcher, 5)
        assert len(server.hits) == 1
        go.set()
        answers = await asyncio.gather(*burst)
        assert all(isinstance(answer, Fetched) for answer in answers)

    async def test_a_burst_stops_at_what_the_first_answer_reports(self, start: Start, server: Scripted) -> None:
        remaining = iter([4, 3, 2, 1, 0])
        server.script(PATH, lambda _: Reply(body={}, headers=quota(next(remaining), limit=10)))
        fetcher = await start(reserve=0.0)
        burst = [asyncio.create_task(fetcher.fetch(a_request(url=server.url + PATH), None)) for _ in range(20)]
        answers = await asyncio.gather(*burst)
        assert sum(isinstance(answer, Fetched) for answer in answers) == 5
        assert {answer.reason for answer in answers if isinstance(answer, Throttled)} == {"budget"}

    async def test_concurrency_is_bounded_and_whoever_waits_goes_on_when_an_answer_comes(
        self, start: Start, server: Scripted
    ) -> None:
        server.script("/first", ok())
        go, asked = self.held(server, PATH, ok())
        fetcher = await start(concurrency=2)
        await fetcher.fetch(a_request(url=f"{server.url}/first"), None)
        tasks = [asyncio.create_task(fetcher.fetch(a_request(url=server.url + PATH), None)) for _ in range(5)]
        await waiting_for_turns(fetcher, 3)
        await asked.wait()
        assert fetcher.principals()[0].in_flight == 2
        go.set()
        assert all(isinstance(answer, Fetched) for answer in await asyncio.gather(*tasks))
        assert fetcher.principals()[0].in_flight == 0

    async def test_nobody_waits_longer_than_a_moment(self, start: Start, server: Scripted, clock: FakeClock) -> None:
        go, asked = self.held(server, PATH, ok())
        fetcher = await start(patience_s=1.0)
        first = asyncio.create_task(fetcher.fetch(a_request(url=server.url + PATH), None))
        await asked.wait()
        others = [asyncio.create_task(fetcher.fetch(a_request(url=server.url + PATH), None)) for _ in range(3)]
        await waiting_for_turns(fetcher, 3)
        clock.advance(1.0)
        answers = await asyncio.gather(*others)
        assert [answer.reason for answer in answers] == ["busy"] * 3
        assert len({answer.until for answer in answers}) == 3
        assert all(at(1) < answer.until <= at(32) for answer in answers)
        go.set()
        assert isinstance(await first, Fetched)

    async def test_a_bench_lets_go_of_all_who_wait(self, start: Start, server: Scripted) -> None:
        go, asked = self.held(server, PATH, no(403, SECONDARY))
        fetcher = await start()
        tasks = [asyncio.create_task(fetcher.fetch(a_request(url=server.url + PATH), None)) for _ in range(10)]
        await asked.wait()
        go.set()
        answers = await asyncio.gather(*tasks)
        assert set(answers) == {Throttled(until=at(60), reason="secondary")}
        assert len(server.hits) == 1

    async def test_a_refusal_lets_go_of_all_who_wait_for_that_token(self, start: Start, server: Scripted) -> None:
        go, asked = self.held(server, PATH, no(401, "Bad credentials"))
        fetcher = await start()
        tasks = [asyncio.create_task(fetcher.fetch(a_request(url=server.url + PATH), None)) for _ in range(10)]
        await asked.wait()
        await waiting_for_turns(fetcher, 9)
        go.set()
        answers = await asyncio.gather(*tasks)
        assert set(answers) == {Throttled(until=at(3600), reason="no_principal")}
        assert len(server.hits) == 1
        assert fetcher.principals()[0].in_flight == 0

    async def test_who_stops_waiting_leaves_nothing_behind(self, start: Start, server: Scripted) -> None:
        go, asked = self.held(server, PATH, ok())
        fetcher = await start()
        first = asyncio.create_task(fetcher.fetch(a_request(url=server.url + PATH), None))
        await asked.wait()
        waiting = asyncio.create_task(fetcher.fetch(a_request(url=server.url + PATH), None))
        await waiting_for_turns(fetcher, 1)
        waiting.cancel()
        go.set()
        await first
        await asyncio.gather(waiting, return_exceptions=True)
        assert fetcher.principals()[0].in_flight == 0
        assert len(server.hits) == 1

    async def test_who_is_cancelled_with_the_turn_in_hand_gives_it_back(self, start: Start) -> None:
        fetcher = await start(concurrency=1)
        limiter = fetcher._pool._slots[0].limiter
        assert await limiter.take("core") is None
        waiting = asyncio.create_task(limiter.take("core"))
        await asyncio.sleep(0)
        limiter.cancel("core")  # the turn is given, and before its owner can run
        waiting.cancel()
        with pytest.raises(asyncio.CancelledError):
            await waiting
        assert limiter.limits.in_flight == 0

    async def test_a_cancelled_call_is_reckoned_as_charged(
        self, start: Start, server: Scripted, watching: Watching
    ) -> None:
        server.script("/first", Reply(body={}, headers=quota(100, limit=100)))
        _, asked = self.held(server, PATH, ok())
        fetcher = await start()
        await fetcher.fetch(a_request(url=f"{server.url}/first"), None)
        task = asyncio.create_task(fetcher.fetch(a_request(url=server.url + PATH), None))
        await asked.wait()
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)
        assert fetcher.principals()[0].budgets[0].remaining == 99
        assert fetcher.principals()[0].in_flight == 0
        assert [call.status for call in watching.calls] == [200, 0]

    async def test_closing_lets_go_of_all_who_wait(self, start: Start, server: Scripted) -> None:
        go, asked = self.held(server, PATH, ok())
        fetcher = await start()
        first = asyncio.create_task(fetcher.fetch(a_request(url=server.url + PATH), None))
        await asked.wait()
        waiting = asyncio.create_task(fetcher.fetch(a_request(url=server.url + PATH), None))
        await waiting_for_turns(fetcher, 1)
        await fetcher._pool.close()
        assert isinstance(await waiting, Throttled)
        go.set()
        await first

    async def test_a_declared_budget_is_kept_where_the_server_reports_none(
        self, start: Start, server: Scripted, clock: FakeClock
    ) -> None:
        server.script(PATH, Reply(body={}))
        fetcher = await start(budgets=(DeclaredBudget(calls=5, period_s=10.0),))
        answers = [await fetcher.fetch(a_request(url=server.url + PATH), None) for _ in range(8)]
        assert [type(answer) for answer in answers] == [Fetched] * 5 + [Throttled] * 3
        assert fetcher.blocked_until() == at(10)
        clock.advance(10)
        assert isinstance(await fetcher.fetch(a_request(url=server.url + PATH), None), Fetched)

    async def test_a_budget_declared_for_the_host_is_shared_by_all(self, start: Start, server: Scripted) -> None:
        server.script(PATH, Reply(body={}))
        fetcher = await start("token-aaaa;token-bbbb", budgets=(DeclaredBudget(calls=5, period_s=10.0, per="address"),))
        answers = [await fetcher.fetch(a_request(url=server.url + PATH), None) for _ in range(8)]
        assert [type(answer) for answer in answers] == [Fetched] * 5 + [Throttled] * 3

    async def test_response_time_is_summed_and_bounded(self, start: Start, server: Scripted, clock: FakeClock) -> None:
        def slow(_: Hit) -> Reply:
            clock.advance(20.0)
            return Reply(body={}, headers=quota(4000))

        server.script(PATH, slow)
        fetcher = await start(response_s_per_min=60.0)
        for _ in range(3):
            assert isinstance(await fetcher.fetch(a_request(url=server.url + PATH), None), Fetched)
        answer = await fetcher.fetch(a_request(url=server.url + PATH), None)
        assert isinstance(answer, Throttled)
        assert fetcher.blocked_until() is not None


async def test_a_failure_without_an_answer_is_no_throttle(start: Start, server: Scripted) -> None:
    url = server.script(PATH, HANG_UP)
    fetcher = await start()
    with pytest.raises(FetchError):
        await fetcher.fetch(a_request(url=url), None)
    assert fetcher.blocked_until() is None
