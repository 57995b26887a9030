"""`docs/tables.md`, written from the schema: `python -m tests.support.tables_page > docs/tables.md`."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Mapping
from typing import Final

from ghcrawl.platforms.columns import AFTER, Column
from ghcrawl.platforms.tables import LinkTable, Schema, Table, primary_key, together
from ghcrawl.wiring import PLATFORMS
from processors.github.tables import OUTSIDE, TABLES
from processors.github.tables_relations import NO_TABLE

MOUNTED: Final = {platform.name: platform.tables for platform in PLATFORMS}
_INTRODUCTION: Final = """\
# Tables

Written from the schema by `make docs`; a test holds this page to it.

```
ghcrawl tables --to acme.sqlite          # needs nothing else
ghcrawl tables --to acme.duckdb          # pip install 'ghcrawl[tables]'
ghcrawl tables --to acme                 # a folder of Parquet, one folder a table, zstd
ghcrawl tables --to csv-acme             # a folder of CSV, called csv-…
ghcrawl tables ask time_to_merge_by_month --in acme.sqlite --repo acme/web
```

`--only TYPE,…`, `--under NAME`, `--since DATE` and `--until DATE` select as in exports; `--db FILE` and `--server URL`
say where from. A second run into the same target reads and writes only what changed since, tombstones included; with
`--since` or `--until`, with another selection, or with `--whole`, it rebuilds all tables. A run that ends early leaves
the old tables as they were.

A target remembers the random id of the store that filled it. The same store may have moved, or be reached as a file now
and through `--server` later; another store, even at the same place, is refused. A copy has the id of its store: after
restoring a backup, use `--whole`.

A Parquet table is several files: read all of them with `read_parquet('acme/issues/*.parquet')`. Each row is in one
file. A later run rewrites only files with changed rows, adds new rows as another file, and merges small files when
they are many. On Linux it replaces the folder in one step.

The tables take 1.0 to 1.3 times the processor time of `documents export`, in less than 500 MB for a million documents
and for 300,000 different accounts. With 0.1 % of 200,000 documents changed, a later run takes 31 times less processor
time than the first for SQLite, 27 for DuckDB, 21 for CSV and 18 for Parquet. The start of the command is half of its
0.6–0.9 s, so the factor grows with the number of documents: for a million it is 45 for Parquet (61 by the clock).
It was 75, 59 and 50 for SQLite, DuckDB and CSV in an earlier version, which took longer to start. Changes that are
spread evenly touch every file, and files of CSV and Parquet are written whole
(`python -m benchmarks tables`).

Names keep their case: `acme/web` and `Acme/Web` are two rows, as are the branches `main` and `Main`. This also holds on
file systems that ignore case: files are named after tables, never after what was crawled.

## What is the same everywhere

* A kind's table has a row for each document, tombstones included: `_deleted_at` says since when it is gone.
* `urn` is the primary key, and `…_urn` refers to one. A link table has a row for each element of an array, by its
  owner's URN and `position`.
* Lists of people and files (`stargazers`, `org_members`, `team_members`, `repo_contributors`, `pull_request_files` and
  others) are tables, too: a row for each element, by the URN of what the list belongs to, and `position`. The rows are
  those of the last complete reading of the list.
* People on GitHub are `…_id` and `…_login`. `accounts` has a row for every account that a document names, crawled or
  not.
* Each platform declares its own tables, and all of them are always there. Those of Mastodon, Bluesky and the web start
  with the platform's name.
* Timestamps are in UTC: `TIMESTAMPTZ` in DuckDB and Parquet, text such as `2026-11-21T16:43:00.000Z` in SQLite and CSV.
* JSON stays JSON (`reactions`, `permissions`, …). A field that a platform adds later, and a value that does not fit its
  column, is in `extra`. `--bodies` fills `_body` with the whole body.
* In text, lone surrogates (and NUL in CSV) become U+FFFD. Integers beyond 64 bits go to `extra`.
* Columns stand in one order everywhere: ids, names, what a thing is part of, states, people, times; long text and JSON
  last.
* Columns are never dropped because a crawl has no value for them. The schema's version is {version}; it is raised
  when a column changes, and the next run then rebuilds all tables.
* SQLite files have indexes on all keys, and full-text search (FTS5): `SELECT * FROM issues WHERE rowid IN (SELECT rowid
  FROM issues_fts WHERE issues_fts MATCH 'timeout')`. Beside `acme.sqlite` stands `acme.metadata.json`, for
  `datasette acme.sqlite -m acme.metadata.json`: descriptions of columns, facets, search; empty tables are hidden. A
  file that you changed is yours, and stays as it is.
"""

_QUESTIONS: Final = """\
`ghcrawl tables ask NAME --in TARGET` answers one from any target: as a table on a terminal, as CSV elsewhere, with
`--json` as JSON. Each is a view in SQLite and DuckDB, too.

* `--repo acme/web` asks about one repository. `--since 2026-11-01` or `--since 90d` leaves out what happened before:
  answers are about what was opened, merged, reviewed, committed, published or completed since then.
* What bots did (accounts of type `Bot`, and names that end in `[bot]`) is left out where people are timed or counted;
  `--bots` counts it, too. Open issues and stale pull requests of bots are listed in
  any case.
* "Now" is when the run started that wrote the tables last: `SELECT written_at FROM _ghcrawl`.
* A question that needs a type which `--only` left out says so. Repositories are written with any `--only`, since
  questions name them.

The questions:
"""

_TABLES: Final = """\
Columns show the field of their name in the platform's answer, unless the last column says otherwise. These are at the
end of each kind's table, and are not listed again:
"""

_OUTSIDE: Final = """\
On other platforms than GitHub, a reference resolves if what it names was crawled: posts name accounts and posts that
were not requested. On GitHub, every reference resolves where all that it refers to was crawled, except:
"""

_EXPORTS: Final = """
Other shapes of the same documents (JSON lines, CSV, Singer messages) and SQL on the crawl's own file are in
[exports.md](exports.md).
"""


PLATFORMS_SHOWN: Final[Mapping[str, str]] = {
    "GitHub": "github",
    "Mastodon": "mastodon",
    "Bluesky": "bluesky",
    "The web": "web",
}


def page() -> str:
    """The whole page."""
    schemas = {title: MOUNTED[name] for title, name in PLATFORMS_SHOWN.items()}
    assert {*PLATFORMS_SHOWN.values()} == {name for name, schema in MOUNTED.items() if schema.tables}
    parts = [
        _INTRODUCTION.format(version=together(MOUNTED.values()).version),
        "## Questions\n",
        _QUESTIONS,
        *(f"* `{question.name}`: {question.about}" for question in TABLES.questions),
        _EXPORTS,
        "## References that may lead outside the crawl\n",
        _OUTSIDE,
        *(f"* `{column}`: {why}" for column, why in OUTSIDE.items()),
        "\n## Lists without a table\n",
        *(f"* `{kind}`: {why}" for kind, why in NO_TABLE.items()),
        "\n## Tables\n",
        _TABLES,
        *(f"* `{column.name}`: {column.description}" for column in AFTER),
        "",
        *(part for title, schema in schemas.items() for part in _platform(title, schema)),
    ]
    return "\n".join(parts)


def _platform(title: str, schema: Schema) -> Iterator[str]:
    yield f"## {title}\n"
    yield from ("```mermaid", "erDiagram", *_picture(schema), "```\n")
    for table in schema.everything if schema is TABLES else schema.everything[1:]:
        yield _table(table)


def _picture(schema: Schema) -> Iterator[str]:
    seen = set()
    for table in schema.everything:
        for column in table.columns:
            to = column.references.partition(".")[0]
            if column.name.endswith("_urn") and to and (table.name, to) not in seen:
                seen.add((table.name, to))
                yield f'    {to} ||--o{{ {table.name} : "{column.name.removesuffix("_urn")}"'


def _table(table: Table | LinkTable) -> str:
    own = [column for column in table.columns if column not in AFTER]
    key = ", ".join(f"`{name}`" for name in primary_key(table))
    rows = ", a row for each element of a list" if isinstance(table, Table) and table.pages_of else ""
    head = "| column | type | refers to | shows |\n| --- | --- | --- | --- |"
    lines = [f"### {table.name}\n", f"Key: {key}{rows}\n", head]
    lines += [f"| `{column.name}` | {column.type} | {_refers(column)} | {column.description} |" for column in own]
    return "\n".join(lines) + "\n"


def _refers(column: Column) -> str:
    return f"`{column.references}`" if column.references else ""


if __name__ == "__main__":
    sys.stdout.write(page())
