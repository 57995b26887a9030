from __future__ import annotations

from collections.abc import AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager
from pathlib import Path
from typing import Any

import pytest

SUITES = (
    "forms",
    "sources",
    "stream",
    "queue",
    "patience",
    "store",
    "url",
    "listing",
    "history",
    "deadletter",
    "ledger",
)
pytest.register_assert_rewrite(*(f"tests.contracts.{suite}_contract" for suite in SUITES))


@pytest.fixture
async def rig(request: pytest.FixtureRequest, tmp_path: Path) -> AsyncIterator[Any]:
    """A `Rig` of one adapter, open; which one is the parameter."""
    opener: Callable[[Path], AbstractAsyncContextManager[Any]] = request.param
    async with opener(tmp_path) as opened:
        yield opened
