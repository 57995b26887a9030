from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

SUITES = ("queue", "patience", "store", "url", "listing", "deadletter", "ledger")
pytest.register_assert_rewrite(*(f"tests.contracts.{suite}_contract" for suite in SUITES))

from tests.contracts.adapters import Opener, Rig  # noqa: E402  # after the line above, or asserts say nothing


@pytest.fixture
async def rig(request: pytest.FixtureRequest, tmp_path: Path) -> AsyncIterator[Rig]:
    """One adapter, open; which one is the parameter."""
    opener: Opener = request.param
    async with opener(tmp_path) as opened:
        yield opened
