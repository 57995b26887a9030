"""`ghcrawl crawl`: settings and credentials, one crawl, and what is said about it."""

from __future__ import annotations

import shlex
from collections.abc import Mapping, Sequence
from typing import Any

from msgspec import Struct

from ghcrawl.cli import crawling, estimating, summary
from ghcrawl.cli.narrowing import Wanting
from ghcrawl.cli.opening import remembering, with_memory
from ghcrawl.cli.options import Place
from ghcrawl.cli.output import write_json
from ghcrawl.cli.plan import Plan
from ghcrawl.cli.progress import LOG_LEVEL, Reporter, reporter
from ghcrawl.cli.result import CLEAN, Result
from ghcrawl.cli.stderr import complain, say
from ghcrawl.ports.clock import SystemClock
from ghcrawl.settings import loading as setting
from ghcrawl.settings.loading import Origins
from ghcrawl.settings.sections import LogSection, Settings
from ghcrawl.values.errors import ConfigError
from ghcrawl.wiring import PLATFORMS, read_credentials, start_logging


class Options(Struct, frozen=True, kw_only=True):
    """What was typed. more: settings from the command line; arguments: all of it, behind the program's name.

    wanting: how much of it. max_calls: the limit of calls. dry_run: only estimate.
    follow: go on when all is there. platform: reads the specs; empty: whichever understands them.
    """

    specs: tuple[str, ...]
    place: Place
    more: Mapping[str, Any] = {}
    wanting: Wanting = Wanting()
    max_calls: int | None = None
    dry_run: bool = False
    follow: bool = False
    afresh: bool = False
    json: bool = False
    quiet: bool = False
    arguments: tuple[str, ...] = ()
    platform: str = ""

    @property
    def command(self) -> str:
        """The line that goes on with this crawl."""
        return shlex.join(("ghcrawl", *(word for word in self.arguments if word != "--afresh")))


async def crawl(options: Options) -> int:
    """Returns the exit status. Raises CrawlError where the crawl could not start."""
    if options.follow and not options.specs:
        raise ConfigError("--follow needs a SPEC: ghcrawl crawl ORG --follow")
    plan, origins = await planned(options, setting.environment())
    shown = reporter(quiet=options.quiet or options.dry_run)
    log_to(shown, plan.settings, origins)
    if options.dry_run:
        foreseen = await estimating.foresee(plan, _silent if options.quiet else say)
        write_json(foreseen.figures()) if options.json else estimating.show(foreseen)
        return CLEAN
    result = await crawling.crawl(plan, shown)
    tell(result, json=options.json, quiet=options.quiet)
    return result.exit_status


async def planned(options: Options, environ: Mapping[str, str]) -> tuple[Plan, Origins]:
    """The crawl that is meant, and where its settings come from. environ: for credentials. Raises CrawlError."""
    settings, origins, remembered = await with_memory(options.place, options.more)
    before, settings = settings, remembering(settings, origins, remembered)
    settings = options.wanting.applied(settings, SystemClock().now())
    plan = Plan(
        specs=_named(options.specs, options.platform),
        place=options.place,
        settings=settings,
        credentials=read_credentials(settings, environ),
        more=options.more,
        max_calls=options.max_calls,
        follow=options.follow,
        command=options.command,
        afresh=options.afresh,
        verbose="log.level" in origins,
        remembered=remembered.latest is not None and settings is not before,
    )
    return plan, origins


def _named(specs: Sequence[str], platform: str) -> tuple[str, ...]:
    """The specs with the platform that reads them. Raises ConfigError for one that does not exist."""
    names = [each.name for each in PLATFORMS]
    if platform and platform not in names:
        raise ConfigError(f"unknown platform {platform!r}; known platforms: {', '.join(names)}")
    own = tuple(spec.strip() for spec in specs)
    return (
        tuple(f"{platform}:{spec}" if not spec.startswith(f"{platform}:") else spec for spec in own)
        if platform
        else own
    )


def _silent(_sentence: str) -> None:
    """For `--quiet`."""


def log_to(shown: Reporter, settings: Settings, origins: Origins) -> None:
    """Logs go where they do not tear the screen, which shows the same as a warning would."""
    level = settings.log.level if "log.level" in origins else LOG_LEVEL
    start_logging(LogSection(level=level, format=settings.log.format), shown.stream)


def tell(result: Result, *, json: bool, quiet: bool) -> None:
    """The figures on standard output, what went wrong on standard error."""
    if json:
        write_json(result.figures())
    elif not quiet:
        summary.show(result)
    for sentence in summary.complaints(result):
        complain(sentence)
