"""The tables of all platforms, as the command line knows them."""

from __future__ import annotations

from typing import Final

from ghcrawl.platforms.tables import Schema, together
from ghcrawl.wiring import PLATFORMS

EVERYTHING: Final[Schema] = together(platform.tables for platform in PLATFORMS)
