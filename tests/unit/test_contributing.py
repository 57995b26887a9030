"""What CONTRIBUTING.md shows is in the files that it names."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
STEP = re.compile(r"`([\w/.]+\.py)`[^`]*(?:`[^`.]+`[^`]*)*:\n\n +```python\n(.*?)```", re.DOTALL)
STEPS = STEP.findall((ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8"))


def lines(code: str) -> list[str]:
    return [line.strip() for line in code.splitlines() if line.strip()]


def test_it_shows_four_steps():
    assert len(STEPS) == 4


@pytest.mark.parametrize(("path", "code"), STEPS, ids=[path for path, _ in STEPS])
def test_a_step_is_in_the_file_that_it_names(path: str, code: str):
    there = lines((ROOT / path).read_text(encoding="utf-8"))

    assert [line for line in lines(code) if line not in there] == []
