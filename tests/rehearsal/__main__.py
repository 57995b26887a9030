"""`make rehearsal`: the sequence in a real Kubernetes, whichever `kubectl` points to.

The image is built from this checkout and given to the cluster by the command in GHCRAWL_REHEARSAL_IMAGE, which gets a
folder and a name (default: docker build, then kind load). Broker, database and GitHub run on this machine, where pods
must reach it; the address is found by asking which of ours leads to a node. Nothing is left in the cluster.
"""

from __future__ import annotations

import asyncio
import os
import shlex
import socket
import subprocess
import sys
import tempfile
from contextlib import AsyncExitStack
from pathlib import Path
from typing import Final
from urllib.parse import urlsplit

import aiohttp

from ghcrawl import __version__
from stores.mongo.settings import MongoSettings
from tests.rehearsal import settings as rehearsed
from tests.rehearsal.cluster import Cluster
from tests.rehearsal.door import door
from tests.rehearsal.github import github
from tests.rehearsal.kubectl import found, proxy
from tests.rehearsal.sequence import Rehearsal
from tests.rehearsal.timeline import Timeline
from tests.rehearsal.truth import Difference, difference
from tests.rehearsal.watch import Watch
from tests.support.services.debian import Unavailable
from tests.support.services.fixtures import keeper
from tests.support.services.mongo import MongoServer
from tests.support.services.rabbitmq import Broker
from tests.support.services.wanted import distribution

ROOT: Final = Path(__file__).parents[2]
IMAGE: Final = f"localhost/ghcrawl:{__version__}-rehearsal"
BY_KIND: Final = 'sh -c \'docker build --tag "$1" "$0" && kind load docker-image "$1"\''
DATABASE: Final = "ghcrawl_rehearsal"


def _build(timeline: Timeline) -> None:
    """The image is where the cluster's nodes look for images."""
    command = os.environ.get("GHCRAWL_REHEARSAL_IMAGE", BY_KIND)
    with timeline.step(f"the image {IMAGE}"):
        whole = [*shlex.split(command), str(ROOT), IMAGE]
        done = subprocess.run(whole, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False)
        if done.returncode:
            sys.exit(f"{command} {ROOT} {IMAGE}\n{done.stdout[-4000:]}")


async def _node() -> str:
    """An address of a node."""
    nodes = (await found("get", "nodes"))["items"]
    addresses = [one["address"] for one in nodes[0]["status"]["addresses"] if one["type"] == "InternalIP"]
    return str(addresses[0])


def _ours_towards(node: str) -> str:
    """The address of this machine that leads to a node: pods reach it there."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as asking:
        asking.connect((node, 9))
        return str(asking.getsockname()[0])


async def _play(broker: Broker, mongo: MongoServer, folder: Path, timeline: Timeline) -> tuple[Difference, Watch]:
    node = await _node()
    host = _ours_towards(node)
    timeline.say(f"node {node}, servers on {host}")
    async with AsyncExitStack() as stack:
        place = await stack.enter_async_context(github(host))
        amqp_port = await stack.enter_async_context(door(host, broker.port))
        mongo_port = await stack.enter_async_context(door(host, int(urlsplit(mongo.url).port or 0)))
        timeout = aiohttp.ClientTimeout(total=15)
        session = await stack.enter_async_context(aiohttp.ClientSession(timeout=timeout))
        api = await stack.enter_async_context(proxy())
        fleet = Cluster(folder=folder, session=session, image=IMAGE, node=node, api=api)
        await fleet.close()  # what an earlier one may have left
        stack.push_async_callback(fleet.close)
        secrets = rehearsed.secrets(
            amqp_url=f"amqp://guest:guest@{host}:{amqp_port}/%2F", mongo_url=f"mongodb://{host}:{mongo_port}"
        )
        place.know(secrets["tokens"])
        place.secret = secrets["webhook-secrets"]
        watch = Watch(fleet=fleet, timeline=timeline)
        rehearsal = Rehearsal(
            fleet=fleet,
            github=place,
            broker=broker,
            watch=watch,
            timeline=timeline,
            config=lambda loops: rehearsed.config(loops=loops, api_url=place.server.url, database=DATABASE),
            secrets=secrets,
        )
        await rehearsal.play()
        timeline.say(f"{place.accepted} deliveries taken, {place.server.journal.total} calls answered")
        return await difference(MongoSettings(url=mongo.url, database=DATABASE), place.expected()), watch


def main() -> int:
    """Returns the exit status: 0 if nothing was lost, nothing buried, and no probe told an untruth."""
    timeline = Timeline()
    _build(timeline)
    with keeper("rehearsal") as kept, tempfile.TemporaryDirectory() as folder:
        timeline.say("RabbitMQ and the database")
        try:
            broker, mongo = Broker(kept, distribution()), MongoServer(kept)
        except Unavailable as error:
            sys.exit(str(error))
        broker.start()
        mongo.start()
        found, watch = asyncio.run(_play(broker, mongo, Path(folder), timeline))
    timeline.say(f"{watch.looks} looks at the probes; untrue: {watch.untrue or 'nothing'}")
    timeline.say(f"{found.documents} documents; " + (f"different: {found}" if found else "as in GitHub's world"))
    return 1 if found or watch.untrue else 0


if __name__ == "__main__":
    sys.exit(main())
