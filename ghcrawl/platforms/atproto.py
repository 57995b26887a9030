"""Bluesky, and any other network of the AT Protocol, as a platform."""

from __future__ import annotations

from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from typing import Annotated, Final

from pydantic import Field, PositiveFloat

from ghcrawl.fetch.atproto.fetcher import AtprotoFetcher, AtprotoSettings
from ghcrawl.fetch.atproto.sessions import Account, read_accounts
from ghcrawl.fetch.atproto.streams import stream_of
from ghcrawl.platforms.contract import Platform, Streaming
from ghcrawl.platforms.credentials import CredentialCheck, CredentialHandling, LoadedCredential, read_credentials_file
from ghcrawl.platforms.simulation import Simulated, Simulation, Simulator
from ghcrawl.ports import source as ports
from ghcrawl.ports.clock import Clock
from ghcrawl.ports.observer import Call, Observer, Settled
from ghcrawl.ports.quotas import Egress
from ghcrawl.ports.stream import Stream
from ghcrawl.values.documents import Document
from ghcrawl.values.errors import ConfigError
from ghcrawl.values.section import Section
from ghcrawl.values.visitor_map import Scenarios
from processors.atproto.events import Subscription, missed_by
from processors.atproto.names import NAME, did_in
from processors.atproto.registry import KINDS, SCENARIOS
from processors.atproto.spec import other_spelling, read_spec
from processors.atproto.tables import TABLES

VARIABLE: Final = "GHCRAWL_BLUESKY_ACCOUNTS"
SERVER: Final = "an http or https URL without a path, such as https://public.api.bsky.app"
STREAM: Final = "a ws or wss URL without a query"
JETSTREAM: Final = "wss://jetstream2.us-east.bsky.network/subscribe"


class BlueskySection(Section):
    """How the AT Protocol is asked.

    api_url: the server that is asked without an account. records: read repositories, and no AppView.
    accounts_file: lines `HANDLE APP-PASSWORD [SERVER]`; with accounts, each is asked through its own server.
    stream_url: a Jetstream, or the firehose of a server (`…/xrpc/com.atproto.sync.subscribeRepos`).
    """

    api_url: Annotated[str, Field(pattern=r"^https?://[^\s?#/]+/?$", description=SERVER)] = (
        "https://public.api.bsky.app"
    )
    accounts_file: str = ""
    stream_url: Annotated[str, Field(pattern=r"^wss?://[^\s?#]+$", description=STREAM)] = JETSTREAM
    records: bool = False
    reserve: Annotated[float, Field(ge=0, lt=1)] = 0.05
    timeout_s: PositiveFloat = 60.0


class BlueskySource(AtprotoFetcher):
    """The port `Source`."""

    def limit(self, section: Section) -> None:
        """As the port says: nothing of it may change while it is open."""

    def unrecoverable(self) -> str:
        """As the port says: no account is accepted."""
        refused = self.refused()
        return f"no account is accepted ({refused}); correct {NAME}.accounts_file" if refused else ""

    async def use(self, credentials: Sequence[ports.Credential]) -> None:
        """As the port says."""
        await super().use(_ours(credentials))


@asynccontextmanager
async def _open(
    section: Section,
    credentials: Sequence[ports.Credential],
    clock: Clock,
    observer: Observer,
    egress: Egress,  # noqa: ARG001  # no quota is declared: the servers tell
) -> AsyncIterator[BlueskySource]:
    async with BlueskySource(_settings(_mine(section)), _ours(credentials), clock, observer) as source:
        yield source


def _settings(section: BlueskySection) -> AtprotoSettings:
    return AtprotoSettings(
        name=NAME,
        api_url=section.api_url.rstrip("/"),
        records=section.records,
        reserve=section.reserve,
        timeout_s=section.timeout_s,
    )


def _mine(section: Section) -> BlueskySection:
    assert isinstance(section, BlueskySection)
    return section


def _ours(credentials: Sequence[ports.Credential]) -> Sequence[Account]:
    return [each for each in credentials if isinstance(each, Account)]


def _stream(_source: ports.Source, section: Section, document: Document) -> Stream:
    """The stream of a subscription."""
    subscription = Subscription.of(document.body, document.root)
    dids = document.body.get("dids")
    return stream_of(
        _mine(section).stream_url,
        subscription.pushes,
        dids=dids if isinstance(dids, list) else (),
        since=document.observed_at,
        missed=[missed_by(document)],
    )


@asynccontextmanager
async def _simulated(options: Simulation) -> AsyncIterator[Simulated]:
    # Imported here: only who simulates needs a server.
    from ghcrawl.simulator.atproto.run import running  # noqa: PLC0415
    from ghcrawl.simulator.atproto.server import WINDOW_S, Limits  # noqa: PLC0415
    from ghcrawl.simulator.atproto.world import generate  # noqa: PLC0415

    limits = Limits(limit=options.limit, window_s=options.window_s or WINDOW_S)
    world = generate(posts=options.size, seed=options.seed)
    async with running(world, limits=limits, port=options.port) as server:
        spec = f"{NAME}:q/post,profile,relations/user=alice.test"
        yield Simulated(url=server.url, spec=spec, settings={f"{NAME}.api_url": server.url})


# Accounts -----------------------------------------------------------------------------------------------------


def _read(section: Section, text: str, variable: str) -> Sequence[LoadedCredential]:
    """The accounts of the accounts file. An app password can write posts: it belongs in a file."""
    if text:
        raise ConfigError(f"{variable}: app passwords are read from a file only; name it with {NAME}.accounts_file")
    name = _mine(section).accounts_file
    if not name:
        return ()
    path, lines = read_credentials_file(name, "accounts file")
    found = read_accounts(lines, source=f"the accounts file {path}")
    return [LoadedCredential(credential=account, source=str(path), traits=account.service) for account in found]


async def _check(
    section: Section, credentials: Sequence[ports.Credential], clock: Clock
) -> AsyncIterator[CredentialCheck]:
    """Each account, with a session made for it."""
    async with BlueskySource(_settings(_mine(section)), (), clock, _Unobserved()) as source:
        for account in _ours(credentials):
            yield CredentialCheck(label=account.label, login=account.identifier, trouble=await source.trouble(account))


class _Unobserved:
    """The observer of calls that belong to no crawl."""

    def settled(self, settled: Settled) -> None:
        """Nothing is counted."""

    def called(self, call: Call) -> None:
        """Nothing is counted."""


BLUESKY: Final = Platform(
    name=NAME,
    kinds=KINDS,
    scenarios=Scenarios(SCENARIOS),
    read_spec=read_spec,
    other_spelling=other_spelling,
    open=_open,
    section=BlueskySection,
    scope=lambda request: did_in(request.url),
    base="api_url",
    scheme=NAME,
    simulator=Simulator(run=_simulated, title="Bluesky", options=frozenset({"--limit", "--window"})),
    tables=TABLES,
    streaming=Streaming(type="stream", open=_stream),
    credentials=CredentialHandling(
        variable=VARIABLE,
        file="accounts_file",
        read=_read,
        secret=lambda credential: str(getattr(credential, "password", "")),
        check=_check,
        without=lambda _section: "without an account",
        missing=(
            "No accounts: only what is public is asked for, without search. Create an app password in the settings of "
            f"your account, write `HANDLE APP-PASSWORD` into a file, and name it with {NAME}.accounts_file."
        ),
    ),
)
