"""GitHub, and GitHub Enterprise Server, as a platform."""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from datetime import timedelta
from functools import cache, partial
from typing import Annotated, Final, Literal

from pydantic import Field, NonNegativeInt, PositiveFloat, PositiveInt

from ghcrawl.fetch.budgets import DeclaredBudget
from ghcrawl.fetch.github import checks
from ghcrawl.fetch.github.credentials import AppSettings, read, remarks
from ghcrawl.fetch.github.fetcher import GitHubFetcher
from ghcrawl.fetch.github.hooks import GitHubHooks, demand_names
from ghcrawl.fetch.github.principals import Credential, Installation, Token
from ghcrawl.fetch.github.settings import GitHubSettings
from ghcrawl.platforms.contract import Deliveries, Feed, HookAccess, Platform
from ghcrawl.platforms.credentials import CredentialCheck, CredentialHandling, LoadedCredential
from ghcrawl.platforms.kind import Kind
from ghcrawl.platforms.simulation import Simulated, Simulation, Simulator
from ghcrawl.ports import source as ports
from ghcrawl.ports.clock import Clock
from ghcrawl.ports.observer import Observer
from ghcrawl.ports.quotas import Egress
from ghcrawl.ports.webhooks import Hooks
from ghcrawl.values.documents import Document
from ghcrawl.values.frozen import replace
from ghcrawl.values.section import Section
from ghcrawl.values.visitor_map import Node, Scenarios
from processors.github import PARTS, kinds, registry
from processors.github.entities import BY_TYPE
from processors.github.estimate import survey
from processors.github.events_feed import feed_request
from processors.github.maps import SCENARIOS
from processors.github.registry import DOCUMENT_TYPES, USUAL, Depth, Depths, behind
from processors.github.scenarios import Narrowed
from processors.github.spec import described, export_fields, namesakes, other_spelling, reader
from processors.github.tables import TABLES
from processors.github.webhook import delivery_request

NAME: Final = "github"
VARIABLE: Final = "GHCRAWL_TOKENS"
PUBLIC: Final = "https://api.github.com"

# Settings -----------------------------------------------------------------------------------------------------

API_URL: Final = "an http or https URL without a query, such as https://HOST/api/v3"
DATE: Final = "a date such as 2022-11-28"


class GitHubSection(Section):
    """How GitHub is asked."""

    api_url: Annotated[str, Field(pattern=r"^https?://[^\s?#]+$", description=API_URL)] = "https://api.github.com"
    api_version: Annotated[str, Field(pattern=r"^\d{4}-\d{2}-\d{2}$", description=DATE)] = "2022-11-28"
    tokens_file: str = ""
    concurrency: Annotated[int, Field(ge=1, le=100)] = 8
    reserve: Annotated[float, Field(ge=0, lt=1)] = 0.05
    calls_per_min: NonNegativeInt = 800
    response_s_per_min: Annotated[float, Field(ge=0)] = 60.0
    budgets: tuple[DeclaredBudget, ...] = ()
    timeout_s: PositiveFloat = 60.0
    max_body_mb: PositiveInt = 100
    commits: Depth = USUAL.commits
    pull_requests: Depth = USUAL.pull_requests
    users: Depth = USUAL.users
    batches: Literal["auto", "off"] = "auto"
    apps: tuple[AppSettings, ...] = ()


# Asking -------------------------------------------------------------------------------------------------------


class GitHubSource(GitHubFetcher):
    """The port `Source`."""

    def limit(self, section: Section) -> None:
        """As the port says."""
        mine = _mine(section)
        self.set_limits(concurrency=mine.concurrency, reserve=mine.reserve)

    def unrecoverable(self) -> str:
        """As the port says: no token is accepted."""
        refused = self.refused()
        place = self.api_url
        return f"{place} rejects all tokens ({refused}); correct {VARIABLE} or the tokens file" if refused else ""

    async def use(self, credentials: Sequence[ports.Credential]) -> None:
        """As the port says."""
        await super().use(_ours(credentials))


@asynccontextmanager
async def _open(
    section: Section, credentials: Sequence[ports.Credential], clock: Clock, observer: Observer, egress: Egress
) -> AsyncIterator[GitHubSource]:
    async with GitHubSource(_settings(_mine(section)), _ours(credentials), clock, observer, egress) as source:
        yield source


def _batched(source: ports.Source) -> frozenset[str]:
    assert isinstance(source, GitHubFetcher)
    return source.batched()


def _disproved(source: ports.Source, type: str, fields: Sequence[str]) -> None:
    assert isinstance(source, GitHubFetcher)
    source.disproved(type, fields)


def _settings(section: GitHubSection) -> GitHubSettings:
    return GitHubSettings(
        api_url=section.api_url,
        api_version=section.api_version,
        concurrency=section.concurrency,
        reserve=section.reserve,
        calls_per_min=section.calls_per_min or None,
        response_s_per_min=section.response_s_per_min or None,
        budgets=section.budgets,
        timeout_s=section.timeout_s,
        max_body_bytes=section.max_body_mb * 1_000_000,
        batches=section.batches == "auto",
    )


def _mine(section: Section) -> GitHubSection:
    assert isinstance(section, GitHubSection)
    return section


def _ours(credentials: Sequence[ports.Credential]) -> Sequence[Credential]:
    return [each for each in credentials if isinstance(each, Token | Installation)]


# Credentials --------------------------------------------------------------------------------------------------


def _read(section: Section, text: str, variable: str) -> Sequence[LoadedCredential]:
    mine = _mine(section)
    return read(text, variable, tokens_file=mine.tokens_file, apps=mine.apps)


def _without(section: Section) -> str:
    if _mine(section).api_url.rstrip("/") != PUBLIC:
        return "without a token"
    return f"without a token: 60 calls per hour (5,000 with a token in {VARIABLE})"


def _check(section: Section, credentials: Sequence[ports.Credential], clock: Clock) -> AsyncIterator[CredentialCheck]:
    return checks.check(_settings(_mine(section)), _ours(credentials), clock)


def _check_hooks(section: Section, names: Sequence[str], webhook_url: str) -> None:
    demand_names(names, webhook_url, apps=[app.app_id for app in _mine(section).apps])


def _open_hooks(source: ports.Source, section: Section, names: Sequence[str], webhook_url: str) -> Hooks:
    assert isinstance(source, GitHubFetcher)
    return GitHubHooks(source, _mine(section).api_url, names, webhook_url)


# The platform -------------------------------------------------------------------------------------------------


def _is_private(document: Document) -> bool:
    return document.body.get("private") is True


def _simulated(options: Simulation) -> AbstractAsyncContextManager[Simulated]:
    # Imported here: only who simulates needs a server.
    from ghcrawl.simulator.github.standalone import simulated  # noqa: PLC0415

    return simulated(options)


_SIMULATOR: Final = Simulator(
    run=_simulated,
    title="GitHub",
    options=frozenset({"--tokens", "--limit", "--window", "--faults", "--live", "--webhook-url", "--webhook-secret"}),
    remark="most of them are complete in lists of up to 100 per call",
    steps=(
        (("documents", "list", "--type", "issue", "--limit", "10"), "list some issues"),
        (("documents", "show", "acme/web"), "show a document and its links"),
    ),
    beyond=((("crawl", "octocat/Hello-World"), "crawl the real GitHub, without a token"),),
)
NO_TOKENS: Final = (
    "No tokens: requests are unauthenticated, at 60 calls per hour. Create a token at "
    f"https://github.com/settings/tokens (public data needs no scope) and put it into {VARIABLE}."
)


_CREDENTIALS: Final = CredentialHandling(
    variable=VARIABLE,
    file="tokens_file",
    read=_read,
    secret=lambda credential: str(getattr(credential, "secret", "")),
    check=_check,
    without=_without,
    remarks=remarks,
    missing=NO_TOKENS,
)


def platform(*, depths: Depths = USUAL, scenarios: Mapping[str, Mapping[str, Node]] | None = None) -> Platform:
    """GitHub. depths: as the settings. scenarios: replaces the visitor maps named in it."""
    known = kinds(depths)
    maps = {**SCENARIOS, **(scenarios or {})}
    return Platform(
        name=NAME,
        kinds=known,
        scenarios=Scenarios(Narrowed(maps, behind, DOCUMENT_TYPES)),
        read_spec=reader(BY_TYPE, registry.listings(), PARTS),
        open=_open,
        batched=_batched,
        disproved=_disproved,
        section=GitHubSection,
        live=("concurrency", "reserve"),
        free_unchanged=True,
        base="api_url",
        options={"--api-url": "api_url", "--tokens-file": "tokens_file"},
        configured=_configured,
        credentials=_CREDENTIALS,
        survey=survey,
        deliveries=Deliveries(
            request=partial(delivery_request, known=frozenset(known)),
            event_header="X-GitHub-Event",
            delivery_header="X-GitHub-Delivery",
            signature_header="X-Hub-Signature-256",
            weak_signature_header="X-Hub-Signature",
            ping="ping",
            max_bytes=25 * 1024 * 1024,
            resent_for=timedelta(days=3),
        ),
        feed=Feed(request=feed_request, type="events", free=True, separate="repo", is_separate=_is_private),
        hooks=HookAccess(check=_check_hooks, open=_open_hooks),
        simulator=_SIMULATOR,
        tables=TABLES,
        export_fields=export_fields,
        described=described,
        namesakes=namesakes,
        other_spelling=other_spelling,
    )


@cache
def _kinds(depths: Depths) -> Mapping[str, Kind]:
    return kinds(depths)


def _configured(before: Platform, section: Section) -> Platform:
    mine = _mine(section)
    depths = Depths(commits=mine.commits, pull_requests=mine.pull_requests, users=mine.users)
    if depths == USUAL:
        return before
    return replace(
        before,
        kinds=_kinds(depths),
        survey=partial(survey, depths=depths),
        batched=lambda source: _batched(source) - depths.as_listed,
    )


GITHUB: Final = platform()
