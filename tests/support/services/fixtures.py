"""The servers as pytest fixtures: one of each for a run, and one's own for a test that harms it.

A conftest takes what it needs by importing it.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from uuid import uuid4

import pytest

from tests.support.services.cluster import Cluster
from tests.support.services.debian import Unavailable
from tests.support.services.keeper import Keeper
from tests.support.services.mongo import MongoServer
from tests.support.services.rabbitmq import Broker, Server, delete_vhost, make_vhost
from tests.support.services.wanted import AMQP_URL, MANAGEMENT_URL, MONGO_URL, absent, distribution, kind


@contextmanager
def keeper(name: str) -> Iterator[Keeper]:
    """A keeper, closed at the end."""
    kept = Keeper(name)
    try:
        yield kept
    finally:
        kept.close()


@pytest.fixture(scope="session")
def rabbitmq() -> Iterator[Server]:
    """A broker for the whole run. Tests share it, each in a virtual host or under a prefix of its own."""
    if url := os.environ.get(AMQP_URL):
        yield Server(url=url, management_url=os.environ.get(MANAGEMENT_URL, ""))
        return
    with keeper("rabbitmq") as kept:
        started: Broker | Cluster
        try:
            started = Cluster(kept, distribution()) if kind() == "cluster" else Broker(kept, distribution())
        except Unavailable as error:
            absent(error)
        started.start()
        yield started.server


@pytest.fixture
def vhost(rabbitmq: Server) -> Iterator[Server]:
    """The broker of the run, with a virtual host that is empty and goes with the test.

    A broker that was given by its URL alone has no management API to make one with: its own is used.
    """
    if not rabbitmq.management_url:
        yield rabbitmq
        return
    name = f"test-{uuid4().hex[:12]}"
    yield make_vhost(rabbitmq, name)
    delete_vhost(rabbitmq, name)


@pytest.fixture
def broker() -> Iterator[Broker]:
    """A broker of the test's own, which it may stop, kill and break. Takes some seconds to start."""
    with ExitStack() as stack:
        try:
            own = Broker(stack.enter_context(keeper("broker")), distribution())
        except Unavailable as error:
            absent(error)
        own.start()
        yield own


@pytest.fixture(scope="session")
def mongo_url() -> Iterator[str]:
    """A server that speaks MongoDB's protocol, for the whole run. Tests share it, each in a database of its own."""
    if url := os.environ.get(MONGO_URL):
        yield url
        return
    with keeper("mongo") as kept:
        yield _mongo(kept).url


@pytest.fixture
def mongo_server() -> Iterator[MongoServer]:
    """One of the test's own, which it may stop and kill."""
    with keeper("mongo") as kept:
        yield _mongo(kept)


def _mongo(kept: Keeper) -> MongoServer:
    try:
        server = MongoServer(kept)
    except Unavailable as error:
        absent(error)
    server.start()
    return server
