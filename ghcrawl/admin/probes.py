"""`/metrics`, `/livez` and `/readyz`, on a port of their own, so that they may be open where the API is not.

`/livez` fails only when starting anew would help: no loop has taken a turn for longer than any turn may last.
`/readyz` fails when traffic should go elsewhere: while this process drains, or cannot make anything durable.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Final

from aiohttp import web
from prometheus_client import CollectorRegistry, generate_latest

from ghcrawl.admin.site import Crew
from ghcrawl.errors import CrawlError, QueueError
from ghcrawl.jsontext import dumps
from ghcrawl.live import STATE
from ghcrawl.ports import Broker, Clock, Queue, Store

CHECK_S: Final = 4.0
"""Half of what a webhook may take: replicas share a database, and where it is merely slow, all of them sent away at
once would lose deliveries that each could still have made durable."""
EXPOSITION: Final = "text/plain; version=0.0.4; charset=utf-8"
STALL_MARGIN_S: Final = 60.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Probed:
    """What the probes look at. last_turn: when a loop last came round; refresh: makes the gauges current.

    broker: judges the queue where it has one; what else a queue asks for its depths is somebody else's trouble.
    """

    queue: Queue
    store: Store
    clock: Clock
    registry: CollectorRegistry
    crew: Callable[[], Crew]
    last_turn: Callable[[], datetime]
    timeout_s: Callable[[], float]
    refresh: Callable[[], Awaitable[None]]
    broker: Broker | None = None


def application(probed: Probed) -> web.Application:
    """The three routes."""
    probes = _Probes(probed)
    app = web.Application()
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
        crew, probed = self._probed.crew(), self._probed
        queue, store = await asyncio.gather(
            why_not(_takes_pushes(probed), within_s=CHECK_S),
            why_not(probed.store.read_state(STATE), within_s=CHECK_S),
        )
        draining = "this process is stopping" if crew.draining else ""
        crawl = crew.trouble if crew.wanted and not crew.paused else ""  # what does not work cannot find out it could
        return _verdict({"draining": draining, "queue": queue, "store": store, "crawl": crawl})

    def _stalled(self) -> str:
        """Why starting anew would help; empty while it would not."""
        crew, probed = self._probed.crew(), self._probed
        if crew.paused or crew.draining or not crew.wanted:
            return ""
        longest = timedelta(seconds=probed.timeout_s() + STALL_MARGIN_S)
        silent = probed.clock.now() - probed.last_turn()
        return f"no loop has come round for {silent.total_seconds():.0f} s" if silent > longest else ""


async def _takes_pushes(probed: Probed) -> None:
    """Raises QueueError where the queue does not."""
    if probed.broker is None:
        await probed.queue.depths()
    elif probed.broker.blocked:
        raise QueueError("the broker is short of memory or disk and accepts nothing")
    else:
        await probed.broker.answer()


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
