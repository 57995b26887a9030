"""`docs/exports.md`: every example runs on a file with a few documents, and says what is true of them."""

from __future__ import annotations

import re
import shutil
import sqlite3
import subprocess
import sys
from collections.abc import Callable
from datetime import UTC, datetime
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest

from ghcrawl.values.frozen import replace
from stores.sqlite.rows import SCHEMA
from tests.support.cli import program
from tests.unit.cli.conftest import Fill
from tests.unit.cli.test_export import ALL, an_issue

pytestmark = pytest.mark.slow

PAGE = (Path(__file__).parents[3] / "docs" / "exports.md").read_text(encoding="utf-8")
BLOCKS = re.findall(r"```(sh|python)\n(.*?)```", PAGE, re.DOTALL)


@pytest.fixture
def example(
    filled: Fill, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> Callable[[str], str]:
    """Runs the one example that has these words, and returns what it printed."""
    for module in ("duckdb", "pandas", "pyarrow"):
        if find_spec(module) is None:
            pytest.skip("the extra `tables` is not installed")
    filled(documents=ALL)
    monkeypatch.chdir(tmp_path)
    tools = Path(sys.executable).parent
    monkeypatch.setenv("PATH", f"{program(tmp_path)}:{tools}:/usr/bin:/bin")

    def run(words: str) -> str:
        ((language, code),) = [block for block in BLOCKS if words in block[1]]
        if language == "sh":
            ran = subprocess.run(["sh", "-ec", code], capture_output=True, text=True, check=False)
            assert ran.returncode == 0, ran.stderr
            return ran.stdout
        capsys.readouterr()
        exec(compile(code, "docs/exports.md", "exec"), {})  # the page's own
        return capsys.readouterr().out

    return run


def test_duckdb_and_pandas_read_an_export_of_everything(example: Callable[[str], str]) -> None:
    example("export -o acme.jsonl")
    seen = "2026-11-21T12:00:00.000Z"
    assert example("read_ndjson_objects").startswith(f"[('issue', 2, '{seen}'), (")
    assert re.search(r"issue +2\nissues +1\nrepo +1\n", example("groupby"))


def test_duckdb_and_pandas_read_one_file_a_type(example: Callable[[str], str]) -> None:
    example("--by-type --flat")
    told = example("acme/issue.jsonl")
    assert told.startswith("""[('acme/web', 1, 'It, "breaks"', 'ada'), ('acme/web', 2,""")
    assert "urn:repo:12:issue:1  issue  acme/web       1" in told


def test_duckdb_reads_csv_and_parquet(example: Callable[[str], str]) -> None:
    example("issues.parquet\n")
    assert example("max_line_size").splitlines()[0] == "[(1, 'ada'), (2, 'ada')]"


def test_a_singer_target_goes_on(example: Callable[[str], str], tmp_path: Path) -> None:
    (tmp_path / "taken").mkdir()
    (tmp_path / "target.json").write_text('{"destination_path": "taken", "do_timestamp_file": false}')
    example("target-jsonl")
    assert len((tmp_path / "taken" / "issues.jsonl").read_text().splitlines()) == 2, "the second run has nothing new"


def test_sqlite_asks_the_crawls_own_file(example: Callable[[str], str], filled: Fill) -> None:
    if shutil.which("sqlite3") is None:
        pytest.skip("sqlite3 is not installed")
    long_ago = datetime(2020, 1, 1, tzinfo=UTC)
    filled(documents=[replace(an_issue(3), processed_at=long_ago, changed_at="2999")])
    filled(documents=[replace(an_issue(4), processed_at=datetime.now(UTC), changed_at="2026-11-20")])
    told = example("sqlite3 -header").splitlines()
    assert told[0] == "type|documents|newest"
    assert next(line for line in told if line.startswith("issue|")).endswith("|2026-11-20")


def test_datasette_answers(example: Callable[[str], str]) -> None:
    if shutil.which("datasette", path=str(Path(sys.executable).parent)) is None:
        pytest.skip("datasette is not installed")
    assert '"urn": "urn:repo:12:issue:1"' in example("datasette ghcrawl.db --get")


def test_duckdb_attaches_the_crawls_own_file(example: Callable[[str], str]) -> None:
    duckdb: Any = import_module("duckdb")
    try:
        duckdb.sql("INSTALL sqlite")
    except duckdb.Error:
        pytest.skip("DuckDB's extension `sqlite` cannot be downloaded")
    assert example("INSTALL sqlite") == "[('issue', 2), ('issues', 1), ('repo', 1)]\n"


def test_the_page_names_every_column_of_the_view_and_every_option() -> None:
    with sqlite3.connect(":memory:") as file:
        for statement in SCHEMA:
            file.execute(statement)
        columns = [row[1] for row in file.execute("PRAGMA table_info(saved_documents)")]
    table = PAGE.partition("| column | |")[2].partition("\n\n")[0]
    rows = [row.split("|")[1] for row in table.strip().splitlines()]
    assert re.findall(r"`(\w+)`", "".join(rows)) == columns
    for option in ("--type", "--under", "--since", "--until", "--no-lists", "--no-deleted", "--flat", "--by-type"):
        assert f"`{option}" in PAGE
