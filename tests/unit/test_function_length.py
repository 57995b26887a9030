"""No function is longer than a screen."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path
from typing import Final

ROOT: Final = Path(__file__).parents[2]
PACKAGES: Final = ("ghcrawl", "processors", "queues", "stores")
MAX_LINES: Final = 40


def long_functions(path: Path) -> Iterator[str]:
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            described = ast.get_docstring(node) is not None
            docstring = (node.body[0].end_lineno or 0) - node.body[0].lineno + 1 if described else 0
            lines = (node.end_lineno or 0) - node.lineno + 1 - docstring
            if lines > MAX_LINES:
                yield f"{path.relative_to(ROOT)}: {node.name} has {lines} lines"


def test_no_function_is_longer_than_forty_lines_besides_its_docstring():
    files = [path for package in PACKAGES for path in sorted((ROOT / package).rglob("*.py"))]
    assert [found for path in files for found in long_functions(path)] == []
