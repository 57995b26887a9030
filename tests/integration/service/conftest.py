"""`ghcrawl serve` as a process of its own, and somebody who asks it."""

from __future__ import annotations

import asyncio
import hmac
import json
import shlex
from collections.abc import AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from dataclasses import dataclass
from hashlib import sha256
from itertools import count
from pathlib import Path
from typing import Any

import pytest
from aiohttp import ClientResponse, ClientSession

from tests.support.cli import Ran, Running, shell
from tests.support.services.fixtures import broker, mongo_url, rabbitmq, vhost

OPERATOR = "operator-token"
READER = "reader-token"
SECRET = "webhook-secret"
PATIENCE_S = 60.0


@dataclass
class Served:
    """A running service. url: of its API; probes: of metrics and probes."""

    running: Running
    session: ClientSession
    log: Path
    url: str = ""
    probes: str = ""

    async def started(self) -> None:
        """Return once it answers."""
        line = await self.until("service_started")
        self.url, self.probes = line["url"], line["probes"]

    def logged(self) -> list[dict[str, Any]]:
        """Every line of its log so far."""
        text = self.log.read_text() if self.log.exists() else ""
        return [json.loads(line) for line in text.splitlines(keepends=True) if line.endswith("\n")]

    async def until(self, event: str) -> dict[str, Any]:
        """The first line with that event, once it is there."""
        async with asyncio.timeout(PATIENCE_S):
            while True:
                found = [line for line in self.logged() if line["event"] == event]
                if found:
                    return found[0]
                assert self.running.process.returncode is None, self.log.read_text()
                await asyncio.sleep(0.02)

    async def ask(self, method: str, path: str, body: Any = None, token: str = OPERATOR) -> Any:
        """The JSON of a good answer."""
        headers = {"Authorization": f"Bearer {token}"}
        async with self.session.request(method, self.url + path, json=body, headers=headers) as response:
            text = await response.text()
            assert response.status < 300, text
            return json.loads(text)

    async def deliver(self, event: str, delivery: str, body: bytes) -> int:
        """The status of a signed delivery's answer."""
        headers = {
            "X-GitHub-Event": event,
            "X-GitHub-Delivery": delivery,
            "X-Hub-Signature-256": f"sha256={hmac.new(SECRET.encode(), body, sha256).hexdigest()}",
            "Content-Type": "application/json",
        }
        async with self.session.post(f"{self.url}/webhook", data=body, headers=headers) as response:
            await response.read()
            return response.status

    async def probe(self, path: str) -> tuple[int, str]:
        """Status and text of a probe."""
        response: ClientResponse
        async with self.session.get(self.probes + path) as response:
            return response.status, await response.text()

    async def until_done(self) -> None:
        """Return once nothing waits."""
        await self.holds("/api/v1/queues", lambda found: not any(queue["total"] for queue in found["queues"]))

    async def holds(self, path: str, wanted: Callable[[Any], bool]) -> None:
        """Return once what is answered there is as it is wanted."""
        found: Any = None
        try:
            async with asyncio.timeout(PATIENCE_S):
                while True:
                    found = await self.ask("GET", path)
                    if wanted(found):
                        return
                    await asyncio.sleep(0.05)
        except TimeoutError:
            raise AssertionError(f"{path} stays {found}; {self.logged()[-10:]}") from None

    async def stop(self, number: int) -> Ran:
        """Send it a signal. Returns what it came to."""
        self.running.send(number)
        return await self.running.ended()


__all__ = ["broker", "mongo_url", "rabbitmq", "vhost"]
Serve = Callable[..., AbstractAsyncContextManager[Served]]


@pytest.fixture
def serve(tmp_path: Path) -> Serve:
    """Starts `ghcrawl serve` in a folder: `async with serve("--loops", "5", GHCRAWL_TOKENS=…) as served`."""

    numbers = count()

    @asynccontextmanager
    async def start(*words: str, descriptors: int = 0, **environ: str) -> AsyncIterator[Served]:
        log = tmp_path / f"serve-{next(numbers)}.log"
        limited = f"ulimit -n {descriptors} && " if descriptors else ""
        wrap = ("sh", "-c", f'{limited}exec "$@" 2>{shlex.quote(str(log))}', "sh")
        known = {
            "GHCRAWL_ADMIN_TOKEN": f"{OPERATOR};{READER}#read",
            "GHCRAWL_WEBHOOK_SECRETS": SECRET,
            "GHCRAWL_SQLITE__SYNCHRONOUS": "normal",
        }
        async with shell(tmp_path, **(known | environ)) as sh, ClientSession() as session:
            command = ("serve", "--port", "0", "--metrics-port", "0", *words)
            served = Served(await sh.start(*command, wrap=wrap), session, log)
            await served.started()
            yield served

    return start
