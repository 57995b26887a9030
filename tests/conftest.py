"""What every test shares: how hard hypothesis looks, and an environment free of the developer's own settings."""

from __future__ import annotations

import os

import pytest
from hypothesis import HealthCheck, settings

# `thorough` is for a nightly run or a hunt: HYPOTHESIS_PROFILE=thorough.
settings.register_profile("quick", max_examples=30, deadline=None, database=None)
settings.register_profile(
    "thorough", max_examples=2000, deadline=None, database=None, suppress_health_check=[HealthCheck.too_slow]
)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "quick"))


@pytest.fixture(autouse=True)
def _own_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    """A developer's GHCRAWL_… variables and proxies are not part of any test."""
    for name in os.environ:
        if name.startswith("GHCRAWL_") and not name.startswith("GHCRAWL_TEST_"):
            monkeypatch.delenv(name)
        if name.lower().endswith("_proxy"):
            monkeypatch.delenv(name)
