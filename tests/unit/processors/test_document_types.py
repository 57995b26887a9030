"""The page that says what documents look like."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.support.document_types import page

COMMITTED = Path(__file__).parents[3] / "docs" / "documents.md"


@pytest.mark.slow
def test_the_committed_page_is_what_processors_make_of_a_simulated_world():
    written = COMMITTED.read_text(encoding="utf-8")
    assert written == page(), "run make docs"
