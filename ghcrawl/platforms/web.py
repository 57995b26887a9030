"""Blogs as a platform: any host with pages and feeds."""

from __future__ import annotations

from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from importlib.util import find_spec
from typing import Annotated, Final
from urllib.parse import urlsplit

from pydantic import Field, NonNegativeFloat, NonNegativeInt, PositiveFloat, PositiveInt

from ghcrawl.fetch.web.fetcher import WebFetcher
from ghcrawl.fetch.web.scripts import lacking
from ghcrawl.fetch.web.settings import Private, Scripts, WebSettings
from ghcrawl.platforms.contract import Platform
from ghcrawl.platforms.simulation import Simulated, Simulation, Simulator
from ghcrawl.ports.clock import Clock
from ghcrawl.ports.observer import Observer
from ghcrawl.ports.quotas import Egress
from ghcrawl.ports.source import Credential, PrincipalView
from ghcrawl.ports.store import Stored
from ghcrawl.values.errors import ConfigError
from ghcrawl.values.frozen import replace
from ghcrawl.values.outcome import Retrieved
from ghcrawl.values.requests import Request
from ghcrawl.values.section import Section
from ghcrawl.values.visitor_map import Scenarios
from processors.web.kinds import SCENARIOS, kinds, other_spelling, read_page, read_spec
from processors.web.tables import TABLES

NAME: Final = "web"
NEEDED: Final = ("feedparser", "lxml", "protego", "trafilatura")
EXTRA: Final = "crawling blogs needs more packages: pip install 'ghcrawl[web]'"
MAX_IMAGE_KB: Final = 8_000
"""MongoDB holds documents of up to 16 MB, and base64 makes a third more of a file."""
DEFAULT: Final = WebSettings()


class WebSection(Section):
    """How sites are asked."""

    user_agent: Annotated[str, Field(min_length=1, pattern=r"^[\x20-\x7e]+$")] = DEFAULT.user_agent
    private_addresses: Private = "typed"
    obey_robots: bool = True
    delay_s: NonNegativeFloat = DEFAULT.delay_s
    timeout_s: PositiveFloat = DEFAULT.timeout_s
    max_body_mb: PositiveInt = 5
    max_pages: PositiveInt = 1_000
    keep_pages: bool = False
    image_kb: Annotated[NonNegativeInt, Field(le=MAX_IMAGE_KB)] = 0
    javascript: Scripts = "never"
    chromium: str = ""
    chromium_sandbox: bool = True
    load_more: Annotated[str, Field(min_length=1)] = DEFAULT.load_more
    max_clicks: NonNegativeInt = DEFAULT.max_clicks


class WebSource(WebFetcher):
    """The port `Source`."""

    async def fetch(self, request: Request, stored: Stored | None) -> Retrieved:
        """As the port says. Raises ConfigError where the packages are not installed."""
        if lacks := self.unrecoverable():
            raise ConfigError(lacks)
        return await super().fetch(request, stored)

    def principals(self) -> Sequence[PrincipalView]:
        """Unauthenticated."""
        return (PrincipalView(id="anonymous", label="anonymous", platform=NAME, calls=self.calls, anonymous=True),)

    def limit(self, section: Section) -> None:
        """As the port says."""
        self.limited(_settings(_mine(section)))

    def unrecoverable(self) -> str:
        """As the port says: the packages are not installed, or the browser is not."""
        return EXTRA if any(find_spec(name) is None for name in NEEDED) else lacking(self.settings)

    async def use(self, credentials: Sequence[Credential]) -> None:  # noqa: ARG002  # of the port
        """As the port says: there are none."""
        raise ConfigError("the web has no credentials")


@asynccontextmanager
async def _open(
    section: Section, credentials: Sequence[Credential], clock: Clock, observer: Observer, egress: Egress
) -> AsyncIterator[WebSource]:
    async with WebSource(_settings(_mine(section)), clock, observer, egress) as source:
        assert not credentials, "there are none"
        yield source


def _settings(section: WebSection) -> WebSettings:
    return WebSettings(
        user_agent=section.user_agent,
        private_addresses=section.private_addresses,
        obey_robots=section.obey_robots,
        delay_s=section.delay_s,
        timeout_s=section.timeout_s,
        max_body_bytes=section.max_body_mb * 1_000_000,
        javascript=section.javascript,
        chromium=section.chromium,
        chromium_sandbox=section.chromium_sandbox,
        load_more=section.load_more,
        max_clicks=section.max_clicks,
    )


def _mine(section: Section) -> WebSection:
    assert isinstance(section, WebSection)
    return section


def _configured(before: Platform, section: Section) -> Platform:
    mine = _mine(section)
    return replace(before, kinds=kinds(max_pages=mine.max_pages, keep_pages=mine.keep_pages, image_kb=mine.image_kb))


@asynccontextmanager
async def _simulated(options: Simulation) -> AsyncIterator[Simulated]:
    # Imported here: only who simulates needs a server. A blog has no rate limit.
    from ghcrawl.simulator.web import Blog  # noqa: PLC0415

    async with Blog(size=max(15, options.size // 36), seed=options.seed).running(options.port) as url:
        yield Simulated(url=url, spec=f"{NAME}:{url}")


WEB: Final = Platform(
    name=NAME,
    kinds=kinds(),
    scenarios=Scenarios(SCENARIOS),
    read_spec=read_spec,
    open=_open,
    section=WebSection,
    live=("delay_s",),
    page=read_page,
    scope=lambda request: urlsplit(request.url).netloc,
    requires_prefix=True,
    other_spelling=other_spelling,
    configured=_configured,
    simulator=Simulator(run=_simulated, title="a blog"),
    tables=TABLES,
)
