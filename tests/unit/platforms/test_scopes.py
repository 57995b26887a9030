"""What `crawl.allow` and `crawl.exclude` match, of every platform."""

from __future__ import annotations

import pytest

from ghcrawl.platforms.contract import Platform
from ghcrawl.platforms.registry import PLATFORMS
from ghcrawl.values.scope import Scope

SPECS = {
    "github": ("acme/web", "acme/web"),
    "bluesky": ("at://did:plc:abc/app.bsky.feed.post/3k", "did:plc:abc"),
    "mastodon": ("//social.example:8080/@alice/7", "social.example:8080"),
    "web": ("https://blog.example/feed", "blog.example"),
}


@pytest.mark.parametrize("platform", PLATFORMS, ids=lambda platform: platform.name)
def test_every_platform_says_whose_a_request_is(platform: Platform) -> None:
    typed, scope = SPECS[platform.name]
    base = platform.base_url(platform.section())
    request = platform.read_spec(typed, base, "default")
    assert platform.scope(request) == scope
    assert not Scope(exclude=(scope,)).admits(platform.scope(request))
    assert Scope(allow=(scope,)).admits(platform.scope(request))
