"""`ghcrawl tables`: documents as typed tables in a file or folder of their own."""

from __future__ import annotations

import asyncio
import sys
import time
from collections.abc import AsyncIterator, Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import Final, NamedTuple

from msgspec import Struct
from rich.console import Console

from ghcrawl.cli import output
from ghcrawl.cli.commands.documents import Which
from ghcrawl.cli.crawl_backend import CrawlBackend
from ghcrawl.cli.documents import Selection, selection
from ghcrawl.cli.kinds import meant
from ghcrawl.cli.opening import backend as opened
from ghcrawl.cli.options import Place
from ghcrawl.cli.stderr import say, suggest
from ghcrawl.cli.words import counted, number
from ghcrawl.platforms.tables import Schema, together
from ghcrawl.ports.clock import SystemClock
from ghcrawl.ports.store import DocumentFilter
from ghcrawl.tables.arrow import load_alone
from ghcrawl.tables.choose import NEEDS, demand, format_of, target
from ghcrawl.tables.fill import Filled, Filling
from ghcrawl.tables.search import is_ours, metadata_beside
from ghcrawl.tables.target import State, Target
from ghcrawl.values.documents import Document
from ghcrawl.values.errors import ConfigError
from ghcrawl.values.frozen import replace
from ghcrawl.values.type_names import TypeName

SHOW_EVERY_S: Final = 0.25
LINE_EVERY_S: Final = 10.0
SIGNALS_S: Final = 0.01
"""Before the new tables replace the old ones: a signal that came while documents were read still stops that."""


class Wanted(Struct, frozen=True, kw_only=True):
    """What to write. whole: rebuild, though the target could be brought up to date. bodies: fill `_body`.

    otherwise: what to do about a target, or a state, of another store.
    """

    to: Path
    which: Which
    bodies: bool = False
    whole: bool = False
    otherwise: str = "name another target, or use --whole"


async def fill(place: Place, wanted: Wanted, *, json: bool) -> int:
    """Returns the exit status. Raises ConfigError, SpecError, StoreError."""
    format = format_of(wanted.to)
    demand(format)
    if "pyarrow" in NEEDS.get(format, ()):
        load_alone()
    async with opened(place) as backend:
        if wanted.which.types:
            types = (*wanted.which.types, *_always(tables_of(backend)))
            wanted = replace(wanted, which=replace(wanted.which, types=types))
        filled = await filled_from(backend, wanted, lambda schema: target(wanted.to.resolve(), format, schema))
    if json:
        output.write_json({"to": str(wanted.to), "documents": filled.documents, "rows": filled.rows})
    say(f"{counted(filled.documents, 'document')} written to {wanted.to}.")
    if format != "csv" and sys.stderr.isatty():
        suggest("what can be asked of them", ("ghcrawl", "tables", "ask", "--in", str(wanted.to)))
    beside = metadata_beside(wanted.to)
    if format == "sqlite" and not is_ours(beside):
        say(f"{beside} is not as ghcrawl wrote it, and stays as it is; delete it for a new one.")
    return 0


def _always(schema: Schema) -> Iterable[str]:
    return (str(kind) for kind, table in schema.by_kind.items() if table.always)


def tables_of(backend: CrawlBackend) -> Schema:
    """The tables of all platforms that are mounted there."""
    return together(platform.tables for platform in backend.mounts.platforms)


async def filled_from(backend: CrawlBackend, wanted: Wanted, choose: Callable[[Schema], Target]) -> Filled:
    """Fills the target that `choose` makes. Raises ConfigError, SpecError, StoreError."""
    schema = tables_of(backend)
    selected = await selection(backend, replace(wanted.which, types=await _types(wanted.which, schema)))
    into = choose(schema)
    asked = _asked(wanted, selected)
    store = await backend.store_id()
    before = _before(into, wanted, schema, _Source(backend.where, store), asked)
    filling = Filling(into, schema, before, bodies=wanted.bodies, started_at=SystemClock().now())
    try:
        into.begin(whole=before is None)
        with _progress(wanted.to) as progress:
            await filling.take(selected.documents(backend, since=filling.since), progress, partial(_behind, backend))
            await asyncio.sleep(SIGNALS_S)
            into.commit(filling.state(backend.where, asked, store))
    finally:
        into.abandon()
    return filling.filled


def _behind(backend: CrawlBackend, type: TypeName, urn: str) -> AsyncIterator[Document]:
    return backend.documents.list(DocumentFilter(types=(type,), scope=urn))


async def _types(which: Which, schema: Schema) -> tuple[str, ...]:
    async def nothing_else() -> Iterable[TypeName]:
        return ()

    types = await meant(which.types, which.platforms, schema.by_kind, nothing_else) or tuple(schema.by_kind)
    return tuple(map(str, types))


def _asked(wanted: Wanted, selected: Selection) -> dict[str, object]:
    """What a later run must select too, if it is to read only what changed: the scopes, since an owner may get more."""
    which = wanted.which
    return {
        "types": sorted({str(type) for type in selected.which.types}) if which.types else [],
        "scopes": sorted(selected.scopes),
        "since": which.since,
        "until": which.until,
        "bodies": wanted.bodies,
        "deleted": which.deleted,
    }


class _Source(NamedTuple):
    where: str
    store: str


def _before(into: Target, wanted: Wanted, schema: Schema, source: _Source, asked: Mapping[str, object]) -> State | None:
    """What the target can be brought up to date from; None: rebuild. Raises ConfigError for another store's."""
    state = into.state()
    if state is None or wanted.whole:
        return None
    told = bool(state.store and source.store)
    if (state.store != source.store) if told else (state.source != source.where):
        this = source.where if source.where != state.source else "another store in its place"
        raise ConfigError(f"{into.where} was filled from {state.source}, and this is {this}; {wanted.otherwise}")
    if wanted.which.since or wanted.which.until:
        return None  # a document that is seen again unchanged enters the selection without being processed again
    return state if state.version == schema.version and dict(state.selection) == asked else None


@contextmanager
def _progress(to: Path) -> Iterator[Callable[[int], None]]:
    """Shows how many documents were written: on a terminal all the while, elsewhere a line now and then."""
    console = Console(stderr=True)
    shown = time.monotonic()

    def tell(done: int) -> None:
        nonlocal shown
        now = time.monotonic()
        if now - shown < (SHOW_EVERY_S if console.is_terminal else LINE_EVERY_S):
            return
        shown = now
        sentence = f"{number(done)} documents written to {to}"
        if console.is_terminal:
            status.update(sentence)
        else:
            say(f"{sentence} so far.")

    status = console.status(f"Writing {to}")
    if not console.is_terminal:
        yield tell
        return
    with status:
        yield tell
