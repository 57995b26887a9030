"""`ghcrawl crawl`."""

# ruff: noqa: PLC0415, PLR0913  # imports wait until a command runs; every option is a parameter
from __future__ import annotations

import sys
from typing import Annotated

import typer

from ghcrawl.cli.failures import perform
from ghcrawl.cli.options import ApiUrl, Config, Db, LogLevel, Place, TokensFile, Verbose, flag


def crawl(
    specs: Annotated[
        list[str] | None, typer.Argument(metavar="SPEC", help="What to crawl.", show_default=False)
    ] = None,
    *,
    policy: Annotated[
        str | None,
        typer.Option("--policy", metavar="P", help="How to fetch, and where to go from there.", show_default=False),
    ] = None,
    scenario: Annotated[
        str | None,
        typer.Option(
            "--scenario",
            metavar="NAME",
            help="What to follow: default, everything, issues, code, …",
            show_default=False,
        ),
    ] = None,
    only: Annotated[
        list[str] | None,
        typer.Option("--only", metavar="TYPE,…", help="Only what leads to these types.", show_default=False),
    ] = None,
    exclude: Annotated[
        list[str] | None,
        typer.Option("--exclude", metavar="TYPE,…", help="Nothing that leads to these types.", show_default=False),
    ] = None,
    since: Annotated[
        str | None,
        typer.Option(
            "--since",
            metavar="DATE",
            help="Only what changed since that day, where it shows: 2026-01-31, or 7d ago.",
            show_default=False,
        ),
    ] = None,
    max_calls: Annotated[
        int | None,
        typer.Option("--max-calls", min=1, metavar="N", help="Stop after so many calls.", show_default=False),
    ] = None,
    dry_run: Annotated[bool, flag("--dry-run", help="Save nothing; say about how many calls it would take.")] = False,
    follow: Annotated[bool, flag("--follow", help="When all is there, go on with what happens, until Ctrl-C.")] = False,
    db: Db = None,
    api_url: ApiUrl = None,
    tokens_file: TokensFile = None,
    config: Config = None,
    loops: Annotated[
        int | None,
        typer.Option(
            "--loops", min=1, metavar="N", help="Requests in hand at a time; 20 if not set.", show_default=False
        ),
    ] = None,
    afresh: Annotated[bool, flag("--afresh", help="Begin again, even if this crawl was interrupted.")] = False,
    json: Annotated[bool, flag("--json", help="Print the figures as one JSON object.")] = False,
    quiet: Annotated[bool, flag("--quiet", "-q", help="Show no progress and no summary.")] = False,
    log_level: LogLevel = None,
    verbose: Verbose = False,
) -> int:
    """Crawl until nothing is left to do.

    A SPEC is an organisation or a user (acme), a repository (acme/web), a URL
    of the API or from a browser, or TYPE:URL. Without a SPEC, what waits in
    the file is worked through.

    [bold]Again:[/bold] the same command goes on with a crawl that was interrupted,
    however that happened. After a finished one it refreshes; what has not changed
    since costs nothing.

    [bold]Ctrl-C[/bold] finishes what is in hand and says what is left; a second one stops
    at once. Nothing is lost either way.

    [bold]Follow:[/bold] with --follow, event feeds are polled as often as they allow, and
    once a day every list is audited, which finds what is gone. Webhooks are
    not needed.

    [bold]Policy:[/bold] NAME, or NAME:MAP for where to go from there: default, refresh,
    audit (read lists from end to end: finds what is gone), reload (ask even
    for what cannot change), always (ask unconditionally), mutables+7d (what was
    not looked at for 7 days), default:self (no further).

    [bold]Scenario:[/bold] default, everything (traffic, checks, reactions, … as well),
    metadata (no issues, no code), issues, code, relationOnly (who belongs to
    what), self (no further). docs/github.md says what each follows.

    [bold]Examples[/bold]
        ghcrawl crawl acme
        ghcrawl crawl acme/web acme/api --db acme.db --json
        ghcrawl crawl https://github.com/acme/web/issues/7
        ghcrawl crawl acme --only issue,issue_comment --since 2026-01-31
        ghcrawl crawl acme --scenario everything --dry-run
        ghcrawl crawl acme --scenario everything --max-calls 1000
        ghcrawl crawl acme --api-url https://ghe.example.com/api/v3

    [bold]Exit status[/bold]
        0    all is done, or as much as --max-calls allows, or as SIGTERM let it
        1    all is done, and there are deadletters in the file
        2    it could not be done, or a SPEC leads to nothing
        130  stopped by Ctrl-C
    """
    from ghcrawl.cli import crawl as work
    from ghcrawl.cli.wanting import Wanting

    place = Place(db=db, config=config, api_url=api_url, tokens_file=tokens_file)
    more = {"crawl.loops": loops, "crawl.policy": policy, "log.level": "debug" if verbose else log_level}
    wish = work.Wish(
        specs=tuple(specs or ()),
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
