"""What the benchmark of peers counts, and how it prints it."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from benchmarks.others.counting import Thing, by_kind, lines, rows, things, total
from benchmarks.others.measuring import Measured
from benchmarks.others.printing import tables
from benchmarks.others.running import Command, Took, run
from benchmarks.others.tools import TOOLS
from benchmarks.peers import read_options

PULL = {"url": "https://api.github.com/repos/acme/web/pulls/1", "additions": 0}


def test_a_thing_counts_once_and_is_whole_if_one_of_its_bodies_is():
    listed = {"url": PULL["url"]}
    counted = by_kind([*things("pull_request", listed), *things("pull_request", PULL), *things("pull_request", listed)])
    assert counted == {"pull_request": 1, "pull_request, whole": 1}
    assert total(counted) == 1


def test_tags_of_two_repositories_are_two_and_assets_come_with_their_release():
    tags = [{"name": "v1", "commit": {"url": f"https://api.github.com/repos/acme/{name}/commits/a"}} for name in "ab"]
    release = {"url": "r/1", "assets": [{"url": "r/1/a"}, {"url": "r/1/b"}]}
    found = [one for tag in tags for one in things("tag", tag)] + list(things("release", release))
    assert by_kind(found) == {"tag": 2, "release": 1, "release_asset": 2}


def test_lines_that_a_kill_cut_off_are_left_out(tmp_path: Path):
    (tmp_path / "out").write_text('{"a": 1}\n{"a": 2}\n{"a"')
    assert list(lines(tmp_path / "out")) == [{"a": 1}, {"a": 2}]
    assert list(lines(tmp_path / "none")) == []


def test_rows_are_counted_by_their_keys(tmp_path: Path):
    with closing(sqlite3.connect(tmp_path / "db")) as connection:
        connection.execute("CREATE TABLE users (id INTEGER PRIMARY KEY, login TEXT)")
        connection.execute("INSERT INTO users VALUES (5, 'ada'), (6, 'bob')")
        connection.commit()
    assert list(rows(tmp_path / "db", {"users": "user", "tags": "tag"})) == [
        Thing("user", "5", whole=False),
        Thing("user", "6", whole=False),
    ]


def test_a_command_that_fails_is_counted_and_the_next_one_runs(tmp_path: Path):
    commands = [Command(argv=["sh", "-c", "exit 3"]), Command(argv=["sh", "-c", "echo done"], stdout=tmp_path / "out")]
    took = run(iter(commands), folder=tmp_path, env={"PATH": "/bin:/usr/bin"})
    assert (took.failed, took.commands, took.killed) == (1, 2, False)
    assert (tmp_path / "out").read_text() == "done\n"


def test_a_kill_ends_what_runs_and_what_would_follow(tmp_path: Path):
    commands = [Command(argv=["sleep", "60"]), Command(argv=["touch", "never"])]
    took = run(iter(commands), folder=tmp_path, env={"PATH": "/bin:/usr/bin"}, until=lambda: True)
    assert (took.killed, took.failed, took.commands) == (True, 0, 1)
    assert not (tmp_path / "never").exists()


def measured(name: str, wall_s: float, **counted: int) -> Measured:
    first = Took(wall_s=wall_s, cpu_s=2.0, peak_mb=50.4, commands=1)
    return Measured(name=name, counted=counted, first=first, calls=20, again=3, changed=4, found=5, repeated=6, lost=7)


def test_times_are_printed_as_ratios_to_the_first_and_columns_that_are_alike_once():
    taken, obtained = tables(
        [measured("ghcrawl", 2.0, issue=10), measured("slow", 5.0, issue=8), measured("alike", 1.0, issue=8)]
    ).split("\n\n")
    assert "| slow | 8 | 20 | 2.500 | 2.5 | 1.0 | 50 | 3 | 4 | 5 | 6 | 7 | 0 of 1 |" in taken.splitlines()
    assert obtained.splitlines() == [
        "|  | ghcrawl | slow |",
        "| --- | ---: | ---: |",
        "| issue | 10 | 8 |",
        *others(0, 0),
    ]


def others(*counts: int) -> list[str]:
    return [f"| other kinds | {' | '.join(map(str, counts))} |"]


def test_every_tool_that_is_not_ours_is_pinned():
    for tool in TOOLS:
        assert tool.name.startswith("ghcrawl") != bool(tool.packages)
        assert all("==" in package for package in tool.packages)


def test_an_unknown_tool_is_refused(capsys: pytest.CaptureFixture[str]):
    with pytest.raises(SystemExit, match="2"):
        read_options(["--only", "nobody"])
    assert "there is no 'nobody'" in capsys.readouterr().err
