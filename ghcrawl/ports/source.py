"""A platform's source of answers, open: what it can be asked, with which credentials, and how much of it."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import Protocol

from msgspec import Struct

from ghcrawl.ports.fetcher import Fetcher
from ghcrawl.values.section import Section


class Credential(Protocol):
    """One credential. principal_id names the budget that it draws on, label is for people; neither is secret."""

    @property
    def principal_id(self) -> str:
        """The same for credentials that share a budget."""

    @property
    def label(self) -> str:
        """For people."""


class BudgetView(Struct, frozen=True, kw_only=True):
    """What is left of one resource, as of the last answers. reset_at is by our clock.

    reserved: calls that are left to others who use the same principal. main: most calls are charged to it.
    """

    resource: str
    limit: int
    remaining: int
    reset_at: datetime
    reserved: int = 0
    main: bool = False


class PrincipalView(Struct, frozen=True, kw_only=True):
    """One credential and the principal behind it, for people and metrics; nothing here is secret.

    id: the principal's; the same on several views where credentials share a budget.
    host: the only host at which it is used; empty: any of its platform.
    anonymous: requests are sent without a credential.
    retired: why the credential is not used; empty while it is.
    """

    id: str
    label: str
    platform: str = ""
    host: str = ""
    fingerprint: str = ""
    traits: tuple[str, ...] = ()
    budgets: tuple[BudgetView, ...] = ()
    calls: int = 0
    in_flight: int = 0
    anonymous: bool = False
    benched_until: datetime | None = None
    benched_for: str = ""
    retired_until: datetime | None = None
    retired: str = ""


class Source(Fetcher, Protocol):
    """One platform's answers, as far as its limits and the credentials allow."""

    def principals(self) -> Sequence[PrincipalView]:
        """The credentials in use, one view each."""

    def limit(self, section: Section) -> None:
        """The live settings of `section` hold from now on."""

    def unrecoverable(self) -> str:
        """Why no request can succeed until a person acts, as one sentence without secrets; empty: it can."""

    async def use(self, credentials: Sequence[Credential]) -> None:
        """Use these from now on. Credentials that were there before keep their budgets.

        Raises ConfigError where there are none: private data looks deleted to an unauthenticated request.
        """
