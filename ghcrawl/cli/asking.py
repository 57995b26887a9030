"""`ghcrawl tables ask`: questions that people have of a crawl, answered from its tables."""

from __future__ import annotations

import difflib
import json as jsonlib
import sys
from collections.abc import Mapping, Sequence
from datetime import datetime
from pathlib import Path
from typing import Any, Final

from msgspec import Struct

from ghcrawl.cli import output
from ghcrawl.cli.stderr import say
from ghcrawl.cli.words import number, since
from ghcrawl.platforms.questions import Asked, Question
from ghcrawl.platforms.tables import Schema
from ghcrawl.ports.clock import SystemClock
from ghcrawl.tables.asking import Answer, Tables, demand_current, opened
from ghcrawl.tables.csvfiles import write_rows
from ghcrawl.tables.target import any_row
from ghcrawl.values.errors import ConfigError, SpecError
from ghcrawl.values.times import iso
from ghcrawl.values.type_names import TypeName, TypeNames

SOME: Final = 8
"""Names in an error message."""


def questions(schema: Schema, *, json: bool) -> int:
    """Lists them. Returns the exit status."""
    if json:
        output.write_json([{"name": each.name, "about": each.about} for each in schema.questions])
    else:
        output.show_rows(("question", "answers"), [(each.name, each.about) for each in schema.questions])
    return 0


class Narrowed(Struct, frozen=True, kw_only=True):
    """How a question is asked, as typed. repo: `owner/name`. since: a date or an age. bots: count what bots did."""

    repo: str = ""
    since: str = ""
    bots: bool = False


def answer(schema: Schema, name: str, where: Path | None, how: Narrowed, *, limit: int, json: bool) -> int:
    """Answers one, or any SQL in `name`. Returns the exit status. Raises ConfigError, SpecError."""
    question = _question(schema, name) if " " not in name.strip() else None
    if where is None:
        raise ConfigError("name the tables to ask: --in acme.sqlite")
    if question is None and how != Narrowed():
        raise SpecError("--repo, --since and --bots belong to a question; in SQL, write a WHERE instead")
    with opened(where, schema) as tables:
        sql = name if question is None else _sql(schema, question, tables, where, how)
        found = tables.run(sql, limit)
        empty = [] if found.rows or question is None else _empty(schema, question, tables)
    _show(found, json=json)
    if empty:
        say(f"No rows: {where} has no {' and no '.join(empty)}; the crawl may have left them out.")
    if limit and len(found.rows) == limit:
        say(f"Showing the first {number(limit)}; --limit 0 shows all.")
    return 0


def _sql(schema: Schema, question: Question, tables: Tables, where: Path, how: Narrowed) -> str:
    """The question as it is asked. Raises ConfigError for what was not written, SpecError for an unknown repository."""
    demand_current(where, schema, tables.state)
    written = {*tables.state.types}
    needed = dict.fromkeys(_needs(schema, question, tables).values())
    missing = [min(types) for types in needed if written and written.isdisjoint(map(str, types))]
    if missing:
        names = TypeNames(schema.by_kind)
        raise ConfigError(
            f"{question.name} needs {', '.join(map(names.text, missing))}, which {where} was written without; "
            f"run `ghcrawl tables --to {where}` without --only, or with these types too"
        )
    if how.repo:
        _check(question, how.repo, tables)
    at = since(how.since, SystemClock().now()) if how.since else None
    return question.sql(Asked(dialect=tables.dialect, within=how.repo, since=at, bots=how.bots))


def _needs(schema: Schema, question: Question, tables: Tables) -> Mapping[str, frozenset[TypeName]]:
    """The tables that it reads, and the types that each is filled from."""
    reads = question.reads(tables.dialect)
    return {
        each: table.types
        for table in schema.tables
        for each in (table.name, *(link.name for link in table.links))
        if each in reads
    }


def _empty(schema: Schema, question: Question, tables: Tables) -> Sequence[str]:
    """The tables that it reads and that hold nothing."""
    names = sorted(_needs(schema, question, tables))
    return [name for name in names if not tables.run(any_row(name), 1).rows]


def _check(question: Question, name: str, tables: Tables) -> None:
    """Raises SpecError for a name that is not there."""
    table, _, column = question.within.partition(".")
    sql = f"SELECT {column} FROM {table} ORDER BY 1"  # noqa: S608  # `within` is a constant of the question, never input
    found = tables.run(sql, 0)
    known = {str(one).lower(): str(one) for (one,) in found.rows}
    if name.lower() not in known:
        close = difflib.get_close_matches(name.lower(), known, n=1)
        hint = f"did you mean {known[close[0]]}?" if close else f"there are {', '.join([*known.values()][:SOME])}"
        raise SpecError(f"{name} is not in the tables; {hint if known else f'{table} is empty'}")


def _show(found: Answer, *, json: bool) -> None:
    if json:
        output.write_json([dict(zip(found.columns, map(_plain, row), strict=True)) for row in found.rows])
    elif output.console().is_terminal:
        rows = [tuple(_shown(value) for value in row) for row in found.rows]
        output.show_rows(found.columns, rows, numbers=_numbers(found))
    else:
        _write_csv(found)


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
