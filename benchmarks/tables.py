"""How fast, and in how much memory, many documents become tables; and what a later run costs.

    python -m benchmarks.tables [--documents 1000000] [--to acme.sqlite,acme.duckdb,parquet,csv-acme]

Crawls a simulated organisation, copies its documents until there are as many as asked for, and runs `ghcrawl` on
them: an export of JSON lines, each target as a whole, then each again after one document in a thousand changed.
Prints one JSON object; `of_export` is the processor time of the target by that of the export, `times_faster` that
of the whole run by that of the later one; by the clock, the same of the time that passed.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import subprocess
import tempfile
from collections.abc import Iterator, Sequence
from datetime import UTC, datetime, timedelta
from functools import partial
from itertools import count, islice
from pathlib import Path
from typing import Final

from benchmarks.commands import ghcrawl
from ghcrawl.backend import open_backend
from ghcrawl.cli.kinds import entity_types
from ghcrawl.ports.store import DocumentFilter
from ghcrawl.values.documents import Document
from ghcrawl.values.frozen import replace
from ghcrawl.wiring import PLATFORMS, load

SEED: Final = 3_000
"""Documents of the simulated organisation."""
AT_ONCE: Final = 2_000
CHANGED: Final = 1_000
"""One in this many changes before the later run."""
BEGAN: Final = datetime(2026, 1, 1, tzinfo=UTC)
APART: Final = timedelta(seconds=2)
"""Between two documents: a crawl of months."""
REPO: Final = "urn:repo:"
TARGETS: Final = "acme.sqlite,acme.duckdb,parquet,csv-acme"


def copies(seed: Sequence[Document]) -> Iterator[Document]:
    """The documents of the seed's repositories again and again, each time of repositories with other ids."""
    for number in count(1):
        for document in seed:
            _, _, rest = document.urn.partition(REPO)
            urn = f"{REPO}{number:05}{rest}"
            body = {**document.body, "copy": number}
            yield replace(document, urn=urn, url=f"{document.url}/{number}", body=body, digest=urn, aliases=())


async def read(seed: Path) -> Sequence[Document]:
    """What of the seed lies in a repository."""
    async with open_backend(load(None, {}, {"sqlite.path": seed})[0]) as backend:
        which = DocumentFilter(types=entity_types(PLATFORMS))
        return [one async for one in backend.store.list(which) if one.urn.startswith(REPO)]


async def save(path: Path, documents: Iterator[Document]) -> None:
    """Many at a time, so that they share transactions."""
    async with open_backend(load(None, {}, {"sqlite.path": path, "sqlite.synchronous": "normal"})[0]) as backend:
        while some := list(islice(documents, AT_ONCE)):
            await asyncio.gather(*map(backend.store.save, some))


def dated(seed: Sequence[Document], documents: int) -> Iterator[Document]:
    """`copies` copies, processed in sequence."""
    for number, one in enumerate(islice(copies(seed), documents)):
        yield replace(one, processed_at=BEGAN + number * APART)


def changed(seed: Sequence[Document], documents: int) -> Iterator[Document]:
    """One copy in a thousand as it is now."""
    now = datetime.now(UTC)
    for one in islice(copies(seed), 0, documents, CHANGED):
        body = {**one.body, "changed": now.isoformat()}
        yield replace(one, body=body, digest=f"{one.urn} {now}", processed_at=now, observed_at=now)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--documents", type=int, default=1_000_000)
    parser.add_argument("--to", default=TARGETS, help="targets, separated by commas")
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as directory:
        folder = Path(directory)
        db = folder / "acme.db"
        # An installed package has its bytecode, whatever is set here.
        run = partial(ghcrawl, environ={"PYTHONDONTWRITEBYTECODE": "", "PYTHONPYCACHEPREFIX": str(folder / "bytecode")})
        run("demo", "--size", str(SEED), "--db", folder / "seed.db")
        seed = asyncio.run(read(folder / "seed.db"))
        asyncio.run(save(db, dated(seed, given.documents)))
        export = run("documents", "export", "--no-lists", "--db", db, "-o", folder / "all.jsonl")
        (folder / "all.jsonl").unlink()
        figures: dict[str, object] = {
            "documents": given.documents,
            "bytes_each": round(db.stat().st_size / given.documents),
            "export": export._asdict(),
        }
        for name in given.to.split(","):
            to = folder / name
            whole = run("tables", "--db", db, "--to", to)
            asyncio.run(save(db, changed(seed, given.documents)))
            again = run("tables", "--db", db, "--to", to)
            figures[name] = {
                "whole": whole._asdict(),
                "of_export": round(whole.cpu_s / export.cpu_s, 2),
                "again": again._asdict(),
                "times_faster": round(whole.cpu_s / again.cpu_s, 1),
                "times_faster_by_the_clock": round(whole.s / again.s, 1),
            }
            subprocess.run(["rm", "-rf", str(to)], check=True)  # a file or a folder
    print(json.dumps(figures, indent=2))


if __name__ == "__main__":
    main()
