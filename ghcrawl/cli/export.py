"""`ghcrawl documents export`."""

from __future__ import annotations

import json
import sys
from collections.abc import AsyncIterator, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TextIO

from ghcrawl.cli.documents import Which, selected
from ghcrawl.cli.opening import backend as opened
from ghcrawl.cli.options import Place
from ghcrawl.cli.stderr import say
from ghcrawl.cli.words import counted
from ghcrawl.values.errors import ConfigError
from ghcrawl.values.model import Document, JsonObject

__all__ = ["Which", "export"]


async def export(place: Place, which: Which, *, output: Path | None, format: str, flat: bool = False) -> int:
    """Returns the exit status. Raises ConfigError, SpecError, StoreError.

    flat: the bodies alone, as the platform sent them.
    A file is written beside its place and put there once it is whole: half an export is never taken for one.
    """
    if format != "jsonl":
        raise ConfigError(f"unknown format {format}; use jsonl")
    async with opened(place) as backend:
        documents = selected(backend, which)
        if output is None or str(output) == "-":
            await _write(documents, sys.stdout, flat=flat)
            return 0
        try:
            with _whole(output) as file:
                written = await _write(documents, file, flat=flat)
        except OSError as error:
            raise ConfigError(f"cannot write {output}: {error.strerror}") from error
    say(f"{counted(written, 'document')} written to {output}.")
    return 0


@contextmanager
def _whole(output: Path) -> Iterator[TextIO]:
    """A file that takes the place of `output` once the block is through. What is there and no file is written to."""
    if output.exists() and not output.is_file():
        with output.open("w", encoding="utf-8") as file:
            yield file
        return
    partial = output.with_name(f"{output.name}.partial")
    try:
        with partial.open("w", encoding="utf-8") as file:
            yield file
        partial.replace(output)
    except BaseException:
        with suppress(OSError):
            partial.unlink()
        raise


async def _write(documents: AsyncIterator[Document], file: TextIO, *, flat: bool) -> int:
    written = 0
    async for document in documents:
        value = _flat(document) if flat else document.to_json()
        file.write(f"{json.dumps(value, separators=(',', ':'))}\n")
        written += 1
    return written


def _flat(document: Document) -> JsonObject:
    """The body with what tells it from all others: in an export of everything, rows of one type can be chosen."""
    return {**document.body, "_urn": document.urn, "_type": document.type}
