"""`ghcrawl tables ask`: questions that people have of a crawl, answered from its tables."""

from __future__ import annotations

import difflib
import json as jsonlib
import sys
from collections.abc import Mapping, Sequence
from datetime import datetime
from pathlib import Path
from typing import Any

from ghcrawl.cli import output
from ghcrawl.cli.stderr import say
from ghcrawl.cli.words import number
from ghcrawl.platforms.tables import Question, Schema
from ghcrawl.tables.asking import Answer, ask
from ghcrawl.tables.csvfiles import write_rows
from ghcrawl.values.errors import ConfigError, SpecError
from ghcrawl.values.times import iso


def questions(schema: Schema, *, json: bool) -> int:
    """Lists them. Returns the exit status."""
    if json:
        output.write_json([{"name": each.name, "about": each.about} for each in schema.questions])
    else:
        output.show_rows(("question", "answers"), [(each.name, each.about) for each in schema.questions])
    return 0


def answer(schema: Schema, name: str, where: Path | None, *, limit: int, json: bool) -> int:
    """Answers one, or any SQL in `name`. Returns the exit status. Raises ConfigError, SpecError."""
    sql = f"SELECT * FROM {_question(schema, name).name}" if " " not in name.strip() else name  # noqa: S608  # a view
    if where is None:
        raise ConfigError("name the tables to ask: --in acme.sqlite")
    found = ask(where, schema, sql, limit=limit)
    if json:
        output.write_json([dict(zip(found.columns, map(_plain, row), strict=True)) for row in found.rows])
    elif output.console().is_terminal:
        rows = [tuple(_shown(value) for value in row) for row in found.rows]
        output.show_rows(found.columns, rows, numbers=_numbers(found))
    else:
        _write_csv(found)
    if limit and len(found.rows) == limit:
        say(f"Showing the first {number(limit)}; --limit 0 shows all.")
    return 0


def _write_csv(found: Answer) -> None:
    write_rows(sys.stdout, [found.columns, *found.rows])


def _numbers(found: Answer) -> Sequence[str]:
    """The columns that hold numbers and nothing else."""
    columns = zip(found.columns, zip(*found.rows, strict=True), strict=False)  # without rows, there are no columns
    return [name for name, values in columns if all(isinstance(value, int | float | None) for value in values)]


def _question(schema: Schema, name: str) -> Question:
    known: Mapping[str, Question] = {each.name: each for each in schema.questions}
    if name in known:
        return known[name]
    close: Sequence[str] = difflib.get_close_matches(name, known, n=1)
    meant = f"did you mean {close[0]}?" if close else f"there are {', '.join(known)}"
    raise SpecError(f"no question is called {name}; {meant}")


def _plain(value: Any) -> Any:
    if isinstance(value, datetime):
        return iso(value)
    try:
        jsonlib.dumps(value)
    except TypeError:
        return str(value)
    return value


def _shown(value: Any) -> str:
    return "" if value is None else str(_plain(value))
