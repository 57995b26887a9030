"""Batch mismatches are kept in the store, by platform and API; a new version of ghcrawl starts without them."""

from __future__ import annotations

import pytest

from ghcrawl.engine import batch_mismatches
from stores.memory import MemoryStore

API = "https://api.example.com"


async def test_what_was_found_is_known_and_added_to():
    store = MemoryStore()
    await batch_mismatches.remember(store, "github", API, {"user": ["bio"]})
    await batch_mismatches.remember(store, "github", API, {"pull_request": ["additions", "commits"]})

    assert await batch_mismatches.read(store, "github", API) == {
        "user": ("bio",),
        "pull_request": ("additions", "commits"),
    }
    assert await batch_mismatches.read(store, "github", "https://ghe.example.com") == {}


async def test_another_version_begins_anew(monkeypatch: pytest.MonkeyPatch):
    store = MemoryStore()
    await batch_mismatches.remember(store, "github", API, {"user": ["bio"]})
    monkeypatch.setattr(batch_mismatches, "__version__", "999.0")

    assert await batch_mismatches.read(store, "github", API) == {}
    await batch_mismatches.remember(store, "github", API, {"reviews": ["7"]})
    assert await batch_mismatches.read(store, "github", API) == {"reviews": ("7",)}


async def test_what_is_kept_is_bounded():
    store = MemoryStore()
    await batch_mismatches.remember(store, "github", API, {"reviews": [str(number) for number in range(1000)]})

    assert len((await batch_mismatches.read(store, "github", API))["reviews"]) == batch_mismatches.MOST
