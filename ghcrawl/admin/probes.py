"""`/metrics`, `/livez` and `/readyz`, on a port of their own, so that they may be open where the API is not.

`/livez` fails only when a restart would help: no loop has taken a turn for longer than any turn may last.
`/readyz` fails when traffic should go elsewhere: while this process drains, or cannot make anything durable.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Mapping
from datetime import datetime, timedelta
from typing import Final

from aiohttp import web
from msgspec import Struct
from prometheus_client import CollectorRegistry, generate_latest

from ghcrawl.admin.courtesy import courteous
from ghcrawl.admin.site import Workers
from ghcrawl.admin.write_check import WriteCheck
from ghcrawl.ports.clock import Clock
from ghcrawl.ports.queue import Broker, Queue
from ghcrawl.values.errors import CrawlError, QueueError
from ghcrawl.values.jsontext import dumps

CHECK_S: Final = 4.0
"""Half of what a webhook may take: replicas share a database, and where it is merely slow, all of them sent away at
once would lose deliveries that each could still have made durable."""
EXPOSITION: Final = "text/plain; version=0.0.4; charset=utf-8"
STALL_MARGIN_S: Final = 60.0


class Probed(Struct, frozen=True, kw_only=True):
    """What the probes look at. last_turn: when a loop last came round; refresh: makes the gauges current.

    broker: judges the queue, where there is one; the store that a queue asks for its depths is judged apart.
    """

    queue: Queue
    writes: WriteCheck
    clock: Clock
    registry: CollectorRegistry
    workers: Callable[[], Workers]
    last_turn: Callable[[], datetime]
    timeout_s: Callable[[], float]
    refresh: Callable[[], Awaitable[None]]
    broker: Broker | None = None


def application(probed: Probed) -> web.Application:
    """The three routes."""
    probes = _Probes(probed)
    app = web.Application(middlewares=[courteous])
    app.router.add_get("/metrics", probes.metrics)
    app.router.add_get("/livez", probes.livez)
    app.router.add_get("/readyz", probes.readyz)
    return app


class _Probes:
    def __init__(self, probed: Probed) -> None:
        self._probed = probed

    async def metrics(self, _: web.Request) -> web.Response:
        await self._probed.refresh()
        return web.Response(body=generate_latest(self._probed.registry), headers={"Content-Type": EXPOSITION})

    async def livez(self, _: web.Request) -> web.Response:
        return _verdict({"loops": self._stalled()})

    async def readyz(self, _: web.Request) -> web.Response:
        workers, probed = self._probed.workers(), self._probed
        queue, store = await asyncio.gather(
            why_not(takes_pushes(probed.queue, probed.broker), within_s=CHECK_S),
            probed.writes.why_not(within_s=CHECK_S),
        )
        draining = "the process is draining" if workers.draining else ""
        crawl = workers.trouble if workers.wanted and not workers.paused else ""
        return _verdict({"draining": draining, "queue": queue, "store": store, "crawl": crawl})

    def _stalled(self) -> str:
        """Why a restart would help; empty: it would not."""
        workers, probed = self._probed.workers(), self._probed
        if workers.paused or workers.draining or not workers.wanted:
            return ""
        longest = timedelta(seconds=probed.timeout_s() + STALL_MARGIN_S)
        silent = probed.clock.now() - probed.last_turn()
        return f"no worker has made progress for {silent.total_seconds():.0f} s" if silent > longest else ""


async def takes_pushes(queue: Queue, broker: Broker | None) -> None:
    """Raises QueueError where the queue does not."""
    if broker is None:
        await queue.depths()
    elif broker.blocked:
        raise QueueError("the broker blocks publishing: it is short of memory or disk")
    else:
        await broker.answer()


async def why_not(asking: Awaitable[object], *, within_s: float) -> str:
    """Why nothing came of it; empty when something did."""
    try:
        async with asyncio.timeout(within_s):
            await asking
    except TimeoutError:
        return f"no answer within {within_s:g} s"
    except CrawlError as error:
        return str(error)
    return ""


def _verdict(checks: Mapping[str, str]) -> web.Response:
    """200 if no check has anything to say, else 503 with what they say."""
    failed = {name: why for name, why in checks.items() if why}
    body = {"status": "fail" if failed else "pass", "checks": {name: why or "pass" for name, why in checks.items()}}
    return web.Response(status=503 if failed else 200, body=dumps(body), content_type="application/json")
