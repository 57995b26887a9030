"""The only list of platforms. Only `ghcrawl.wiring` imports it."""

from __future__ import annotations

from typing import Final

from ghcrawl.platforms.contract import Platform
from ghcrawl.platforms.github import GITHUB

PLATFORMS: Final[tuple[Platform, ...]] = (GITHUB,)
