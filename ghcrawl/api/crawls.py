"""A crawl from a script or notebook."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Final

from msgspec import Struct

from ghcrawl.api.background import Background
from ghcrawl.cli import crawling
from ghcrawl.cli.crawl import Options, log_to, planned
from ghcrawl.cli.narrowing import Wanting
from ghcrawl.cli.options import Place
from ghcrawl.cli.progress import reporter
from ghcrawl.cli.result import Result

VARIABLE: Final = "GHCRAWL_TOKENS"


class Crawled(Struct, frozen=True, kw_only=True):
    """The result of a crawl.

    finished: nothing is left to do. trouble: why it stopped, if it could not go on. saved: entities written, by type.
    calls: of the API, free ones included. deadletters: requests that failed for good, in the file.
    refused: the specs that led to nothing. duration_s: in seconds.
    """

    finished: bool
    trouble: str
    saved: Mapping[str, int]
    calls: int
    deadletters: int
    refused: tuple[str, ...]
    duration_s: float


def crawl(  # noqa: PLR0913  # every option is a parameter
    *specs: str,
    db: str | os.PathLike[str] = "ghcrawl.db",
    tokens: str | Sequence[str] = (),
    api_url: str | None = None,
    config: str | os.PathLike[str] | None = None,
    policy: str | None = None,
    scenario: str = "",
    only: str | Sequence[str] = (),
    since: str = "",
    max_calls: int | None = None,
    settings: Mapping[str, Any] | None = None,
    progress: bool = False,
) -> Crawled:
    """Crawls `specs` into the file `db` until nothing is left to do, like `ghcrawl crawl`; Ctrl-C stops it cleanly.

    specs: organisations (`acme`), repositories (`acme/web`) or URLs; none: what is queued. tokens: on top of those in
    GHCRAWL_TOKENS. api_url: of a self-hosted server. policy, scenario, only, since, max_calls: as the options of
    `ghcrawl crawl`. settings: others by name, `{"crawl.loops": 4}`. progress: show it on standard error.
    Raises ConfigError, SpecError, StoreError; what fails later is in the result.
    """
    place = Place(db=Path(db), config=None if config is None else Path(config), api_url=api_url)
    more = {**(settings or {}), **({"crawl.policy": policy} if policy else {})}
    wish = Options(
        specs=specs,
        place=place,
        more=more,
        wanting=Wanting(scenario=scenario, only=_several(only), since=since),
        max_calls=max_calls,
        arguments=("crawl", *specs, *place.typed()),
    )
    with Background() as background:
        return _told(background.run(_crawl(wish, _several(tokens), progress=progress)))


def _several(words: str | Sequence[str]) -> Sequence[str]:
    return [words] if isinstance(words, str) else words


async def _crawl(wish: Options, tokens: Sequence[str], *, progress: bool) -> Result:
    shown = reporter(quiet=not progress)
    plan, origins = await planned(wish, _environment(tokens))
    log_to(shown, plan.settings, origins)
    return await crawling.crawl(plan, shown)


def _environment(tokens: Sequence[str]) -> Mapping[str, str]:
    if not tokens:
        return os.environ
    return {**os.environ, VARIABLE: "\n".join([*filter(None, [os.environ.get(VARIABLE)]), *tokens])}


def _told(result: Result) -> Crawled:
    figures = result.figures()
    return Crawled(
        finished=result.finished,
        trouble=result.trouble,
        saved=figures["entities"]["saved_by_type"],
        calls=result.tally.calls,
        deadletters=result.deadletters.total,
        refused=tuple(one.spec for one in result.refused),
        duration_s=result.duration_s,
    )
