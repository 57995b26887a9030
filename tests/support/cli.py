"""Files to look at with the command line, and what commands said about them."""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ghcrawl.model import Deadletter, Document, Push
from ghcrawl.settings import load
from ghcrawl.wiring import open_backend


@dataclass(frozen=True)
class Ran:
    """What one command came to."""

    status: int
    out: str
    err: str

    @property
    def json(self) -> Any:
        """Standard output, which must be one JSON value and nothing else."""
        return json.loads(self.out)

    @property
    def rows(self) -> list[list[str]]:
        """Standard output as lines of cells."""
        return [line.split("\t") for line in self.out.splitlines()]


async def fill(
    db: Path,
    *,
    documents: Iterable[Document] = (),
    pushes: Iterable[Push] = (),
    deadletters: Iterable[Deadletter] = (),
    **states: dict[str, Any],
) -> None:
    """Put these into the file at `db`, made if it is not there."""
    settings, _ = load(None, {}, {"sqlite.path": db, "sqlite.synchronous": "normal"})
    async with open_backend(settings) as backend:
        for document in documents:
            await backend.store.save(document)
        await backend.queue.push(list(pushes))
        for letter in deadletters:
            await backend.deadletters.bury(letter)
        for name, value in states.items():
            await backend.store.write_state(name, value)
