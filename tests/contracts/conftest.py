from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

SUITES = ("queue_contract", "store_contract", "deadletter_contract", "ledger_contract")
pytest.register_assert_rewrite(*(f"tests.contracts.{suite}" for suite in SUITES))

from tests.contracts.adapters import Opener, Rig  # noqa: E402  # after the line above, or asserts say nothing


@pytest.fixture
async def rig(request: pytest.FixtureRequest, tmp_path: Path) -> AsyncIterator[Rig]:
    """One adapter, open; which one is the parameter."""
    opener: Opener = request.param
    async with opener(tmp_path) as opened:
        yield opened
