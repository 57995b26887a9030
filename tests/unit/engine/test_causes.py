"""Every class of failure says what happened, and the manual explains it."""

from __future__ import annotations

from pathlib import Path

import pytest

from ghcrawl.engine.decision import cause_of
from ghcrawl.values.errors import FetchError, Malformed, SpecError, Unstorable

MANUAL = (Path(__file__).parents[3] / "docs/operations.md").read_text(encoding="utf-8")


@pytest.mark.parametrize(
    ("error", "cause"),
    [
        (FetchError("away", url="https://x"), "connection_lost"),
        (FetchError("no JSON", url="https://x", status=200, cause="invalid_json"), "invalid_json"),
        (FetchError("broken", url="https://x", status=502), "http_502"),
        (Malformed("no id"), "malformed"),
        (SpecError("no policy"), "invalid_request"),
        (Unstorable("16 MB"), "unstorable"),
        (TimeoutError(), "timeout"),
        (KeyError("node_id"), "internal_error"),
    ],
)
def test_a_failure_is_classed_by_what_happened(error: Exception, cause: str) -> None:
    assert cause_of(error) == cause
    assert f"`{cause}`" in MANUAL or cause.startswith("http_")
