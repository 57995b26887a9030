"""Nobody guesses tokens quickly, whoever knows one is let in meanwhile, and nobody says they are somebody else."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager

import pytest
from structlog.testing import capture_logs

from ghcrawl.admin.sign_ins import AT_ONCE, DELAY_S, SignIns, networks
from tests.unit.admin.conftest import TOKEN, Asker, Rig


class Patience:
    """Delays that end when they are told to."""

    def __init__(self) -> None:
        self.over = asyncio.Event()
        self.delays: list[float] = []
        self.full = asyncio.Event()

    async def __call__(self, seconds: float) -> None:
        self.delays.append(seconds)
        if len(self.delays) == AT_ONCE:
            self.full.set()
        await self.over.wait()


@asynccontextmanager
async def guessing(patience: Patience, proxies: tuple[str, ...] = ()) -> AsyncIterator[tuple[Asker, list[int]]]:
    """A service, from whose point of view everybody comes from loopback; and the sign-ins that failed."""
    failed: list[int] = []
    sign_ins = SignIns(failed=lambda: failed.append(1), proxies=networks(proxies), sleep=patience)
    async with AsyncExitStack() as stack:
        yield await stack.enter_async_context(Rig(sign_ins=sign_ins).running()), failed


async def guess(asker: Asker, token: str, **headers: str) -> int:
    return (await Asker(asker.client, token).get("/api/v1/loops", **headers)).status


async def test_an_unknown_token_is_told_so_after_a_second_and_a_known_one_at_once():
    patience = Patience()
    async with guessing(patience) as (asker, failed):
        wrong = asyncio.create_task(guess(asker, "wrong-token"))
        assert await guess(asker, TOKEN) == 200
        patience.over.set()
        assert await wrong == 401
        assert (patience.delays, len(failed)) == ([DELAY_S], 1)


async def test_more_guesses_than_fit_into_a_second_are_not_even_looked_at_and_each_is_counted():
    patience = Patience()
    async with guessing(patience) as (asker, failed):
        wrong = [asyncio.create_task(guess(asker, f"wrong-token-{number}")) for number in range(AT_ONCE)]
        await patience.full.wait()
        assert await guess(asker, "wrong-token") == await guess(asker, TOKEN) == 429
        patience.over.set()
        assert await asyncio.gather(*wrong) == [401] * AT_ONCE
        assert await guess(asker, TOKEN) == 200
        assert len(failed) == AT_ONCE + 2


async def test_behind_a_proxy_that_is_trusted_each_client_has_its_own_patience_and_is_named_in_the_log():
    patience = Patience()
    async with guessing(patience, proxies=("127.0.0.0/8",)) as (asker, _):
        tasks = [
            asyncio.create_task(guess(asker, "wrong-token", X_Forwarded_For="203.0.113.7")) for _ in range(AT_ONCE)
        ]
        await patience.full.wait()
        assert await guess(asker, TOKEN, X_Forwarded_For="203.0.113.7") == 429
        assert await guess(asker, TOKEN, X_Forwarded_For="203.0.113.8") == 200
        assert await guess(asker, TOKEN, X_Forwarded_For="203.0.113.8, 203.0.113.7") == 429
        patience.over.set()
        await asyncio.gather(*tasks)
        with capture_logs() as logged:
            await guess(asker, "wrong-token", X_Forwarded_For="203.0.113.9")
        assert [line["address"] for line in logged if line["event"] == "sign_in_failed"] == ["203.0.113.9"]


async def test_what_a_stranger_says_of_where_it_comes_from_is_not_believed():
    patience = Patience()
    patience.over.set()
    async with guessing(patience) as (asker, _):
        with capture_logs() as logged:
            await guess(asker, "wrong-token", X_Forwarded_For="203.0.113.9")
        assert [line["address"] for line in logged if line["event"] == "sign_in_failed"] == ["127.0.0.1"]


@pytest.mark.parametrize("addresses", [("2001:db8::1", "2001:db8::2"), ("203.0.113.7", "203.0.113.7")])
async def test_addresses_of_one_network_share_their_patience(addresses: tuple[str, str]):
    patience = Patience()
    async with guessing(patience, proxies=("127.0.0.1",)) as (asker, _):
        tasks = [asyncio.create_task(guess(asker, "wrong-token", X_Forwarded_For=addresses[0])) for _ in range(AT_ONCE)]
        await patience.full.wait()
        assert await guess(asker, TOKEN, X_Forwarded_For=addresses[1]) == 429
        assert await guess(asker, TOKEN, X_Forwarded_For="2001:db8:0:1::1") == 200
        patience.over.set()
        await asyncio.gather(*tasks)
