"""Whoever names a benchmark gets that one; whoever asks for help, or names none that there is, learns what there is."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

from benchmarks.__main__ import ALL as NAMES
from benchmarks.__main__ import EMBEDDED, WITHOUT_OPTIONS, wanted

FOLDER = Path(__file__).parents[2] / "benchmarks"
ALL = sorted(NAMES)


def test_every_benchmark_is_known_and_says_what_it_measures(capsys: pytest.CaptureFixture[str]):
    sources = {path.stem: path.read_text(encoding="utf-8") for path in FOLDER.glob("[a-z]*.py")}
    assert sorted(name for name, source in sources.items() if "\ndef main() -> None:" in source) == ALL
    assert [name for name in ALL if "import argparse" not in sources[name]] == sorted(WITHOUT_OPTIONS)
    with pytest.raises(SystemExit) as exited:
        wanted(["--help"])
    told = " ".join(capsys.readouterr().out.split())
    assert exited.value.code == 0
    for name in ALL:
        first, _, _ = (ast.get_docstring(ast.parse(sources[name])) or "").partition("\n")
        assert f" {name} {first}" in told


def test_without_a_name_those_run_that_need_no_server():
    assert wanted([]) == [(name,) for name in EMBEDDED]


def test_the_named_run_with_the_options_behind_them():
    assert wanted(["amqp", "backlog", "--rounds", "3"]) == [("amqp", "--rounds", "3"), ("backlog", "--rounds", "3")]
    assert wanted(["backlog", "--help"]) == [("backlog", "--help")], "it helps itself"


def test_one_without_options_is_explained_all_the_same(capsys: pytest.CaptureFixture[str]):
    with pytest.raises(SystemExit) as exited:
        wanted(["engine", "--help"])
    assert exited.value.code == 0
    assert "The bare loop fetches with aiohttp" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["engin"], f"there is no benchmark 'engin', but {', '.join(ALL)}"),
        (["backlog", "servers", "--rounds", "3"], "there is no benchmark 'servers'"),
        (["--rounds", "3"], "unrecognized arguments: --rounds"),
        (["mongo", "--rounds", "3"], "mongo takes no options"),
    ],
)
def test_what_is_none_is_refused(capsys: pytest.CaptureFixture[str], words: list[str], said: str):
    with pytest.raises(SystemExit) as exited:
        wanted(words)
    assert exited.value.code == 2
    assert said in capsys.readouterr().err
