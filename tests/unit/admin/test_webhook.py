"""Deliveries: verified, taken once, durable before 202, and refused in every other case."""

from __future__ import annotations

import asyncio
import hmac
import json
import logging
from collections.abc import AsyncIterator
from contextlib import suppress
from hashlib import sha1
from pathlib import Path
from typing import Any
from urllib.parse import urlencode

import pytest
import structlog
from hypothesis import given, settings
from hypothesis import strategies as st

from ghcrawl.admin import bodies
from ghcrawl.admin.problems import Problem
from ghcrawl.admin.secret_lines import SecretLines
from ghcrawl.admin.signature import is_signed
from ghcrawl.admin.webhook import SECRETS, Webhook, _parsed
from ghcrawl.ports.inbox import ClaimResult
from ghcrawl.telemetry.load_shedding import LoadShedding
from ghcrawl.values.errors import (
    ConfigError,
    QueueError,
    StoreError,
    Unstorable,
)
from ghcrawl.values.frozen import replace
from queues.memory import MemoryQueue
from queues.memory_dedup import MemoryDedupMarkers
from stores.idempotency_keys import MarkerIdempotencyKeys
from tests.support.clock import FakeClock
from tests.support.lanes import lanes
from tests.unit.admin.conftest import SECRET, Asker, Peeked, Rig, signature

BODY = json.dumps({"action": "opened", "issue": {"number": 7}}).encode()
GITHUB_EXAMPLE = ("It's a Secret to Everybody", b"Hello, World!")
GITHUB_SIGNATURE = "sha256=757107ea0eb2509fc211221cce984b8a37570b6d7586c22c46f4379c8b043e17"


# What is right ------------------------------------------------------------------------------------------------


async def test_a_signed_delivery_is_durable_before_it_is_answered(rig: Rig, asker: Asker, waiting: Peeked):
    answer = await asker.deliver(BODY)
    assert (answer.status, answer.json["message"]) == (202, "accepted")
    (request,) = await waiting("event")
    assert request.payload is not None
    assert request.payload.body == json.loads(BODY)
    assert request.payload.delivery_id == "5d3c1f80-0000-11ef-8000-000000000001"
    assert rig.counted == [("issues", "accepted")]


async def test_githubs_own_example_of_a_signature_is_right():
    secret, body = GITHUB_EXAMPLE
    assert is_signed(body, GITHUB_SIGNATURE, [secret])
    assert is_signed(body, GITHUB_SIGNATURE.upper().replace("SHA256", "sha256"), ["another", secret])
    assert not is_signed(body, GITHUB_SIGNATURE, ["another"])
    assert not is_signed(body + b" ", GITHUB_SIGNATURE, [secret])
    assert not is_signed(body, GITHUB_SIGNATURE, [])


async def test_a_form_is_signed_as_it_was_sent_and_means_the_same(asker: Asker, waiting: Peeked):
    body = urlencode({"payload": json.dumps({"text": "ü + & %"})}).encode()
    answer = await asker.deliver(body, Content_Type="application/x-www-form-urlencoded")
    assert answer.status == 202
    (request,) = await waiting("event")
    assert request.payload is not None
    assert request.payload.body == {"text": "ü + & %"}


async def test_a_ping_is_answered_and_queues_nothing(rig: Rig, asker: Asker, waiting: Peeked):
    answer = await asker.deliver(b'{"zen": "Speak like a human."}', X_GitHub_Event="ping")
    assert (answer.status, answer.json) == (200, {"message": "pong"})
    assert list(await waiting("event")) == []
    assert rig.counted == [("ping", "ping")]


async def test_both_secrets_are_good_while_one_takes_the_place_of_the_other(rig: Rig):
    rig.secrets = f"older-secret\n{SECRET}"
    async with rig.running() as asker:
        old = await asker.deliver(BODY, X_Hub_Signature_256=signature(BODY, "older-secret"))
        new = await asker.deliver(BODY, X_GitHub_Delivery="another")
    assert (old.status, new.status) == (202, 202)


def test_secrets_in_a_file_are_read_again_when_it_changes_and_kept_when_it_goes(tmp_path: Path):
    file = tmp_path / "secrets"
    file.write_text("# the one of 2025\nfirst;with-semicolon\n\n")
    learnt: list[str] = []
    secrets = SecretLines("from-environment", str(file), SECRETS, learn=learnt.append)
    assert secrets.now() == ("from-environment", "first;with-semicolon")
    file.write_text("second-secret\nthird-secret\n")
    assert secrets.now() == ("from-environment", "second-secret", "third-secret")
    file.unlink()
    assert secrets.now() == ("from-environment", "second-secret", "third-secret")
    file.write_text("fourth-secret")
    assert secrets.now() == ("from-environment", "fourth-secret")
    assert learnt == ["from-environment", "first;with-semicolon", "second-secret", "third-secret", "fourth-secret"]


def test_a_file_of_secrets_that_is_not_there_at_the_start_is_said(tmp_path: Path):
    with pytest.raises(ConfigError, match=r"cannot read the hook secrets .*: FileNotFoundError"):
        SecretLines("", str(tmp_path / "none"), replace(SECRETS, what="hook secrets"))


# Once ---------------------------------------------------------------------------------------------------------


async def test_a_delivery_that_comes_again_is_taken_once_even_after_it_was_settled(
    rig: Rig, asker: Asker, waiting: Peeked
):
    await asker.deliver(BODY)
    again = await asker.deliver(BODY)
    assert (again.status, again.json["message"]) == (202, "this delivery was already accepted")
    delivery = await rig.queue.pop(lanes("event"), patience_s=0)
    assert delivery is not None
    await delivery.ack()
    assert (await asker.deliver(BODY)).status == 202
    assert list(await waiting("event")) == []
    assert [result for _, result in rig.counted] == ["accepted", "duplicate", "duplicate"]


async def test_of_three_replicas_that_get_the_same_delivery_one_takes_it():
    queue, idempotency_keys = MemoryQueue(FakeClock()), MarkerIdempotencyKeys(MemoryDedupMarkers())
    rigs = [Rig(over={"queue": queue, "idempotency_keys": idempotency_keys}) for _ in range(3)]
    async with rigs[0].running() as one, rigs[1].running() as two, rigs[2].running() as three:
        answers = await asyncio.gather(*(asker.deliver(BODY) for asker in (one, two, three)))
    assert [answer.status for answer in answers] == [202, 202, 202]
    assert sorted(result for rig in rigs for _, result in rig.counted) == ["accepted", "duplicate", "duplicate"]
    assert len(await queue.peek("event", limit=10)) == 1


class BrokenQueue(MemoryQueue):
    broken = True

    async def push(self, pushes: Any) -> Any:
        if self.broken:
            raise QueueError("the broker is away")
        return await super().push(pushes)


async def test_what_cannot_be_made_durable_is_refused_for_now_and_taken_later(rig: Rig):
    queue = BrokenQueue(rig.clock)
    rig.over["queue"] = queue
    async with rig.running() as asker:
        refused = await asker.deliver(BODY)
        assert (refused.status, refused.headers["Retry-After"]) == (503, "5")
        assert refused.headers["Content-Type"] == "application/problem+json"
        queue.broken = False
        assert (await asker.deliver(BODY)).status == 202
    assert len(await queue.peek("event", limit=10)) == 1
    assert [result for _, result in rig.counted] == ["unavailable", "accepted"]


class SmallQueue(MemoryQueue):
    async def push(self, pushes: Any) -> Any:
        raise Unstorable("it is too large for a message")


async def test_what_can_never_be_taken_is_not_asked_for_again(rig: Rig):
    rig.over["queue"] = SmallQueue(rig.clock)
    async with rig.running() as asker:
        refused = await asker.deliver(BODY)
    assert (refused.status, "Retry-After" in refused.headers) == (413, False)
    assert "too large for a message" in refused.text
    assert rig.counted == [("issues", "unstorable")]


class AwayReceipts(MarkerIdempotencyKeys):
    async def claim(self, id: str, *_: Any, **__: Any) -> ClaimResult:
        raise StoreError("the database is away")


async def test_without_the_store_nothing_is_taken(rig: Rig, waiting: Peeked):
    rig.over["idempotency_keys"] = AwayReceipts(MemoryDedupMarkers())
    async with rig.running() as asker:
        assert (await asker.deliver(BODY)).status == 503
    assert list(await waiting("event")) == []


class NeverQueue(MemoryQueue):
    async def push(self, pushes: Any) -> Any:
        await asyncio.Event().wait()


async def test_a_queue_that_does_not_answer_in_time_is_a_queue_that_is_away(rig: Rig):
    rig.over["queue"], rig.timeout_s = NeverQueue(rig.clock), 0.05
    async with rig.running() as asker:
        assert (await asker.deliver(BODY)).status == 503
    assert rig.counted == [("issues", "unavailable")]


async def test_what_a_body_took_to_arrive_is_not_there_for_the_queue(rig: Rig, monkeypatch: pytest.MonkeyPatch):
    read = bodies.read

    async def taking_all_the_time(request: Any, *, timeout_s: float, **more: Any) -> bytes:
        raw = await read(request, timeout_s=timeout_s, **more)
        with suppress(TimeoutError):
            await asyncio.wait_for(asyncio.Event().wait(), timeout_s)
        return raw

    class BriefQueue(MemoryQueue):
        async def push(self, pushes: Any) -> Any:
            for _ in range(3):
                await asyncio.sleep(0)
            return await super().push(pushes)

    monkeypatch.setattr(bodies, "read", taking_all_the_time)
    rig.over["queue"], rig.timeout_s = BriefQueue(rig.clock), 0.2
    async with rig.running() as asker:
        assert (await asker.deliver(BODY)).status == 503
    assert rig.counted == [("issues", "unavailable")]


async def test_as_long_as_a_delivery_is_not_answered_loops_know_that_somebody_waits(rig: Rig):
    seen: list[bool] = []
    intake = replace(rig.intake(), answering=LoadShedding(many=1))

    class Looking(MemoryQueue):
        async def push(self, pushes: Any) -> Any:
            calm = asyncio.create_task(intake.answering.calm(60))
            await asyncio.sleep(0)
            await asyncio.sleep(0)
            seen.append(calm.done())
            calm.cancel()
            return await super().push(pushes)

    rig.over["queue"] = Looking(rig.clock)
    intake = replace(rig.intake(), answering=intake.answering)
    rig.intake = lambda: intake  # type: ignore[method-assign]  # the same one that is looked at
    async with rig.running() as asker:
        assert (await asker.deliver(BODY)).status == 202
    assert seen == [False]
    await asyncio.wait_for(intake.answering.calm(60), timeout=1)


async def test_old_ids_are_forgotten_when_nobody_can_send_them_again(rig: Rig, asker: Asker):
    await asker.deliver(BODY)
    webhook = Webhook(rig.intake())
    assert await webhook.sweep() == 0
    rig.clock.advance(9 * 86_400)
    assert await webhook.sweep() == 1


# What is wrong ------------------------------------------------------------------------------------------------

MAX_BYTES = 25 << 20
OTHER = signature(BODY, "not-the-secret")


@pytest.mark.parametrize(
    ("over", "status", "result"),
    [
        ({"X_Hub_Signature_256": OTHER}, 401, "forged"),
        ({"X_Hub_Signature_256": ""}, 401, "unsigned"),
        (
            {"X_Hub_Signature_256": "", "X_Hub_Signature": f"sha1={hmac.new(SECRET.encode(), BODY, sha1).hexdigest()}"},
            401,
            "unsigned",
        ),
        ({"X_Hub_Signature_256": signature(BODY)[:-1]}, 401, "forged"),
        ({"X_Hub_Signature_256": signature(BODY) + "0"}, 401, "forged"),
        ({"X_Hub_Signature_256": signature(BODY).removeprefix("sha256=")}, 401, "forged"),
        ({"X_Hub_Signature_256": signature(BODY).replace("sha256=", "sha1=")}, 401, "forged"),
        ({"X_Hub_Signature_256": "sha256="}, 401, "forged"),
        ({"X_Hub_Signature_256": "sha256=" + "é" * 64}, 401, "forged"),
        ({"X_GitHub_Event": ""}, 400, "malformed"),
        ({"X_GitHub_Event": "Not An Event"}, 400, "malformed"),
        ({"X_GitHub_Delivery": ""}, 400, "malformed"),
        ({"X_GitHub_Delivery": "a b"}, 400, "malformed"),
        ({"X_GitHub_Delivery": "x" * 129}, 400, "malformed"),
        ({"Content_Type": "text/plain"}, 415, "malformed"),
        ({"Content_Encoding": "gzip"}, 415, "malformed"),
    ],
)
async def test_a_delivery_with_a_bad_header_is_refused(
    rig: Rig, asker: Asker, waiting: Peeked, over: dict[str, str], status: int, result: str
):
    answer = await asker.deliver(BODY, **over)
    assert (answer.status, answer.headers["Content-Type"]) == (status, "application/problem+json")
    assert list(await waiting("event")) == []
    assert [found for _, found in rig.counted] == [result]


@pytest.mark.parametrize(
    ("body", "kind"),
    [
        (b"", "application/json"),
        (b"{", "application/json"),
        (b"[1]", "application/json"),
        (b"NaN", "application/json"),
        (b"\xff", "application/json"),
        (b"{}", "application/x-www-form-urlencoded"),
        (b"payload={}&payload={}", "application/x-www-form-urlencoded"),
        (b"payload=%7B", "application/x-www-form-urlencoded"),
        (b"other=%7B%7D", "application/x-www-form-urlencoded"),
    ],
)
async def test_a_signed_body_that_is_no_payload_is_refused(rig: Rig, asker: Asker, body: bytes, kind: str):
    answer = await asker.deliver(body, Content_Type=kind)
    assert answer.status == 400
    assert rig.counted == [("issues", "malformed")]


async def test_without_a_secret_every_delivery_is_refused(rig: Rig, waiting: Peeked):
    rig.secrets = ""
    async with rig.running() as asker:
        answer = await asker.deliver(BODY)
        unsigned = await asker.deliver(BODY, X_Hub_Signature_256="")
    assert (answer.status, unsigned.status) == (403, 403)
    assert list(await waiting("event")) == []
    assert {result for _, result in rig.counted} == {"no_secret"}


async def test_a_body_that_says_it_is_too_large_is_refused_before_it_is_read(rig: Rig, asker: Asker):
    headers = {"X-GitHub-Event": "push", "X-GitHub-Delivery": "d", "X-Hub-Signature-256": OTHER}
    response = await asker.client.post("/webhook", headers={**headers, "Content-Length": str(MAX_BYTES + 1)})
    assert response.status == 413
    response.close()
    assert rig.counted == [("unverified", "too_large")]


async def test_a_body_that_does_not_say_how_large_it_is_is_counted_while_it_comes(rig: Rig, asker: Asker):
    sent = 0

    async def endless() -> AsyncIterator[bytes]:
        nonlocal sent
        while sent < 4 * MAX_BYTES:
            sent += 1 << 20
            yield b"x" * (1 << 20)

    headers = {"X-GitHub-Event": "push", "X-GitHub-Delivery": "d", "X-Hub-Signature-256": OTHER}
    response = await asker.client.post("/webhook", data=endless(), headers=headers)
    assert response.status == 413
    assert sent < 4 * MAX_BYTES
    assert rig.counted == [("unverified", "too_large")]


async def test_large_bodies_of_many_strangers_find_no_room_and_small_ones_always_do(
    rig: Rig, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr("ghcrawl.admin.webhook.MAX_HELD", 1 << 20)
    headers = {"X-GitHub-Event": "push", "X-GitHub-Delivery": "d", "X-Hub-Signature-256": OTHER}
    sent, enough = asyncio.Event(), asyncio.Event()

    async def large() -> AsyncIterator[bytes]:
        yield b"x" * (900 << 10)
        sent.set()
        await enough.wait()

    async with rig.running() as asker:
        holding = asyncio.create_task(asker.client.post("/webhook", data=large(), headers=headers))
        await sent.wait()
        while True:  # until the server has read what was sent
            refused = await asker.client.post("/webhook", data=b"x" * (400 << 10), headers=headers)
            if refused.status == 503:
                break
        assert (await asker.deliver(BODY)).status == 202
        enough.set()
        assert (await holding).status == 401
        again = await asker.client.post("/webhook", data=b"x" * (400 << 10), headers=headers)
        assert again.status == 401
        for answer in (refused, again, await holding):
            answer.close()
    assert ("unverified", "unavailable") in rig.counted


async def test_a_body_that_comes_too_slowly_is_given_up(rig: Rig):
    rig.timeout_s = 0.05
    never = asyncio.Event()

    async def slow() -> AsyncIterator[bytes]:
        yield b"{"
        await never.wait()

    async with rig.running() as asker:
        headers = {"X-GitHub-Event": "push", "X-GitHub-Delivery": "d", "X-Hub-Signature-256": OTHER}
        response = await asker.client.post("/webhook", data=slow(), headers=headers)
        assert response.status == 408
        response.close()
    assert rig.counted == [("unverified", "slow")]


async def test_a_body_that_is_cut_short_is_not_believed(rig: Rig, asker: Asker, waiting: Peeked):
    reader, writer = await asyncio.open_connection(asker.client.host, asker.client.port)
    head = (
        "POST /webhook HTTP/1.1\r\nHost: x\r\nX-GitHub-Event: push\r\nX-GitHub-Delivery: d\r\n"
        f"X-Hub-Signature-256: {signature(BODY)}\r\nContent-Type: application/json\r\n"
        f"Content-Length: {len(BODY)}\r\n\r\n"
    )
    writer.write(head.encode() + BODY[:-5])
    writer.write_eof()
    await reader.read()
    writer.close()
    await writer.wait_closed()
    async with asyncio.timeout(10):
        await rig.told.wait()
    assert [result for _, result in rig.counted] == ["malformed"]
    assert list(await waiting("event")) == []


async def test_nothing_about_the_expected_signature_is_logged_or_answered(asker: Asker):
    with structlog.testing.capture_logs() as logs:
        answer = await asker.deliver(BODY, X_Hub_Signature_256=OTHER)
    told = f"{answer.text}{dict(answer.headers)}{logs}{logging.root.handlers}"
    for secret in (SECRET, signature(BODY), signature(BODY)[7:], OTHER[7:], "opened"):
        assert secret not in told
    assert logs[0]["event"] == "delivery_refused"


@pytest.mark.slow
@given(body=st.binary(max_size=200), kind=st.sampled_from(["application/json", "application/x-www-form-urlencoded"]))
@settings(max_examples=200)
def test_no_signed_bytes_are_a_bug(body: bytes, kind: str):
    with suppress(Problem):
        assert isinstance(_parsed(body, kind), dict)


@pytest.mark.parametrize("depth", [101, 260, 995, 5000])
async def test_a_payload_nested_too_deep_is_refused_with_the_reason(
    rig: Rig, asker: Asker, waiting: Peeked, depth: int
):
    answer = await asker.deliver(b'{"a":' * depth + b"1" + b"}" * depth)
    assert (answer.status, rig.counted) == (413, [("issues", "unstorable")])
    assert "nested deeper than 100 levels" in answer.json["detail"]
    assert not await waiting("event")
