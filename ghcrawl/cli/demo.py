"""`ghcrawl demo`: a whole crawl, and a refresh, of a GitHub that lives in this process."""

from __future__ import annotations

import shlex
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Final

from ghcrawl.cli import crawling, summary
from ghcrawl.cli.crawling import Plan
from ghcrawl.cli.options import Place
from ghcrawl.cli.output import console
from ghcrawl.cli.progress import LOG_LEVEL, reporter
from ghcrawl.cli.result import Result
from ghcrawl.cli.stderr import complain, say
from ghcrawl.cli.words import counted, duration, number
from ghcrawl.settings.sections import LogSection, Settings
from ghcrawl.simulator.github.generation.generate import generate
from ghcrawl.simulator.github.generation.size import WorldSize
from ghcrawl.simulator.github.run import running
from ghcrawl.simulator.github.server import Setup
from ghcrawl.values.errors import ConfigError
from ghcrawl.wiring import crawled_by, load, open_backend, read_credentials, start_logging

STATE: Final = "demo"
ORG: Final = "acme"
UNHINDERED: Final = {"github.calls_per_min": 0, "github.response_s_per_min": 0}
"""A simulator has no secondary limits."""
THINGS: Final = 0.9
"""The rest of the documents are pages of lists."""
TOKEN: Final = "ghp_theDemosOwnTokenWhichOpensNothingElse"  # noqa: S105  # opens a simulator in this process


async def demo(*, size: int, db: Path, seed: int) -> int:
    """Returns the exit status. Raises CrawlError."""
    await _clear(db)
    world = generate(WorldSize.about(round(size * THINGS)), seed=seed)
    member = next(iter(world.org(ORG).members.values())).user.login
    async with running(world, Setup(tokens={TOKEN: world.principal(member)})) as server:
        settings = _settings(db, server.url)
        await _mark(settings, size=size, seed=seed)
        say(f"Simulating GitHub at {server.url}; crawling its organisation {ORG} into {db}.")
        crawls = await _crawls(settings)
    first, last = crawls[0], crawls[-1]
    out = console()
    summary.show(first, steps=())
    for sentence in summary.complaints(last):
        complain(sentence)
    if last.finished:
        out.print()
        for sentence in _shown(*crawls):
            out.print(sentence)
        out.print()
        summary.show_steps(out, _steps(db))
    return last.exit_status


async def _crawls(settings: Settings) -> Sequence[Result]:
    """Three crawls, or as many as somebody had the patience for."""
    results: list[Result] = []
    for title in (f"Crawling {ORG}", f"Crawling {ORG} again (2 of 3)", f"Crawling {ORG} again (3 of 3)"):
        results.append(await _crawl(settings, title))
        if not results[-1].finished:
            break
    return results


async def _crawl(settings: Settings, title: str) -> Result:
    shown = reporter(quiet=False)
    start_logging(LogSection(level=LOG_LEVEL), shown.stream)
    plan = Plan(
        specs=(ORG,),
        place=Place(db=settings.sqlite.path),
        settings=settings,
        credentials=read_credentials(settings, {"GHCRAWL_TOKENS": TOKEN}),
        command=shlex.join(("ghcrawl", "demo", "--db", str(settings.sqlite.path))),
        title=title,
    )
    try:
        return await crawling.crawl(plan, shown)
    finally:
        shown.close()


def _settings(db: Path, api_url: str) -> Settings:
    """Nobody's config file and environment: a demo is the same everywhere."""
    return load(None, {}, {"sqlite.path": db, "github.api_url": api_url, **UNHINDERED})[0]


async def _clear(db: Path) -> None:
    """The file of an earlier demo is gone. Raises ConfigError for any other."""
    if not _is_there(db):
        return
    if pid := crawled_by(db):
        raise ConfigError(f"{db} is being crawled by another process (pid {pid})")
    async with open_backend(_settings(db, "http://127.0.0.1")) as backend:
        if await backend.store.read_state(STATE) is None:
            raise ConfigError(f"{db} was not created by a demo; choose another file with --db")
    _remove(db)


def _is_there(db: Path) -> bool:
    return db.exists()


def _remove(db: Path) -> None:
    for suffix in ("", "-wal", "-shm", ".lock"):
        Path(f"{db}{suffix}").unlink(missing_ok=True)


async def _mark(settings: Settings, *, size: int, seed: int) -> None:
    async with open_backend(settings) as backend:
        await backend.store.write_state(STATE, {"size": size, "seed": seed})


def _shown(first: Result, again: Result, last: Result) -> Iterable[str]:
    yield (
        f"The first crawl took {number(first.tally.calls)} calls for {_entities(first.entities_saved)}: most of them "
        "are complete in lists of up to 100 per call."
    )
    yield (
        f"The second crawl made {number(again.tally.calls)} calls in {duration(again.duration_s)} to find changes. "
        f"{number(again.tally.statuses[304])} were free (304); {number(again.tally.charged)} were charged, to find the "
        "end of each list."
    )
    yield f"The third crawl was charged {counted(last.tally.charged, 'call')}: unchanged data is free."


def _entities(count: int) -> str:
    return counted(count, "entity", "entities")


def _steps(db: Path) -> Iterable[tuple[str, str]]:
    place = ("--db", str(db))
    yield shlex.join(("ghcrawl", "documents", "list", "--type", "issue", "--limit", "10", *place)), "list some issues"
    yield shlex.join(("ghcrawl", "documents", "show", f"{ORG}/web", *place)), "show a document and its links"
    yield (
        shlex.join(("ghcrawl", "documents", "export", *place, "-o", "demo.jsonl")),
        "export all documents, one per line",
    )
    yield shlex.join(("ghcrawl", "crawl", "octocat/Hello-World")), "crawl the real GitHub, without a token"
