"""The parts of the RabbitMQ queue that need no RabbitMQ."""

from __future__ import annotations

import asyncio
import zlib
from datetime import timedelta
from typing import Any

import pytest

from ghcrawl.values.errors import DecodeError, QueueError, StoreError
from ghcrawl.values.lanes import Lane, QueueName
from ghcrawl.values.type_names import LEGACY_PLATFORM
from queues.amqp.buffers import Buffers
from queues.amqp.errors import BrokerLost, Unroutable, spoken
from queues.amqp.message import ABOVE_BYTES, NOT_BEFORE, PARDONS, TOKEN, Incoming, Outgoing, packed
from queues.amqp.names import Names, key_of_lane, lane_of, span
from queues.amqp.poison_messages import PoisonMessages
from queues.amqp.prefetch import Loops
from queues.amqp.republishing import Backlog
from queues.amqp.settings import AmqpSettings
from queues.memory_dedup import MemoryCrashCounter
from tests.support.builders import at
from tests.support.clock import FakeClock
from tests.support.lanes import LANES, lanes
from tests.unit.queues.amqp_messages import Channel, incoming

LONG_S = 30.0


class TestMessages:
    def test_a_message_comes_back_as_it_was_sent(self) -> None:
        sent = Outgoing("e", lanes("soon")[0], b"{}", token="t", not_before_us=7, left_s=0.3, pardons=2).properties()
        got = incoming("soon", headers=sent.headers).copy
        assert (got.token, got.not_before_us, got.left_s, got.pardons) == ("t", 7, 0.3, 2)

    def test_our_messages_are_durable_and_have_no_id_of_ours(self) -> None:
        sent = Outgoing("e", lanes("soon")[0], b"{}").properties()
        assert (sent.delivery_mode, sent.message_id, sent.headers) == (2, None, {})

    def test_a_message_sent_again_leaves_the_brokers_headers_behind(self) -> None:
        headers = {"x-death": [{"count": 1}], "x-delivery-count": 7, TOKEN: "t", PARDONS: 1}
        again = incoming(headers=headers).copy
        assert again.properties().headers == {TOKEN: "t", PARDONS: 1}

    @pytest.mark.parametrize("headers", [{TOKEN: 5}, {NOT_BEFORE: "soon"}, {PARDONS: b"x"}, {}])
    def test_headers_of_somebody_else_are_none_of_ours(self, headers: dict[str, Any]) -> None:
        got = incoming(headers=headers)
        assert (got.copy, got.returns) == (Outgoing("e", got.lane, b"{}"), 0)

    def test_how_often_it_came_back(self) -> None:
        assert incoming(redelivered=True).returns == 1
        assert incoming(redelivered=True, headers={"x-delivery-count": 4}).returns == 4

    def test_the_last_of_several_deaths_counts(self) -> None:
        """A retry has been in a wait queue before, where it expired."""
        deaths = [{"queue": "p.q.soon", "reason": "delivery_limit"}, {"queue": "p.wait.5s", "reason": "expired"}]
        assert incoming("normal", headers={"x-death": deaths}).death == ("delivery_limit", lanes("soon")[0])
        for nonsense in ([], [5], "x", None):
            assert incoming("normal", headers={"x-death": nonsense}).death == ("", lanes("normal")[0])

    async def test_settling_is_done_once_and_through_its_own_channel(self) -> None:
        channel = Channel()
        got = incoming(delivery_tag=7, channel=channel)
        assert await got.ack()
        assert not await got.give_back()
        assert channel.told == [("ack", 7)]

    async def test_what_lost_its_channel_is_stale_and_settles_nothing(self) -> None:
        for channel in (Channel(is_closed=True), Channel(broken=True)):
            got = incoming(channel=channel)
            assert got.stale == channel.is_closed
            assert not await got.ack()
            assert channel.told == []


class TestLanes:
    names = Names(prefix="p.x", waits_s=(1.0,))

    def test_lanes_of_the_first_platform_keep_their_names_and_the_others_carry_theirs(self) -> None:
        assert self.names.queue(Lane(LEGACY_PLATFORM, "soon")) == "p.x.q.soon"
        assert self.names.queue(Lane("other", "soon")) == "p.x.q.other.soon"

    def test_a_queue_and_its_key_tell_the_lane(self) -> None:
        for lane in (*LANES, *lanes(platform="other"), Lane("a.b", "later")):
            assert self.names.lane(self.names.queue(lane)) == lane
            assert lane_of(key_of_lane(lane)) == lane
        assert self.names.lane("p.x.dead") is None
        assert self.names.lane("p.x.q.other.never") is None

    def test_a_death_tells_the_lane_it_happened_in(self) -> None:
        deaths = [{"queue": "p.x.q.other.soon", "reason": "delivery_limit"}]
        assert incoming(headers={"x-death": deaths}).death == ("delivery_limit", Lane("other", "soon"))


class TestBodies:
    LARGE = b"[%s]" % b",".join(b"1234567" for _ in range(ABOVE_BYTES // 8 + 1))

    def test_what_is_large_travels_compressed_and_comes_back_as_it_was(self) -> None:
        body = packed(self.LARGE)
        assert len(body) < len(self.LARGE) / 20
        sent = Outgoing("e", lanes("soon")[0], body)
        properties = sent.properties()
        assert properties.content_encoding == "deflate"
        got = incoming("soon", body=sent.body, content_encoding=properties.content_encoding)
        assert (got.content(), got.copy) == (self.LARGE, sent)

    @pytest.mark.parametrize("encoding", [None, "utf-8", "gzip"])
    def test_what_is_small_and_what_others_call_an_encoding_is_as_it_is(self, encoding: str | None) -> None:
        assert packed(b"{}") == b"{}"
        assert Outgoing("e", LANES[0], b"{}").properties().content_encoding is None
        assert incoming(body=b"{}", content_encoding=encoding).content() == b"{}"

    @pytest.mark.parametrize(
        ("body", "why"),
        [(b"{}", "is not"), (packed(LARGE)[:-9], "is cut short"), (zlib.compress(LARGE + b"x"), "holds more than")],
    )
    def test_what_cannot_be_unpacked_is_no_request_and_keeps_its_bytes(
        self, body: bytes, why: str, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr("queues.amqp.message.MAX_BYTES", len(self.LARGE))
        with pytest.raises(DecodeError, match=why) as refused:
            incoming(body=body, content_encoding="deflate").content()
        assert refused.value.body == body


class TestBuffers:
    async def test_the_first_queue_of_the_order_that_has_something(self) -> None:
        buffers = Buffers()
        for queue in ("later", "soon"):
            buffers.put(incoming(queue))
        taken = [await buffers.take(lanes("event", "soon", "later"), 0) for _ in range(3)]
        assert [each and each.lane.queue for each in taken] == ["soon", "later", None]

    async def test_what_went_stale_is_passed_over(self) -> None:
        buffers, channel = Buffers(), Channel()
        buffers.put(incoming(channel=channel))
        fresh = incoming()
        buffers.put(fresh)
        channel.is_closed = True
        assert buffers.held() == [fresh]
        assert await buffers.take(LANES, 0) is fresh
        assert await buffers.take(LANES, 0) is None

    async def test_who_waits_gets_what_comes_for_its_queues_and_nothing_else(self) -> None:
        buffers = Buffers()
        names: list[QueueName] = ["event", "later"]
        waiting = {name: asyncio.create_task(buffers.take(lanes(name), LONG_S)) for name in names}
        await asyncio.sleep(0)
        first, other = incoming("later"), incoming("normal")
        buffers.put(other)
        buffers.put(first)
        assert await waiting["later"] is first
        assert not waiting["event"].done()
        waiting["event"].cancel()
        assert buffers.held() == [other]

    async def test_each_message_goes_to_one_of_those_who_wait(self) -> None:
        buffers = Buffers()
        waiting = [asyncio.create_task(buffers.take(LANES, LONG_S)) for _ in range(5)]
        await asyncio.sleep(0)
        for _ in range(5):
            buffers.put(incoming())
        assert len({id(each) for each in await asyncio.gather(*waiting)}) == 5

    async def test_who_is_cancelled_with_a_message_in_hand_leaves_it(self) -> None:
        buffers = Buffers()
        waiting = asyncio.create_task(buffers.take(LANES, LONG_S))
        await asyncio.sleep(0)
        message = incoming()
        buffers.put(message)
        waiting.cancel()
        with pytest.raises(asyncio.CancelledError):
            await waiting
        assert await buffers.take(LANES, 0) is message


class TestSuspects:
    def suspects(self, starts: MemoryCrashCounter) -> PoisonMessages:
        self.freed: list[Incoming] = []
        return PoisonMessages(starts, FakeClock(), max_starts=3, free=self.freed.append)

    async def test_three_starts_and_no_more(self) -> None:
        starts = MemoryCrashCounter()  # which outlives the processes here
        begun = 1  # the first, when it had never come back
        for _ in range(10):
            if await self.suspects(starts).judge(incoming(), "m") == "killer":
                break
            begun += 1
        assert begun == 3

    async def test_copies_of_one_message_at_work_at_once_have_killed_nothing(self) -> None:
        starts = MemoryCrashCounter()
        suspects = self.suspects(starts)
        assert [await suspects.judge(incoming(), "m") for _ in range(5)] == ["start"] * 5
        others = [await self.suspects(starts).judge(incoming(), "m") for _ in range(2)]
        assert others == ["start", "killer"], "to others it is one start for each process"
        for _ in range(5):
            assert await starts.count("m") == 2, "what is still at work may kill the process"
            await suspects.settled("m")
        assert await starts.count("m") == 0
        await starts.add("m", at(0))
        await starts.add("m", at(0))
        assert await suspects.judge(incoming(), "m") == "killer", "what was settled excuses nothing"

    async def test_starts_are_forgotten_before_the_parked_are_free_to_kill_the_process(self) -> None:
        steps: list[str] = []

        class Slow(MemoryCrashCounter):
            async def forget(self, name: str) -> None:
                await asyncio.sleep(0)
                await super().forget(name)
                steps.append("forgotten")

        starts = Slow()
        suspects = PoisonMessages(starts, FakeClock(), max_starts=9, free=lambda _: steps.append("free"))
        for name in ("one", "two"):
            await starts.add(name, at(0))
        assert [await suspects.judge(incoming(), name) for name in ("one", "two")] == ["start", "wait"]
        await suspects.settled("one")
        assert steps == ["forgotten", "free"]

    async def test_one_suspect_at_a_time(self) -> None:
        starts = MemoryCrashCounter()
        suspects = self.suspects(starts)
        for name in ("one", "two"):
            await starts.add(name, at(0))
        second = incoming()
        assert await suspects.judge(incoming(), "one") == "start"
        assert await suspects.judge(second, "two") == "wait"
        assert await suspects.judge(incoming(), "never begun again") == "start"
        assert suspects.held() == [second]
        await suspects.settled("never begun again")
        assert self.freed == []
        await suspects.settled("one")
        assert (self.freed, suspects.held()) == ([second], [])
        assert await suspects.judge(second, "two") == "start"

    async def test_a_survivor_is_forgotten(self) -> None:
        starts = MemoryCrashCounter()
        suspects = self.suspects(starts)
        await suspects.judge(incoming(), "m")
        assert await starts.count("m") == 1
        await suspects.settled("m")
        assert await starts.count("m") == 0

    async def test_what_was_parked_is_freed_though_the_database_is_away(self) -> None:
        class Away(MemoryCrashCounter):
            async def forget(self, message: str) -> None:
                raise StoreError(message)

        starts = Away()
        suspects = self.suspects(starts)
        for name in ("one", "two"):
            await starts.add(name, at(0))
        await suspects.judge(incoming(), "one")
        await suspects.judge(incoming(), "two")
        await suspects.settled("one")
        assert len(self.freed) == 1


class TestBacklog:
    async def test_an_item_that_fails_is_done_again_after_the_others(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr("queues.amqp.republishing.AGAIN_S", 0.0)
        done: list[str] = []
        failures = [StoreError("away"), QueueError("away")]
        finished = asyncio.Event()

        async def do(item: str) -> None:
            if item == "fails" and failures:
                raise failures.pop()
            done.append(item)
            if len(done) == 3:
                finished.set()

        backlog = Backlog[str]("test", do)
        for each in ("fails", "one", "two"):
            backlog.put(each)
        task = asyncio.create_task(backlog.run())
        async with asyncio.timeout(LONG_S):
            await finished.wait()
        await asyncio.sleep(0)
        assert done == ["one", "two", "fails"]
        assert not backlog.items
        task.cancel()

    async def test_an_item_that_was_cut_short_is_done_by_the_next_run(self) -> None:
        tries = 0
        finished = asyncio.Event()

        async def do(_item: str) -> None:
            nonlocal tries
            tries += 1
            if tries == 1:
                raise asyncio.CancelledError  # as its driver does with every call that a close cut off
            finished.set()

        backlog = Backlog[str]("test", do)
        backlog.put("item")
        with pytest.raises(asyncio.CancelledError):
            await backlog.run()
        task = asyncio.create_task(backlog.run())
        async with asyncio.timeout(LONG_S):
            await finished.wait()
        task.cancel()


class TestNames:
    def test_delays_in_names(self) -> None:
        assert [span(seconds) for seconds in (0.25, 1, 5.0, 90, 120, 3600)] == ["250ms", "1s", "5s", "90s", "2m", "60m"]

    def test_few_hops_and_hardly_ever_too_long(self) -> None:
        names = Names(prefix="p", waits_s=AmqpSettings(url="").waits_s)
        delays_s = {names.wait(wait_s): wait_s for wait_s in names.waits_s}
        for left_s in (0.01, 0.9, 3, 4, 4.1, 29, 95, 96, 500, 3600, 86400):
            hops, waited_s = 0, 0.0
            left = timedelta(seconds=left_s).total_seconds()
            while left > 0:
                waited_s += delays_s[names.place(left)[0]]
                left = left_s - waited_s
                hops += 1
            assert waited_s <= max(1.0, left_s * 1.25)
            assert hops <= 8 + left_s / 600

    def test_arguments_are_structure_and_nothing_that_is_tuned(self) -> None:
        specs = Names(prefix="p", waits_s=(1.0,)).specs()
        tuned = {"x-delivery-limit", "x-consumer-timeout", "x-max-length", "x-queue-leader-locator"}
        assert all(spec.arguments["x-queue-type"] == "quorum" for spec in specs)
        assert not any(tuned & set(spec.arguments) for spec in specs)
        assert len({spec.name for spec in specs}) == len(specs) == 7

    def test_no_flood_in_later_occupies_every_loop(self) -> None:
        sizes = {lane.queue: Loops(20, 60.0).prefetch(lane) for lane in LANES}
        assert sizes == {"event": 22, "immediate": 22, "soon": 22, "normal": 22, "later": 12}

    def test_urls_are_never_shown(self) -> None:
        shown = repr(AmqpSettings(url="amqp://u:secret@h", management_url="http://u:secret@h"))
        assert "secret" not in shown


class TestErrors:
    async def test_a_cancellation_that_nobody_asked_for_is_a_lost_broker(self) -> None:
        async def given_up() -> None:
            raise asyncio.CancelledError

        with pytest.raises(BrokerLost):
            await spoken(given_up())

    async def test_what_a_close_cuts_off_is_a_lost_broker_and_a_bug_is_a_bug(self) -> None:
        async def fail(error: Exception) -> None:
            raise error

        with pytest.raises(BrokerLost):
            await spoken(fail(Exception()))  # what the driver raises itself
        with pytest.raises(ZeroDivisionError):
            await spoken(fail(ZeroDivisionError()))

    async def test_a_cancellation_that_somebody_asked_for_is_one(self) -> None:
        task = asyncio.create_task(spoken(asyncio.sleep(LONG_S)))
        await asyncio.sleep(0)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task

    async def test_silence_is_a_lost_broker(self) -> None:
        with pytest.raises(BrokerLost, match="does not answer"):
            await spoken(asyncio.sleep(LONG_S), within_s=0.001)

    def test_a_lost_queue_can_be_told_from_a_lost_broker(self) -> None:
        assert not issubclass(Unroutable, BrokerLost)
