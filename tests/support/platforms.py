"""Platforms of the tests' own: what they need beside what they are."""

from __future__ import annotations

from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from typing import Any, Final

from ghcrawl.platforms.contract import Platform
from ghcrawl.platforms.mount import Mount, Mounts
from ghcrawl.ports.clock import Clock
from ghcrawl.ports.observer import Observer
from ghcrawl.ports.quotas import Egress
from ghcrawl.ports.source import Credential, Source
from ghcrawl.values.section import Section
from tests.support.builders import API

SIMULATED: Final[dict[str, Any]] = {"github.calls_per_min": 0, "github.response_s_per_min": 0}
"""Settings for a simulator, which has no secondary limits."""


class ApiSection(Section):
    """Of a platform with one API."""

    api_url: str = API


@asynccontextmanager
async def never_opened(
    section: Section, credentials: Sequence[Credential], clock: Clock, observer: Observer, egress: Egress
) -> AsyncIterator[Source]:
    """For platforms whose answers a test brings along."""
    raise AssertionError("this platform's source is not to be opened")
    yield


def mounted(*platforms: Platform) -> Mounts:
    """As their default settings have them."""
    return Mounts(Mount(platform=each, section=each.section()) for each in platforms)
