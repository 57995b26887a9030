"""`ghcrawl tables ask` on a terminal."""

from __future__ import annotations

import io
from pathlib import Path
from typing import Any

import pytest
from rich.console import Console

from ghcrawl.cli import asking, output
from ghcrawl.tables.asking import Answer
from processors.github.tables import TABLES


@pytest.fixture
def shown(monkeypatch: pytest.MonkeyPatch) -> io.StringIO:
    """What a terminal of 20 columns shows."""
    file = io.StringIO()
    terminal = Console(file=file, width=20, force_terminal=True, color_system=None)
    monkeypatch.setattr(output, "console", lambda: terminal)
    return file


def test_numbers_are_aligned_and_never_cut(shown: io.StringIO, monkeypatch: pytest.MonkeyPatch) -> None:
    answers(monkeypatch, ("acme/documentation", 3, 1751.88), ("acme/web", 12, None))
    assert shown.getvalue().splitlines() == [
        "repo                number    hours",
        "acme/documentation       3  1751.88",
        "acme/web                12",
    ]


def test_text_in_the_last_column_has_the_room_that_is_left(shown: io.StringIO, monkeypatch: pytest.MonkeyPatch) -> None:
    answers(monkeypatch, ("acme", 3, "a title that is long"))
    assert shown.getvalue().splitlines() == ["repo  number  hours", "acme       3  a tit…"]


def answers(monkeypatch: pytest.MonkeyPatch, *rows: tuple[Any, ...]) -> None:
    found = Answer(columns=("repo", "number", "hours"), rows=rows)
    monkeypatch.setattr(asking, "ask", lambda *_, **__: found)
    assert asking.answer(TABLES, "time_to_merge", Path("acme.sqlite"), limit=50, json=False) == 0
