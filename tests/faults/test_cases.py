"""The table in `conftest` is true: each case has a test, in the file that the table names."""

from __future__ import annotations

import ast
import re
from pathlib import Path

HERE = Path(__file__).parent
IN_EVERY_RUN = {1, 2, 3, 6, 15, 17, 19}


def numbers_in(text: str) -> set[int]:
    """The cases that a docstring begins with: `Case 1.`, `Cases 4 and 5: …`."""
    found = re.match(r"Cases? ([\d, and]+)[.,:]", text)
    return {int(number) for number in re.findall(r"\d+", found[1])} if found else set()


def cases() -> list[tuple[str, str, set[int]]]:
    """File, source and cases of every test here."""
    found: list[tuple[str, str, set[int]]] = []
    for path in sorted(HERE.glob("test_*.py")):
        module = ast.parse(path.read_text())
        whole = "pytestmark" in path.read_text() and "mark.faults" in path.read_text().partition("pytestmark")[2][:60]
        for node in module.body:
            if isinstance(node, ast.AsyncFunctionDef | ast.FunctionDef) and node.name.startswith("test_"):
                marks = " ".join(map(ast.unparse, node.decorator_list)) + (" mark.faults" if whole else "")
                found.append((path.stem, marks, numbers_in(ast.get_docstring(node) or "")))
    return found


def table() -> dict[int, str]:
    """Case → the file that the table names first."""
    text = ast.get_docstring(ast.parse((HERE / "conftest.py").read_text())) or ""
    return {int(number): file for number, file in re.findall(r"^\s+(\d+)  .*?  (test_\w+)", text, re.MULTILINE)}


def test_every_case_has_a_test_where_the_table_says() -> None:
    assert sorted(table()) == list(range(1, 29))
    for number, file in table().items():
        assert [name for name, _, held in cases() if number in held and name == file], f"case {number} is in {file}"


def test_the_cases_of_every_run_are_not_left_to_make_faults() -> None:
    always = set[int]().union(*(held for _, marks, held in cases() if "mark.faults" not in marks))
    assert always >= IN_EVERY_RUN
