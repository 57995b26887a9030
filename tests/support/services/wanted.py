"""Which servers a run is to use, and what it means when one cannot be had."""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import Final, NoReturn

import pytest

from tests.support.services.debian import Distribution, Unavailable, rabbitmq_3, rabbitmq_4

AMQP_URL: Final = "GHCRAWL_TEST_AMQP_URL"
MANAGEMENT_URL: Final = "GHCRAWL_TEST_AMQP_MANAGEMENT_URL"
MONGO_URL: Final = "GHCRAWL_TEST_MONGO_URL"
AMQP: Final = "GHCRAWL_TEST_AMQP"
"""Which RabbitMQ to start where no URL is given: 3.10 (the default), 4.0, or cluster, which is three of 3.10."""

DISTRIBUTIONS: Final[dict[str, Callable[[], Distribution]]] = {
    "3.10": rabbitmq_3,
    "4.0": rabbitmq_4,
    "cluster": rabbitmq_3,
}


def kind() -> str:
    """Which RabbitMQ this run starts."""
    return os.environ.get(AMQP, "3.10")


def distribution() -> Distribution:
    """Where this run's RabbitMQ comes from. Raises Unavailable."""
    try:
        return DISTRIBUTIONS[kind()]()
    except KeyError:
        raise Unavailable(f"{AMQP} is {kind()!r}; there are {', '.join(DISTRIBUTIONS)}") from None


def absent(error: Unavailable) -> NoReturn:
    """A server cannot be had: that fails a run whose purpose is to find out, and is skipped, visibly, elsewhere."""
    if os.environ.get("CI"):
        pytest.fail(str(error), pytrace=False)
    pytest.skip(str(error))
