"""`ghcrawl demo`: a whole crawl, and a refresh, of a platform that this process simulates."""

from __future__ import annotations

import shlex
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Final

from ghcrawl.backend import open_backend
from ghcrawl.cli import crawling, summary
from ghcrawl.cli.options import Place
from ghcrawl.cli.output import console
from ghcrawl.cli.plan import Plan
from ghcrawl.cli.progress import LOG_LEVEL, reporter
from ghcrawl.cli.result import Result
from ghcrawl.cli.stderr import complain, say
from ghcrawl.cli.words import counted, duration, number
from ghcrawl.platforms.simulation import Simulated, Simulation, Simulator
from ghcrawl.settings.sections import LogSection, Settings
from ghcrawl.values.errors import ConfigError
from ghcrawl.wiring import crawled_by, load, read_credentials, simulator, start_logging

STATE: Final = "demo"
THINGS: Final = 0.9
"""The rest of the documents are pages of lists."""


async def demo(*, size: int, db: Path, seed: int, platform: str = "") -> int:
    """Returns the exit status. platform: empty for the first one. Raises CrawlError."""
    mine, simulator_of = simulator(platform)
    await _clear(db)
    async with simulator_of.run(Simulation(size=round(size * THINGS), seed=seed, limit=None)) as simulated:
        settings = _settings(db, simulated)
        await _mark(settings, size=size, seed=seed)
        say(f"Simulating {simulator_of.title} at {simulated.url}; crawling {simulated.spec} into {db}.")
        option = ("--platform", platform) if platform else ()
        command = shlex.join(("ghcrawl", "demo", *option, "--db", str(db)))
        crawls = await _crawls(settings, simulated, command, count=3 if mine.free_unchanged else 2)
    compared = _compared(crawls, simulator_of, free=mine.free_unchanged)
    _tell(crawls, compared, _steps(db, simulator_of))
    return crawls[-1].exit_status


def _tell(crawls: Sequence[Result], compared: Iterable[str], steps: Sequence[tuple[str, str]]) -> None:
    """Show the results. compared: sentences on all crawls. steps: commands to try next."""
    first, last = crawls[0], crawls[-1]
    out = console()
    summary.show(first, steps=())
    for sentence in summary.complaints(last):
        complain(sentence)
    if last.finished:
        out.print()
        for sentence in compared:
            out.print(sentence)
        out.print()
        summary.show_steps(out, steps)


async def _crawls(settings: Settings, simulated: Simulated, command: str, *, count: int) -> Sequence[Result]:
    """`count` crawls, or fewer if Ctrl-C ends one."""
    results: list[Result] = []
    for turn in range(1, count + 1):
        again = f" again ({turn} of {count})" if turn > 1 else ""
        results.append(await _crawl(settings, simulated, command, f"Crawling {simulated.spec}{again}"))
        if not results[-1].finished:
            break
    return results


async def _crawl(settings: Settings, simulated: Simulated, command: str, title: str) -> Result:
    shown = reporter(quiet=False)
    start_logging(LogSection(level=LOG_LEVEL), shown.stream)
    plan = Plan(
        specs=(simulated.spec,),
        place=Place(db=settings.sqlite.path),
        settings=settings,
        credentials=read_credentials(settings, simulated.environ),
        command=command,
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


def _compared(crawls: Sequence[Result], simulator_of: Simulator, *, free: bool) -> Iterable[str]:
    """free: unchanged answers cost nothing."""
    first, again, last = crawls[0], crawls[1], crawls[-1]
    remark = f": {simulator_of.remark}" if simulator_of.remark else ""
    yield f"The first crawl took {counted(first.tally.calls, 'call')} for {_entities(first.entities_saved)}{remark}."
    if free:
        yield (
            f"The second crawl made {number(again.tally.calls)} calls in {duration(again.duration_s)} to find changes. "
            f"{number(again.tally.statuses[304])} were free (304); {number(again.tally.charged)} were charged, to find "
            "the end of each list."
        )
        yield f"The third crawl was charged {counted(last.tally.charged, 'call')}: unchanged data is free."
    else:
        yield (
            f"The second crawl took {counted(again.tally.calls, 'call')} to find out what is new: "
            f"{_entities(again.entities_saved)} saved."
        )


def _entities(count: int) -> str:
    return counted(count, "entity", "entities")


def _steps(db: Path, simulator_of: Simulator) -> Sequence[tuple[str, str]]:
    place = ("--db", str(db))
    steps = [((*words, *place), purpose) for words, purpose in simulator_of.steps]
    steps.append((("documents", "export", *place, "-o", "demo.jsonl"), "export all documents, one per line"))
    return [(shlex.join(("ghcrawl", *words)), purpose) for words, purpose in (*steps, *simulator_of.beyond)]
