"""`ghcrawl config …`."""

from __future__ import annotations

from typing import Annotated

import typer

from ghcrawl.cli.failures import perform
from ghcrawl.cli.options import Json, Kept, Place, flag, grouped

app = typer.Typer(help="Show, check and change settings, also of a running crawl.", no_args_is_help=True)


@app.command()
@grouped
def show(*, json: Json = False, place: Kept) -> int:
    """Show all settings as TOML, with the origin of each non-default value.

    Precedence, lowest first: defaults, the settings file (--config or
    GHCRAWL_CONFIG), the environment (GHCRAWL_GITHUB__API_URL sets api_url in
    section github), `config set`, the command line. A change by `config set`
    during a crawl overrides that crawl's command line. In a service, `config
    set` always overrides the command line.

    [bold]Example[/bold]

    ghcrawl config show > ghcrawl.toml
    """
    from ghcrawl.cli import config as work

    return perform(work.show(place, json=json))


@app.command("set")
@grouped
def set_(
    name: Annotated[str, typer.Argument(metavar="NAME", help="Setting, as section.name.", show_default=False)],
    value: Annotated[str | None, typer.Argument(metavar="VALUE", help="New value.", show_default=False)] = None,
    *,
    unset: Annotated[bool, flag("--unset", help="Remove the value set with `config set`.")] = False,
    place: Kept,
) -> int:
    """Change a setting of the running crawl, within 1 s, and of later crawls of this file.

    [bold]Examples[/bold]

    ghcrawl config set crawl.loops 5

    ghcrawl config set crawl.paused true

    ghcrawl config set crawl.exclude 'acme/old-*,acme/attic'

    ghcrawl config set crawl.weights.later 0

    ghcrawl config set crawl.loops --unset
    """
    from ghcrawl.cli import config as work

    return perform(work.set_(place, name, value, unset=unset))


@app.command()
@grouped
def check(*, place: Annotated[Place, "db", "config"]) -> int:
    """Check settings, credentials and key files, offline.

    [bold]Example[/bold]

    ghcrawl config check --config ghcrawl.toml
    """
    from ghcrawl.cli import config as work

    return perform(work.check(place))
