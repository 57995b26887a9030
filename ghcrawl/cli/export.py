"""`ghcrawl documents export`: what is saved, as lines of JSON, as a table, or as messages for another tool."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import AsyncIterator, Iterator
from contextlib import ExitStack, closing, contextmanager
from errno import EEXIST
from pathlib import Path
from typing import Final, TextIO

from ghcrawl.cli.commands.documents import Export, Which
from ghcrawl.cli.crawl_backend import CrawlBackend
from ghcrawl.cli.documents import selected, selection
from ghcrawl.cli.opening import backend as opened
from ghcrawl.cli.options import Place
from ghcrawl.cli.stderr import say, suggest
from ghcrawl.cli.tables import Wanted, filled_from, tables_of
from ghcrawl.cli.words import counted
from ghcrawl.platforms.mount import Mounts
from ghcrawl.platforms.tables import Schema, Table
from ghcrawl.tables.choose import demand
from ghcrawl.tables.csvfiles import CsvRows
from ghcrawl.tables.folder import RowFile, exchange
from ghcrawl.tables.parquet import ParquetRows
from ghcrawl.tables.partial import Partial
from ghcrawl.tables.projection import Projector, Row
from ghcrawl.tables.singer import SingerTarget
from ghcrawl.values.documents import Document
from ghcrawl.values.errors import ConfigError
from ghcrawl.values.frozen import replace
from ghcrawl.values.jsontext import JsonObject
from ghcrawl.values.type_names import TypeNames

FORMATS: Final = ("jsonl", "csv", "parquet", "singer")
BATCH: Final = 1_000
"""Rows written at a time."""


async def export(place: Place, which: Which, wanted: Export) -> int:
    """Returns the exit status. Raises ConfigError, SpecError, StoreError.

    A file is written beside its place and put there once it is whole: half an export is never taken for one.
    """
    _check(wanted)
    async with opened(place) as backend:
        try:
            written = await _written(backend, which, wanted)
        except OSError as error:
            if wanted.output is None:  # the writing command knows where it goes
                raise
            raise ConfigError(f"cannot write {wanted.output}: {error.strerror}") from error
    if wanted.output is not None:
        say(f"{counted(written, 'document')} written to {wanted.output}.")
        if wanted.format == "jsonl" and sys.stderr.isatty():
            words = ("ghcrawl", "tables", "--to", str(wanted.output.with_suffix(".sqlite")), *place.typed())
            suggest("the same as typed tables for SQL, with answers to common questions", words)
    return 0


def _check(wanted: Export) -> None:
    """Raises ConfigError for what does not go together."""
    format, output = wanted.format, wanted.output
    if format not in FORMATS:
        raise ConfigError(f"unknown format {format}; use {', '.join(FORMATS)}")
    if format != "jsonl" and (wanted.flat or wanted.by_type):
        raise ConfigError(f"--flat and --by-type are for jsonl; {format} has a column for each field")
    if format != "singer" and wanted.state is not None:
        raise ConfigError("--state is for --format singer")
    if output is None and (wanted.by_type or format == "parquet"):
        raise ConfigError(f"name {'a folder' if wanted.by_type else 'a file'} with --output")
    demand(format)


async def _written(backend: CrawlBackend, which: Which, wanted: Export) -> int:
    if wanted.by_type:
        return await _lines_by_type(backend, which, wanted)
    if wanted.format == "parquet" and wanted.output is not None:
        table = await _table(backend, which)
        with _whole(wanted.output) as path, closing(ParquetRows(path, table)) as rows:
            return await _rows(backend, which, table, rows)
    with _text(wanted.output) as file:
        match wanted.format:
            case "csv":
                table = await _table(backend, which)
                return await _rows(backend, which, table, CsvRows(file, table))
            case "singer":
                return await _messages(backend, which, wanted, file)
            case _:
                return await _lines(selected(backend, which), file, backend.mounts, flat=wanted.flat)


# JSON lines --------------------------------------------------------------------------------------------------------


async def _lines(documents: AsyncIterator[Document], file: TextIO, mounts: Mounts, *, flat: bool) -> int:
    written = 0
    async for document in documents:
        file.write(_line(document, mounts, flat=flat))
        written += 1
    return written


async def _lines_by_type(backend: CrawlBackend, which: Which, wanted: Export) -> int:
    """A file for each type: readers of tables want one shape in each."""
    folder = wanted.output
    assert folder is not None, "checked"
    _demand_replaceable(folder)
    files: dict[str, TextIO] = {}
    names = TypeNames(backend.mounts.types)
    written = 0
    with _whole(folder, folder=True) as path, ExitStack() as stack:
        path.mkdir()
        async for document in selected(backend, which):
            name = names.text(document.type_name).replace("/", ".")
            if name not in files:
                files[name] = stack.enter_context((path / f"{name}.jsonl").open("w", encoding="utf-8"))
            files[name].write(_line(document, backend.mounts, flat=wanted.flat))
            written += 1
    return written


def _demand_replaceable(folder: Path) -> None:
    """Raises ConfigError for a folder that an export did not write, OSError for what is none."""
    if not folder.exists():
        return
    if not folder.is_dir():
        raise FileExistsError(EEXIST, os.strerror(EEXIST))
    other = next((path.name for path in sorted(folder.iterdir()) if path.suffix != ".jsonl" or not path.is_file()), "")
    if other:
        raise ConfigError(f"{folder} is replaced as a whole, and holds {other}; name another folder")


def _line(document: Document, mounts: Mounts, *, flat: bool) -> str:
    value = _flat(document, mounts) if flat else document.to_json()
    return f"{json.dumps(value, separators=(',', ':'))}\n"


def _flat(document: Document, mounts: Mounts) -> JsonObject:
    """The body with what tells it from all others: in an export of everything, rows of one type can be chosen."""
    mount = mounts.get(document.platform)
    more = mount.platform.export_fields(document) if mount is not None else {}
    return {**document.body, "_urn": document.urn, "_type": document.type, **more}


# One table ---------------------------------------------------------------------------------------------------------


async def _table(backend: CrawlBackend, which: Which) -> Table:
    """The table of the one type that is asked for. Raises ConfigError, SpecError."""
    if len(which.types) != 1:
        raise ConfigError("name one type with --type; `ghcrawl tables` writes a table for each")
    ((type,), schema) = (await selection(backend, which)).which.types, tables_of(backend)
    if type not in schema.by_kind:
        raise ConfigError(f"{type} has no table; export it as jsonl")
    return schema.by_kind[type]


async def _rows(backend: CrawlBackend, which: Which, table: Table, file: RowFile) -> int:
    """Writes the table's own rows; rows of link tables are left out."""
    projector = Projector(tables_of(backend), moments=lambda at: at)
    rows: list[Row] = []
    written = 0
    async for document in selected(backend, which):
        rows += [row for into, row in projector.rows(document) if into is table]
        written += 1
        if len(rows) >= BATCH:
            file.write(rows)
            rows = []
    file.write(rows)
    return written


# Singer ------------------------------------------------------------------------------------------------------------


async def _messages(backend: CrawlBackend, which: Which, wanted: Export, file: TextIO) -> int:
    """The streams are the tables of the wanted types."""
    types = (await selection(backend, which)).which.types if which.types else tuple(tables_of(backend).by_kind)

    def target(schema: Schema) -> SingerTarget:
        tables = {schema.by_kind[type].name: schema.by_kind[type] for type in types if type in schema.by_kind}
        return SingerTarget(wanted.state, replace(schema, tables=tuple(tables.values())), file)

    to = wanted.output or Path("standard output")
    tables = Wanted(to=to, which=which, otherwise="leave out --state to export everything")
    return (await filled_from(backend, tables, target)).documents


# Files -------------------------------------------------------------------------------------------------------------


@contextmanager
def _text(output: Path | None) -> Iterator[TextIO]:
    """An open file that takes the place of `output` once the block is through, or standard output."""
    if output is None:
        yield sys.stdout
        return
    with _whole(output) as path, path.open("w", encoding="utf-8", newline="") as file:
        yield file


@contextmanager
def _whole(output: Path, *, folder: bool = False) -> Iterator[Path]:
    """The path of what is built beside `output` and takes its place afterwards; what ends early leaves the old one.

    Devices and pipes are written to directly. Raises ConfigError while another process writes `output`, OSError.
    """
    if output.exists() and not folder and not output.is_file():
        yield output
        return
    partial = Partial(output)
    partial.lock()
    try:
        partial.clear()
        yield partial.path
        if folder:
            exchange(partial.path, output)
        else:
            partial.path.replace(output)
    finally:
        partial.release()
