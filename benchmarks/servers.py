"""The servers that benchmarks run on: those that `GHCRAWL_TEST_AMQP_URL` and `GHCRAWL_TEST_MONGO_URL` name, or own.

And `ghcrawl serve` itself, as a process of its own.
"""

from __future__ import annotations

import asyncio
import json
import os
import sys
import time
from collections.abc import AsyncIterator, Iterator, Mapping
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, BinaryIO, Final

from aiohttp import ClientSession
from motor.motor_asyncio import AsyncIOMotorClient
from msgspec import Struct

from ghcrawl.backend import Backend
from ghcrawl.settings.sections import Settings
from queues.amqp.queue import AmqpQueue
from tests.support.cli import Shell
from tests.support.services.fixtures import keeper
from tests.support.services.mongo import MongoServer
from tests.support.services.rabbitmq import Broker
from tests.support.services.wanted import AMQP_URL, MANAGEMENT_URL, MONGO_URL, distribution

TICKS: Final = os.sysconf("SC_CLK_TCK")
PAGE_BYTES: Final = os.sysconf("SC_PAGESIZE")
MB: Final = 1024**2
WATERMARK: Final = "vm_memory_high_watermark"
OPERATOR: Final = "operator-token"
ALL_TO_STDERR: Final = ("sh", "-c", 'exec "$@" 1>&2', "sh")


class Servers(Struct, frozen=True, kw_only=True):
    """A RabbitMQ and a server that speaks MongoDB's protocol.

    sessions: of the processes of each, and folders: what each keeps, where they are ours.
    """

    amqp_url: str
    management_url: str
    mongo_url: str
    sessions: Mapping[str, int] = {}
    folders: Mapping[str, Path] = {}

    def settings(self, name: str, **crawl: Any) -> Settings:
        """Queues and documents under a name of their own."""
        return Settings.model_validate(
            {
                "crawl": crawl,
                "queue": {"provider": "amqp"},
                "amqp": {"url": self.amqp_url, "management_url": self.management_url, "prefix": name},
                "store": {"provider": "mongo"},
                "mongo": {"url": self.mongo_url, "database": name, "timeout_s": 120.0},
            }
        )

    def environment(self, name: str) -> Mapping[str, str]:
        """The same as environment variables of a command."""
        return {
            "GHCRAWL_QUEUE__PROVIDER": "amqp",
            "GHCRAWL_AMQP__URL": self.amqp_url,
            "GHCRAWL_AMQP__PREFIX": name,
            "GHCRAWL_STORE__PROVIDER": "mongo",
            "GHCRAWL_MONGO__URL": self.mongo_url,
            "GHCRAWL_MONGO__DATABASE": name,
        }

    async def forget(self, name: str, backend: Backend) -> None:
        """Nothing is left of what was under that name."""
        assert isinstance(backend.queue, AmqpQueue)
        channel = await backend.queue.link.channel()
        for spec in backend.queue.names.specs():
            await channel.queue_delete(spec.name)
            await channel.exchange_delete(spec.exchange)
        client: AsyncIOMotorClient[dict[str, Any]] = AsyncIOMotorClient(self.mongo_url)
        await client.drop_database(name)
        client.close()


@contextmanager
def servers(*, broker_memory_gb: int = 0) -> Iterator[Servers]:
    """Both, until the block is left. broker_memory_gb: what a broker of our own may take; 0: as in tests."""
    amqp_url, mongo_url = os.environ.get(AMQP_URL), os.environ.get(MONGO_URL)
    if amqp_url and mongo_url:
        yield Servers(amqp_url=amqp_url, management_url=os.environ.get(MANAGEMENT_URL, ""), mongo_url=mongo_url)
        return
    with keeper("benchmark") as kept:
        mongo, broker = MongoServer(kept), Broker(kept, distribution())
        if broker_memory_gb:
            _allow(broker, broker_memory_gb)
        mongo.start()
        broker.start()
        yield Servers(
            amqp_url=broker.server.url,
            management_url=broker.server.management_url,
            mongo_url=mongo.url,
            sessions={"rabbitmq": broker.session, "database": mongo.session},
            folders={"rabbitmq": broker.folder, "database": mongo.folder},
        )


@dataclass
class Service:
    """A service that runs, and a session to ask it with. url: of its API."""

    session: ClientSession
    url: str

    async def ask(self, method: str, path: str, body: Mapping[str, Any] | None = None) -> Any:
        """What the API answers to its operator, which must be good."""
        headers = {"Authorization": f"Bearer {OPERATOR}"}
        async with self.session.request(method, self.url + path, json=body, headers=headers) as response:
            value = await response.json()
            assert response.status < 300, value
        return value


@asynccontextmanager
async def serving(sh: Shell, session: ClientSession, *words: str, **environ: str) -> AsyncIterator[Service]:
    """`ghcrawl serve` with these words, once it answers. What it says is in `serve.log` of the shell's folder."""
    ports = ("--port", "0", "--metrics-port", "0")
    environ["GHCRAWL_ADMIN_TOKEN"] = OPERATOR
    running = await sh.start("serve", *ports, *words, wrap=ALL_TO_STDERR, terminal=None, talks=True, **environ)
    said = running.process.stderr
    assert said is not None
    with (sh.folder / "serve.log").open("wb") as log:
        url = await _address(said, log)
        keeping = asyncio.create_task(_keep(said, log))
        try:
            yield Service(session, url)
        finally:
            keeping.cancel()


async def _address(said: asyncio.StreamReader, log: BinaryIO) -> str:
    """Where a service answers, once it says so. All that it says until then is in `log`."""
    before = bytearray()
    async for line in said:
        before += line
        log.write(line)
        if line.startswith(b"{") and (told := json.loads(line))["event"] == "service_started":
            return str(told["url"])
    raise AssertionError(f"it ended before it had begun: {before.decode()}")


async def _keep(said: asyncio.StreamReader, log: BinaryIO) -> None:
    """Whoever says something never waits for somebody to read it."""
    while some := await said.read(MB):
        log.write(some)


def _allow(broker: Broker, memory_gb: int) -> None:
    """The broker accepts messages until it takes so much memory."""
    file = broker.folder / "rabbitmq.conf"
    lines = [line for line in file.read_text().splitlines() if not line.startswith(WATERMARK)]
    file.write_text("\n".join([*lines, f"{WATERMARK}.absolute = {memory_gb}GB", ""]))


def cpu_of(sessions: Mapping[str, int]) -> dict[str, float]:
    """Processor time in seconds of all processes in each session."""
    spent = dict.fromkeys(sessions, 0.0)
    for name, fields in _processes(sessions):
        spent[name] += (int(fields[11]) + int(fields[12])) / TICKS
    return spent


def memory_mb_of(sessions: Mapping[str, int]) -> dict[str, float]:
    """What all processes in each session hold in memory now."""
    held = dict.fromkeys(sessions, 0.0)
    for name, fields in _processes(sessions):
        held[name] += int(fields[21]) * PAGE_BYTES / MB
    return held


def disk_mb_of(folders: Mapping[str, Path]) -> dict[str, float]:
    """What lies on disk in each folder now."""
    return {name: sum(_bytes_of(path) for path in folder.rglob("*")) / MB for name, folder in folders.items()}


def _bytes_of(path: Path) -> int:
    try:
        return path.stat().st_blocks * 512 if path.is_file() else 0
    except OSError:  # gone meanwhile
        return 0


def _processes(sessions: Mapping[str, int]) -> Iterator[tuple[str, list[str]]]:
    """The name of its session, and what `/proc` says behind its own name, of each process in one of these."""
    names = {session: name for name, session in sessions.items()}
    for stat in Path("/proc").glob("[0-9]*/stat"):
        try:
            fields = stat.read_text().rpartition(")")[2].split()
        except OSError:
            continue
        if name := names.get(int(fields[3])):
            yield name, fields


def machine_s() -> tuple[float, float]:
    """Processor time that this machine has worked, and that it has had: a machine that is all busy goes no faster."""
    times = [int(field) for field in Path("/proc/stat").read_text().split("\n", 1)[0].split()[1:9]]
    return sum(times) - times[3] - times[4], sum(times)


def tell(line: str) -> None:
    """How far it is, on standard error."""
    print(f"{time.strftime('%H:%M:%S')} {line}", file=sys.stderr, flush=True)
