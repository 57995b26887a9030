"""The only list of platforms. Only `ghcrawl.wiring` imports it."""

from __future__ import annotations

from typing import Final

from ghcrawl.platforms.atproto import BLUESKY
from ghcrawl.platforms.contract import Platform
from ghcrawl.platforms.github import GITHUB
from ghcrawl.platforms.mastodon import MASTODON
from ghcrawl.platforms.web import WEB

PLATFORMS: Final[tuple[Platform, ...]] = (GITHUB, BLUESKY, MASTODON, WEB)
