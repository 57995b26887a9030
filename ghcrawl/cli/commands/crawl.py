"""`ghcrawl crawl`."""

from __future__ import annotations

import sys
from typing import Annotated

import typer
from msgspec import Struct

from ghcrawl.cli.failures import perform
from ghcrawl.cli.options import Crawled, Loops, Verbose, flag, grouped, log_level, option


class What(Struct, frozen=True, kw_only=True):
    """Options on what is crawled, and how much of it."""

    platform: Annotated[
        str,
        option(
            "--platform", "NAME", "Platform that reads the SPECs: web for blogs. Default: whichever understands them."
        ),
    ] = ""
    policy: Annotated[str | None, option("--policy", "P", "How to fetch and what to follow; see Policy.")] = None
    scenario: Annotated[str, option("--scenario", "NAME", "What to follow; see Scenario.")] = ""
    only: Annotated[tuple[str, ...], option("--only", "TYPE,…", "Crawl only these types and the path to them.")] = ()
    exclude: Annotated[tuple[str, ...], option("--exclude", "TYPE,…", "Do not crawl these types.")] = ()
    since: Annotated[
        str,
        option(
            "--since", "DATE", "Only what changed since then, where the API tells: 2026-01-31, or 7d for 7 days ago."
        ),
    ] = ""
    max_calls: Annotated[int | None, option("--max-calls", "N", "Stop after N API calls.", min=1)] = None
    dry_run: Annotated[bool, flag("--dry-run", help="Estimate the number of API calls; save nothing.")] = False
    follow: Annotated[
        bool, flag("--follow", help="When the crawl is complete, keep following changes until Ctrl-C.")
    ] = False


class How(Struct, frozen=True, kw_only=True):
    """Options on how it runs, and what it prints."""

    loops: Loops = None
    afresh: Annotated[bool, flag("--afresh", help="Start over, even if this crawl was interrupted.")] = False
    json: Annotated[bool, flag("--json", help="Print the result as one JSON object.")] = False
    quiet: Annotated[bool, flag("--quiet", "-q", help="Show no progress and no summary.")] = False
    log_level: Annotated[str | None, log_level("no logs")] = None
    verbose: Verbose = False


@grouped
def crawl(
    specs: Annotated[
        list[str] | None, typer.Argument(metavar="SPEC", help="What to crawl.", show_default=False)
    ] = None,
    *,
    what: What = What(),  # noqa: B008  # frozen
    place: Crawled,
    how: How = How(),  # noqa: B008  # frozen
) -> int:
    """Crawl until the queues are empty.

    A SPEC is an organisation or a user (acme), a repository (acme/web), an issue
    (acme/web#5), a commit (acme/web@1a2b3c4), an API or browser URL, or
    TYPE:URL. Without a SPEC, crawl the requests that are
    already queued in the file.

    [bold]Resume:[/bold] run the same command again to continue an interrupted crawl.
    After a finished crawl, the same command refreshes it. The first refresh costs
    up to three calls per repository; after that, unchanged data costs no quota.

    [bold]Ctrl-C[/bold] finishes requests in flight and shows what remains. A second
    Ctrl-C stops immediately. Neither loses data.

    [bold]Follow:[/bold] --follow polls event feeds as often as the API allows and
    reconciles every list once a day to detect deletions. It needs no webhooks.

    [bold]Policy:[/bold] NAME, or NAME:MAP to choose what to follow: default, refresh,
    audit (read every list in full: detects deletions), reload (refetch
    immutable data too), always (fetch unconditionally), mutables+7d (refetch
    what was last checked more than 7 days ago), default:self (follow nothing).

    [bold]Scenario:[/bold] default, everything (adds traffic, checks, reactions, …),
    metadata (no issues, no code), issues, code, relationOnly (memberships and
    ownership), self (follow nothing). docs/github.md lists what each follows.

    [bold]Examples[/bold]
        ghcrawl crawl acme
        ghcrawl crawl acme/web acme/api --db acme.db --json
        ghcrawl crawl https://github.com/acme/web/issues/7
        ghcrawl crawl acme --only issue,issue_comment --since 2026-01-31
        ghcrawl crawl acme --scenario everything --dry-run
        ghcrawl crawl acme --scenario everything --max-calls 1000
        ghcrawl crawl https://blog.example.org/ --platform web
        ghcrawl crawl acme --api-url https://ghe.example.com/api/v3

    [bold]Exit status[/bold]
        0    finished, or stopped by --max-calls or SIGTERM
        1    finished, and the file contains deadletters
        2    failed, or a SPEC was not found
        130  stopped by Ctrl-C
    """
    from ghcrawl.cli import crawl as work
    from ghcrawl.cli.narrowing import Wanting

    level = "debug" if how.verbose else how.log_level
    more = {"crawl.loops": how.loops, "crawl.policy": what.policy, "log.level": level}
    options = work.Options(
        specs=tuple(specs or ()),
        platform=what.platform,
        place=place,
        more={name: value for name, value in more.items() if value is not None},
        wanting=Wanting(scenario=what.scenario, only=what.only, without=what.exclude, since=what.since),
        max_calls=what.max_calls,
        dry_run=what.dry_run,
        follow=what.follow,
        afresh=how.afresh,
        json=how.json,
        quiet=how.quiet,
        arguments=tuple(sys.argv[1:]),
    )
    return perform(work.crawl(options))
