"""What a crawl keeps its requests and documents in, as settings."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest


@pytest.fixture
def backend(tmp_path: Path) -> Mapping[str, Any]:
    """Settings of a backend that nobody else has: one file."""
    return {"sqlite.path": str(tmp_path / "a.db"), "sqlite.synchronous": "normal"}
