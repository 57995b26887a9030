"""Mastodon, and what answers as it does, as a platform of any number of hosts."""

from __future__ import annotations

from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from functools import partial
from typing import Final

from pydantic import PositiveFloat, PositiveInt

from ghcrawl.fetch.budgets import DeclaredBudget
from ghcrawl.fetch.mastodon.checks import check
from ghcrawl.fetch.mastodon.fetcher import MastodonFetcher, MastodonSettings
from ghcrawl.fetch.mastodon.streams import MastodonStream, Subscription, Transport
from ghcrawl.fetch.mastodon.tokens import HostToken, read_tokens
from ghcrawl.platforms.contract import Platform, Streaming
from ghcrawl.platforms.credentials import CredentialCheck, CredentialHandling, LoadedCredential, read_credentials_file
from ghcrawl.platforms.simulation import Simulated, Simulation, Simulator
from ghcrawl.ports import source as ports
from ghcrawl.ports.clock import Clock, SystemClock
from ghcrawl.ports.observer import Observer
from ghcrawl.ports.quotas import Egress
from ghcrawl.ports.stream import Stream
from ghcrawl.values.documents import Document
from ghcrawl.values.section import Section
from ghcrawl.values.visitor_map import Scenarios
from processors.mastodon.names import NAME, host_of
from processors.mastodon.registry import KINDS, SCENARIOS
from processors.mastodon.spec import read_spec
from processors.mastodon.streams import channel, told
from processors.mastodon.tables import TABLES

VARIABLE: Final = "GHCRAWL_MASTODON_TOKENS"
UNLIMITED: Final = 1_000_000_000
BUDGETS: Final = (
    DeclaredBudget(calls=300, period_s=300.0),
    DeclaredBudget(calls=300, period_s=300.0, per="address"),
)
"""Mastodon's own limits, on each host."""


class MastodonSection(Section):
    """How hosts of Mastodon are asked. budgets: of each host. streaming: how events are read."""

    tokens_file: str = ""
    budgets: tuple[DeclaredBudget, ...] = BUDGETS
    streaming: Transport = "sse"
    timeout_s: PositiveFloat = 60.0
    max_body_mb: PositiveInt = 100


class MastodonSource(MastodonFetcher):
    """The port `Source`."""

    def limit(self, section: Section) -> None:
        """As the port says: nothing of it may change while it is open."""

    def unrecoverable(self) -> str:
        """As the port says: every host has refused all its tokens."""
        hosts = [host for host in self.hosts.known.values() if host.asked]
        if not hosts or any(host.order("") for host in hosts):
            return ""
        refused = "; ".join(slot.token.label for host in hosts for slot in host.slots if slot.token)
        return f"no token is accepted any more ({refused}); correct {VARIABLE} or the tokens file"

    async def use(self, credentials: Sequence[ports.Credential]) -> None:
        """As the port says."""
        await super().use(_ours(credentials))


@asynccontextmanager
async def _open(
    section: Section, credentials: Sequence[ports.Credential], clock: Clock, observer: Observer, egress: Egress
) -> AsyncIterator[MastodonSource]:
    async with MastodonSource(_settings(_mine(section)), _ours(credentials), clock, observer, egress) as source:
        yield source


def _stream(source: ports.Source, section: Section, document: Document) -> Stream:
    """The stream of a subscription."""
    assert isinstance(source, MastodonSource)
    name, tag, timeline = channel(document)
    subscription = Subscription(host=host_of(document.url), channel=name, tag=tag, timeline=timeline)
    return MastodonStream(source, subscription, partial(told, document), transport=_mine(section).streaming)


def _settings(section: MastodonSection) -> MastodonSettings:
    return MastodonSettings(
        budgets=section.budgets, timeout_s=section.timeout_s, max_body_bytes=section.max_body_mb * 1_000_000
    )


def _mine(section: Section) -> MastodonSection:
    assert isinstance(section, MastodonSection)
    return section


def _ours(credentials: Sequence[ports.Credential]) -> Sequence[HostToken]:
    return [each for each in credentials if isinstance(each, HostToken)]


def _read(section: Section, text: str, variable: str) -> Sequence[LoadedCredential]:
    """The tokens of the variable and of the tokens file."""
    found = [_sourced(token, variable) for token in read_tokens(text, source=variable)]
    name = _mine(section).tokens_file
    if not name:
        return found
    path, lines = read_credentials_file(name, "tokens file")
    known = {each.credential for each in found}
    tokens = read_tokens(lines, source=f"the tokens file {path}")
    return [*found, *(_sourced(token, name) for token in tokens if token not in known)]


def _sourced(token: HostToken, source: str) -> LoadedCredential:
    return LoadedCredential(credential=token, source=source, traits=token.host)


def _check(section: Section, credentials: Sequence[ports.Credential], clock: Clock) -> AsyncIterator[CredentialCheck]:
    return check(_settings(_mine(section)), _ours(credentials), clock)


@asynccontextmanager
async def _simulated(options: Simulation) -> AsyncIterator[Simulated]:
    # Imported here: only who simulates needs a server.
    from ghcrawl.simulator.mastodon.server import Setup, running  # noqa: PLC0415
    from ghcrawl.simulator.mastodon.world import generate  # noqa: PLC0415

    tokens = {"simulated-token-of-user1": "user1"}
    world = generate(SystemClock(), accounts=5, statuses=options.size, seed=options.seed)
    setup = Setup(tokens=tokens, limit=options.limit or UNLIMITED)
    async with running(world, setup, port=options.port) as server:
        spec = f"{NAME}://{server.host}/q/post,profile,relations/user=user1"
        environ = {VARIABLE: f"{server.host}={next(iter(tokens))}"}
        yield Simulated(url=server.url, spec=spec, environ=environ, tokens=tokens)


MASTODON: Final = Platform(
    name=NAME,
    kinds=KINDS,
    scenarios=Scenarios(SCENARIOS),
    read_spec=read_spec,
    open=_open,
    section=MastodonSection,
    scope=lambda request: host_of(request.url),
    scheme=NAME,
    streaming=Streaming(type="stream", open=_stream),
    simulator=Simulator(run=_simulated, title="Mastodon", options=frozenset({"--limit"})),
    tables=TABLES,
    credentials=CredentialHandling(
        variable=VARIABLE,
        file="tokens_file",
        read=_read,
        secret=lambda credential: str(getattr(credential, "secret", "")),
        check=_check,
        without=lambda _section: "without a token",
        missing=(
            "No tokens: only what each host shows to everybody is asked for, without streams. Create an application in "
            f"your account's settings on the host, and put HOST=TOKEN into {VARIABLE}."
        ),
    ),
)
