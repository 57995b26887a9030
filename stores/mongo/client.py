"""The connection to MongoDB."""

from __future__ import annotations

import os
from typing import Any, Final

from motor.motor_asyncio import AsyncIOMotorClient
from pymongo.errors import ConfigurationError, InvalidName

from ghcrawl.values.errors import ConfigError
from stores.mongo.settings import MongoSettings

THREADS: Final = int(os.environ.get("MOTOR_MAX_WORKERS") or (os.cpu_count() or 1) * 5)
"""Threads in which motor runs its calls. More connections than threads would never be used."""
_BAD_URL: Final = (
    "the MongoDB URL cannot be used; it should look like mongodb://user:password@host:27017, with %-escapes for "
    "special characters in the password"
)


def client_of(settings: MongoSettings) -> AsyncIOMotorClient[dict[str, Any]]:
    """A client that connects on first use. Raises ConfigError for a URL that is none."""
    try:
        return AsyncIOMotorClient(
            settings.url,
            appname="ghcrawl",
            timeoutMS=int(settings.timeout_s * 1000),
            maxPoolSize=min(settings.connections, THREADS),
        )
    except (ConfigurationError, InvalidName, ValueError, TypeError):
        raise ConfigError(_BAD_URL) from None  # the driver's message may hold a part of the password
