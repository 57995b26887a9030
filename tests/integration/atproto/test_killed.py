"""Kills of a crawl of the AppView and of a reader of the real firehose."""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from typing import Any
from urllib.parse import urlsplit
from uuid import uuid4

import pytest

from ghcrawl.fetch.atproto.streams import FIREHOSE
from tests.integration.atproto.writing import Ask, joined, posted, posted_at_once, repository
from tests.support.bluesky_killed import WITHIN_S, Place, ten_kills_lose_nothing_and_save_nothing_twice
from tests.support.services.atproto import Network
from tests.support.services.proxy import Proxy, proxied
from tests.support.waiting import until

pytestmark = [pytest.mark.slow, pytest.mark.timeout(900)]  # the first time on a machine, the servers are built

WRITTEN = 250
"""Posts that are there before: three pages."""


class Real(Place):
    def __init__(self, ask: Ask, session: Mapping[str, Any], appview: Proxy, pds: Proxy) -> None:
        self.url = f"http://127.0.0.1:{appview.port}"
        self.stream_url = f"ws://127.0.0.1:{pds.port}/xrpc/{FIREHOSE}"
        self.handle = session["handle"]
        self._ask, self._session = ask, session
        self._appview, self._pds = appview, pds

    def calls(self) -> int:
        return self._appview.connections

    def streaming(self) -> int:
        return self._pds.open

    async def post(self, text: str) -> str:
        return (await posted(self._ask, self._session, text)).rpartition("/")[2]

    async def delete(self, key: str) -> None:
        body = {"repo": self._session["did"], "collection": "app.bsky.feed.post", "rkey": key}
        await self._ask("com.atproto.repo.deleteRecord", token=self._session["accessJwt"], body=body)

    async def posts(self) -> list[str]:
        return [uri.rpartition("/")[2] for uri in await repository(self._ask, self._session["did"])]


@asynccontextmanager
async def behind(url: str) -> AsyncIterator[Proxy]:
    host = urlsplit(url)
    assert host.port
    async with proxied("127.0.0.1", host.port) as wire:
        yield wire


async def test_sigkill_at_ten_moments_of_a_crawl_and_of_the_firehose_loses_nothing(
    network: Network, ask: Ask, backend: Mapping[str, Any]
):
    session = await joined(ask, f"killed-{uuid4().hex[:8]}")
    for begin in range(0, WRITTEN, 125):
        await posted_at_once(ask, session, [f"before {number}" for number in range(begin, begin + 125)])

    async def shown() -> bool:
        profile, _ = await ask("app.bsky.actor.getProfile", at=network.appview, actor=session["did"])
        return bool(profile.get("postsCount") == WRITTEN)

    await until(shown, within_s=WITHIN_S, every_s=0.2)
    async with behind(network.appview) as appview, behind(network.pds) as pds:
        await ten_kills_lose_nothing_and_save_nothing_twice(Real(ask, session, appview, pds), backend)
