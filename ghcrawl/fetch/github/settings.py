"""How GitHub is to be asked, as one value."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from msgspec import Struct
from msgspec.structs import force_setattr
from yarl import URL

from ghcrawl import __version__
from ghcrawl.fetch.budgets import DeclaredBudget
from ghcrawl.values.errors import ConfigError

USER_AGENT: Final = f"ghcrawl/{__version__} (+https://github.com/ghcrawl/ghcrawl)"
ACCEPT: Final = "application/vnd.github+json"
_ACCEPT_FOR: Final[Mapping[str, str]] = {"stargazers": "application/vnd.github.star+json"}
"""What is worth asking for in another form, by request type: stars with their dates."""

PRETTY_PRINTED: Final = ("curl", "wget", "safari", "firefox")
"""GitHub indents bodies for user agents that contain one of these, after it has hashed them."""


def accept_for(type: str) -> str:
    """The media type that requests of `type` ask for."""
    return _ACCEPT_FOR.get(type, ACCEPT)


class GitHubSettings(Struct, frozen=True, kw_only=True):
    """Raises ConfigError for what cannot be run with.

    api_url: `https://api.github.com`, `https://<host>/api/v3` of an Enterprise server, or a simulator's.
    concurrency: calls in flight per principal; GitHub allows 100 over all processes.
    reserve: the part of every budget that is left untouched for others who use the same credentials.
    calls_per_min, response_s_per_min: GitHub's unreadable secondary limits, kept from our side: calls in any minute,
        and summed response time in any minute (GitHub allows 900 calls and 90 s a minute). None: no such limit,
        which is right for a simulator and for an Enterprise server that has them switched off.
    budgets: more limits, which the server does not report.
    patience_s: how long one fetch may wait for its turn before it is put off.
    max_body_bytes: of the decompressed body.
    batches: many things are asked for at once over the GraphQL API, where there is one and a token to ask with.
    """

    api_url: str = "https://api.github.com"
    api_version: str = "2022-11-28"
    user_agent: str = USER_AGENT
    concurrency: int = 8
    reserve: float = 0.05
    calls_per_min: int | None = 800
    response_s_per_min: float | None = 60.0
    budgets: tuple[DeclaredBudget, ...] = ()
    patience_s: float = 2.0
    timeout_s: float = 60.0
    max_body_bytes: int = 100_000_000
    batches: bool = True

    def __post_init__(self) -> None:
        force_setattr(self, "api_url", _base(self.api_url))
        if not 0 <= self.reserve < 1:
            raise ConfigError(f"the reserve is a part of the budget from 0 up to 1, and {self.reserve} is none")
        if self.concurrency < 1 or (self.calls_per_min is not None and self.calls_per_min < 1):
            raise ConfigError("concurrency and calls_per_min are at least 1")
        forbidden = [word for word in PRETTY_PRINTED if word in self.user_agent.lower()]
        if forbidden or not self.user_agent.strip():
            raise ConfigError(f"the user agent must name this project and must not contain {', '.join(PRETTY_PRINTED)}")

    @property
    def graphql_url(self) -> str:
        """Of the GraphQL API: beside `/api/v3` on an Enterprise server, below the root elsewhere."""
        return f"{self.api_url.removesuffix('/v3')}/graphql"

    def owns(self, url: str) -> bool:
        """Whether `url` is the API's own, so that a credential may be sent there."""
        return url.startswith(self.api_url) and url[len(self.api_url) : len(self.api_url) + 1] in ("", "/", "?")


def _base(text: str) -> str:
    """`text` as the prefix that all URLs of the API share."""
    try:
        url = URL(text)
    except ValueError:
        url = URL()
    if url.scheme not in ("http", "https") or not url.host or url.user or url.password or url.query or url.fragment:
        raise ConfigError(
            "the API's URL must be like https://api.github.com or https://github.example.com/api/v3, "
            "without credentials or a query"
        )
    return str(url).rstrip("/")
