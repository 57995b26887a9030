"""`ghcrawl demo`: a whole crawl, and a refresh, of a platform that lives in this process: GitHub, or another."""

from __future__ import annotations

import shlex
from collections.abc import AsyncIterator, Callable, Iterable, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Final

from ghcrawl.backend import open_backend
from ghcrawl.cli import crawling, summary
from ghcrawl.cli.crawling import Plan
from ghcrawl.cli.options import Place
from ghcrawl.cli.output import console
from ghcrawl.cli.progress import LOG_LEVEL, reporter
from ghcrawl.cli.result import Result
from ghcrawl.cli.stderr import complain, say
from ghcrawl.cli.words import counted, duration, number
from ghcrawl.platforms.contract import Simulated
from ghcrawl.settings.sections import LogSection, Settings
from ghcrawl.simulator.github.generation.generate import generate
from ghcrawl.simulator.github.generation.size import WorldSize
from ghcrawl.simulator.github.run import running
from ghcrawl.simulator.github.server import Setup
from ghcrawl.values.errors import ConfigError
from ghcrawl.values.type_names import LEGACY_PLATFORM
from ghcrawl.wiring import crawled_by, load, read_credentials, simulator, start_logging

STATE: Final = "demo"
ORG: Final = "acme"
UNHINDERED: Final = {"github.calls_per_min": "0", "github.response_s_per_min": "0"}
"""A simulator has no secondary limits."""
NO_LIMIT: Final = 1_000_000
THINGS: Final = 0.9
"""The rest of the documents are pages of lists."""
TOKEN: Final = "ghp_theDemosOwnTokenWhichOpensNothingElse"  # noqa: S105  # opens a simulator in this process


async def demo(*, size: int, db: Path, seed: int, platform: str = "") -> int:
    """Returns the exit status. platform: empty for the first one. Raises CrawlError."""
    github = platform in ("", LEGACY_PLATFORM)
    opening = _github(size, seed) if github else simulator(platform)(port=0, size=size, seed=seed, limit=NO_LIMIT)
    await _clear(db)
    async with opening as simulated:
        settings = _settings(db, simulated)
        await _mark(settings, size=size, seed=seed)
        name, what = ("GitHub", f"its organisation {ORG}") if github else (platform, simulated.spec)
        say(f"Simulating {name} at {simulated.url}; crawling {what} into {db}.")
        crawls = await _crawls(settings, simulated, count=3 if github else 2)
    _tell(crawls, _shown if github else _compared, _steps(db, github=github))
    return crawls[-1].exit_status


@asynccontextmanager
async def _github(size: int, seed: int) -> AsyncIterator[Simulated]:
    world = generate(WorldSize.about(round(size * THINGS)), seed=seed)
    member = next(iter(world.org(ORG).members.values())).user.login
    async with running(world, Setup(tokens={TOKEN: world.principal(member)})) as server:
        settings = {"github.api_url": server.url, **UNHINDERED}
        yield Simulated(url=server.url, spec=ORG, settings=settings, environ={"GHCRAWL_TOKENS": TOKEN})


def _tell(crawls: Sequence[Result], compare: Callable[..., Iterable[str]], steps: Sequence[tuple[str, str]]) -> None:
    """What the crawls came to. steps: what to do next."""
    first, last = crawls[0], crawls[-1]
    out = console()
    summary.show(first, steps=())
    for sentence in summary.complaints(last):
        complain(sentence)
    if last.finished:
        out.print()
        for sentence in compare(*crawls):
            out.print(sentence)
        out.print()
        summary.show_steps(out, steps)


async def _crawls(settings: Settings, simulated: Simulated, *, count: int) -> Sequence[Result]:
    """`count` crawls, or fewer if Ctrl-C ends one."""
    results: list[Result] = []
    for turn in range(1, count + 1):
        again = f" again ({turn} of {count})" if turn > 1 else ""
        results.append(await _crawl(settings, simulated, f"Crawling {simulated.spec}{again}"))
        if not results[-1].finished:
            break
    return results


async def _crawl(settings: Settings, simulated: Simulated, title: str) -> Result:
    shown = reporter(quiet=False)
    platform = () if simulated.spec == ORG else ("--platform", simulated.spec.partition(":")[0])
    start_logging(LogSection(level=LOG_LEVEL), shown.stream)
    plan = Plan(
        specs=(simulated.spec,),
        place=Place(db=settings.sqlite.path),
        settings=settings,
        credentials=read_credentials(settings, simulated.environ),
        command=shlex.join(("ghcrawl", "demo", *platform, "--db", str(settings.sqlite.path))),
        title=title,
    )
    return await crawling.crawl(plan, shown)


def _settings(db: Path, simulated: Simulated | None = None) -> Settings:
    """Neither config file nor environment: a demo is the same everywhere."""
    return load(None, {}, {"sqlite.path": db, **(simulated.settings if simulated else {})})[0]


async def _clear(db: Path) -> None:
    """The file of an earlier demo is gone. Raises ConfigError for any other."""
    if not _is_there(db):
        return
    if pid := crawled_by(db):
        raise ConfigError(f"{db} is being crawled by another process (pid {pid})")
    async with open_backend(_settings(db)) as backend:
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


def _compared(first: Result, again: Result) -> Iterable[str]:
    yield f"The first crawl took {counted(first.tally.calls, 'call')} for {_entities(first.entities_saved)}."
    yield (
        f"The second crawl took {counted(again.tally.calls, 'call')} to find out what is new: "
        f"{_entities(again.entities_saved)} saved."
    )


def _entities(count: int) -> str:
    return counted(count, "entity", "entities")


def _steps(db: Path, *, github: bool) -> Sequence[tuple[str, str]]:
    place = ("--db", str(db))
    some = (("documents", "list", "--limit", "10", *place), "list some documents")
    issues = (("documents", "list", "--type", "issue", "--limit", "10", *place), "list some issues")
    shown = (("documents", "show", f"{ORG}/web", *place), "show a document and its links")
    export = (("documents", "export", *place, "-o", "demo.jsonl"), "export all documents, one per line")
    real = (("crawl", "octocat/Hello-World"), "crawl the real GitHub, without a token")
    steps = (issues, shown, export, real) if github else (some, export)
    return [(shlex.join(("ghcrawl", *words)), purpose) for words, purpose in steps]
