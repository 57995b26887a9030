"""Who asks servers of the AT Protocol, and what each server still allows."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Final

from ghcrawl.fetch.atproto.answers import told
from ghcrawl.fetch.atproto.sessions import Session
from ghcrawl.fetch.client import Answer

ANONYMOUS: Final = "anonymous"


class Server:
    """The budget that one server gives our address. Moments are epoch seconds by our clock."""

    def __init__(self, url: str) -> None:
        self.url = url
        self.limit = 0
        self.remaining = 0
        self.resets_at = 0.0
        self.benched_until = 0.0

    def note(self, answer: Answer, reserve: float) -> None:
        """What an answer said about it. Nothing is asked for while only the reserve is left."""
        said = told(answer)
        if said is None:
            return
        self.limit, self.remaining, self.resets_at = said.limit, said.remaining, answer.ended + said.resets_in_s
        if said.remaining <= said.limit * reserve:
            self.benched_until = max(self.benched_until, self.resets_at)


@dataclass(slots=True)
class Principal:
    """A principal. session None: unauthenticated."""

    server: Server
    session: Session | None = None
    calls: int = 0
    in_flight: int = 0

    @property
    def id(self) -> str:
        """As in `PrincipalView`."""
        return self.session.account.principal_id if self.session else ANONYMOUS

    @property
    def refused(self) -> str:
        """Why its account is not accepted; empty: it is."""
        return self.session.refused if self.session else ""

    @property
    def waits_until(self) -> float:
        """When it may ask, in epoch seconds."""
        return max(self.server.benched_until, self.session.waits_until if self.session else 0.0)


def moment_of(seconds: float) -> datetime:
    """UTC, of epoch seconds."""
    return datetime.fromtimestamp(seconds, UTC)
