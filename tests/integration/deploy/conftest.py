"""The servers that a rehearsal runs on."""

from __future__ import annotations

from tests.support.services.fixtures import broker, mongo_url

__all__ = ["broker", "mongo_url"]
