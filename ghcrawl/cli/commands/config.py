"""`ghcrawl config …`."""

# ruff: noqa: PLC0415  # imports wait until a command runs
from __future__ import annotations

from typing import Annotated

import typer

from ghcrawl.cli.failures import perform
from ghcrawl.cli.options import Config, Db, Json, Place, Server, flag

app = typer.Typer(help="See what is set, check it, and change a crawl while it runs.", no_args_is_help=True)


@app.command()
def show(json: Json = False, server: Server = None, db: Db = None, config: Config = None) -> int:
    """Show every setting that holds, as TOML, and where each that is no default comes from.

    Defaults are overridden by a file (--config or GHCRAWL_CONFIG), that by the
    environment (GHCRAWL_GITHUB__API_URL is api_url in section github), that by
    `config set`, and that by the command line. A crawl that runs when something
    is set goes by that first, and a service always does.

    [bold]Example[/bold]

    ghcrawl config show > ghcrawl.toml
    """
    from ghcrawl.cli import config as work

    return perform(work.show(Place(db=db, server=server, config=config), json=json))


@app.command("set")
def set_(
    name: Annotated[str, typer.Argument(metavar="NAME", help="section.name", show_default=False)],
    value: Annotated[str | None, typer.Argument(metavar="VALUE", help="What it is to be.", show_default=False)] = None,
    unset: Annotated[bool, flag("--unset", help="No longer set it here.")] = False,
    server: Server = None,
    db: Db = None,
    config: Config = None,
) -> int:
    """Change a setting of a crawl that runs, within a second, and of those to come on this file.

    [bold]Examples[/bold]

    ghcrawl config set crawl.loops 5

    ghcrawl config set crawl.paused true

    ghcrawl config set crawl.exclude 'acme/old-*,acme/attic'

    ghcrawl config set crawl.weights.later 0

    ghcrawl config set crawl.loops --unset
    """
    from ghcrawl.cli import config as work

    return perform(work.set_(Place(db=db, server=server, config=config), name, value, unset=unset))


@app.command()
def check(db: Db = None, config: Config = None) -> int:
    """Check settings, credentials and key files without calling anybody.

    [bold]Example[/bold]

    ghcrawl config check --config ghcrawl.toml
    """
    from ghcrawl.cli import config as work

    return perform(work.check(Place(db=db, config=config)))
