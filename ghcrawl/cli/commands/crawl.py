"""`ghcrawl crawl`."""

from __future__ import annotations

import sys
from typing import Annotated

import typer

from ghcrawl.cli.failures import perform
from ghcrawl.cli.options import Crawled, Loops, Verbose, flag, grouped, log_level


@grouped
def crawl(
    specs: Annotated[
        list[str] | None, typer.Argument(metavar="SPEC", help="What to crawl.", show_default=False)
    ] = None,
    *,
    platform: Annotated[
        str | None,
        typer.Option(
            "--platform",
            metavar="NAME",
            help="Platform that reads the SPECs: web for blogs. Default: whichever understands them.",
            show_default=False,
        ),
    ] = None,
    policy: Annotated[
        str | None,
        typer.Option("--policy", metavar="P", help="How to fetch and what to follow; see Policy.", show_default=False),
    ] = None,
    scenario: Annotated[
        str | None,
        typer.Option(
            "--scenario",
            metavar="NAME",
            help="What to follow; see Scenario.",
            show_default=False,
        ),
    ] = None,
    only: Annotated[
        list[str] | None,
        typer.Option(
            "--only", metavar="TYPE,…", help="Crawl only these types and the path to them.", show_default=False
        ),
    ] = None,
    exclude: Annotated[
        list[str] | None,
        typer.Option("--exclude", metavar="TYPE,…", help="Do not crawl these types.", show_default=False),
    ] = None,
    since: Annotated[
        str | None,
        typer.Option(
            "--since",
            metavar="DATE",
            help="Only what changed since then, where the API tells: 2026-01-31, or 7d for 7 days ago.",
            show_default=False,
        ),
    ] = None,
    max_calls: Annotated[
        int | None,
        typer.Option("--max-calls", min=1, metavar="N", help="Stop after N API calls.", show_default=False),
    ] = None,
    dry_run: Annotated[bool, flag("--dry-run", help="Estimate the number of API calls; save nothing.")] = False,
    follow: Annotated[
        bool, flag("--follow", help="When the crawl is complete, keep following changes until Ctrl-C.")
    ] = False,
    place: Crawled,
    loops: Loops = None,
    afresh: Annotated[bool, flag("--afresh", help="Start over, even if this crawl was interrupted.")] = False,
    json: Annotated[bool, flag("--json", help="Print the result as one JSON object.")] = False,
    quiet: Annotated[bool, flag("--quiet", "-q", help="Show no progress and no summary.")] = False,
    log_level: Annotated[str | None, log_level("no logs")] = None,
    verbose: Verbose = False,
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
    from ghcrawl.cli.wanting import Wanting

    more = {"crawl.loops": loops, "crawl.policy": policy, "log.level": "debug" if verbose else log_level}
    wish = work.Options(
        specs=tuple(specs or ()),
        platform=platform or "",
        place=place,
        more={name: value for name, value in more.items() if value is not None},
        wanting=Wanting(scenario=scenario or "", only=only or (), without=exclude or (), since=since or ""),
        max_calls=max_calls,
        dry_run=dry_run,
        follow=follow,
        afresh=afresh,
        json=json,
        quiet=quiet,
        arguments=tuple(sys.argv[1:]),
    )
    return perform(work.crawl(wish))
