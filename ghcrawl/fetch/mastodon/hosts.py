"""State of each host: its tokens, its limits, and until when it is closed."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from hashlib import sha256
from typing import Final

import structlog

from ghcrawl.fetch.mastodon.answers import Limit
from ghcrawl.fetch.mastodon.tokens import HostToken
from ghcrawl.fetch.redaction import REDACTOR
from ghcrawl.ports.source import BudgetView, PrincipalView
from ghcrawl.values.frozen import replace

log = structlog.stdlib.get_logger(__name__)

ANONYMOUS: Final = "nobody"
RETIRED: Final = timedelta(hours=1)
"""How long a request waits for another token: a person has to bring one."""
SAME_S: Final = 5.0
"""Answers of one period differ by no more about when it ends."""
REFUSING: Final = frozenset({403, 410})
"""Statuses of a host that refuses everything."""
FORBIDDEN: Final = 10
"""After this many such answers in a row, the host as a whole counts as closed to us."""
FORBIDDEN_FOR: Final = timedelta(hours=1)
REMEMBERED_FOR: Final = timedelta(days=7)
"""How long a closed host is known to have refused everything: then the first refusal closes it again."""
MAX_HOSTS: Final = 10_000


@dataclass(slots=True)
class CredentialSlot:
    """A principal of one host: a token, or unauthenticated.

    limit: what the last answer said; left: what that leaves, with the calls in flight reckoned as charged.
    """

    host: str
    token: HostToken | None
    limit: Limit | None = None
    left: int = 0
    until: datetime | None = None
    reason: str = ""
    refused: str = ""
    calls: int = 0
    in_flight: int = 0

    @property
    def principal(self) -> str:
        """Fingerprint of the token; empty: unauthenticated."""
        return self.token.fingerprint if self.token else ""

    @property
    def authorization(self) -> dict[str, str]:
        """The header that says who asks."""
        return {"Authorization": f"Bearer {self.token.secret}"} if self.token else {}

    def blocked(self, now: datetime) -> datetime | None:
        """Until when nothing may be asked; None: go ahead."""
        return self.until if self.until is not None and self.until > now else None

    def take(self, now: datetime) -> datetime | None:
        """A call is about to be made; or until when nothing is left for it."""
        if self.limit is not None and self.limit.until > now:
            if self.left <= 0:
                return self.limit.until
            self.left -= 1
        self.in_flight += 1
        return None

    def heard(self, limit: Limit, now: datetime) -> None:
        """What an answer said. Answers overtake each other: within a period, what is left never rises."""
        known = self.limit
        same = known is not None and known.until > now and abs((limit.until - known.until).total_seconds()) < SAME_S
        left = max(0, limit.remaining - self.in_flight)
        self.left = min(self.left, left) if same else left
        self.limit = limit
        if limit.remaining == 0:
            self.wait(limit.until, "primary")

    def wait(self, until: datetime, reason: str) -> None:
        """Ask nothing until then."""
        self.until, self.reason = max(until, self.until or until), reason

    def retire(self, why: str) -> None:
        """The host refuses the token: it is not used again."""
        if not self.refused:
            log.error("principal_retired", principal=self.token.label if self.token else ANONYMOUS, reason=why)
        self.refused = why or "refused"

    def view(self, now: datetime) -> PrincipalView:
        """Its view, without secrets."""
        known = self.limit
        budget = (
            BudgetView(
                resource=self.host, limit=known.limit, remaining=known.remaining, reset_at=known.until, main=True
            )
            if known is not None
            else None
        )
        return PrincipalView(
            id=f"{self.host}/{self.principal or ANONYMOUS}",
            label=self.token.label if self.token else f"{self.host} without a token",
            host=self.host,
            fingerprint=self.principal,
            traits=(self.host,),
            budgets=(budget,) if budget else (),
            calls=self.calls,
            in_flight=self.in_flight,
            anonymous=self.token is None,
            benched_until=self.blocked(now),
            benched_for=self.reason if self.blocked(now) else "",
            retired=self.refused,
        )


@dataclass(slots=True)
class Host:
    """One host and the credentials for it.

    put_off: requests that found no quota left since the last call. refusals: answers 403 and 410 since the last
    other one; closed_until: nothing is asked after many of them. refusal: the last one.
    """

    slots: list[CredentialSlot]
    asked: bool = False
    put_off: int = 0
    refusals: int = 0
    closed_until: datetime | None = None
    refusal: int = 0

    def answered(self, status: int, now: datetime) -> None:
        """What an answer says of the host as a whole."""
        self.put_off = 0
        self.refusal = status if status in REFUSING else 0
        self.refusals = self.refusals + 1 if self.refusal else 0
        self.closed_until = now + FORBIDDEN_FOR if self.is_refusing else None

    @property
    def is_refusing(self) -> bool:
        """Whether it refuses everything, as far as it was asked."""
        return self.refusals >= FORBIDDEN

    def close(self, until: datetime) -> None:
        """Another process, or this one before it was restarted, found that the host refuses everything."""
        self.suspect()
        self.closed_until = until

    def suspect(self) -> None:
        """It refused everything when it was last asked: one more refusal closes it."""
        self.refusal, self.refusals = self.refusal or 403, max(self.refusals, FORBIDDEN)

    def closed(self, now: datetime) -> datetime | None:
        """Until when a host that refuses everything is left alone."""
        return self.closed_until if self.closed_until is not None and self.closed_until > now else None

    def used(self) -> list[CredentialSlot]:
        """Its tokens; without one, the slot of unauthenticated calls once there were some."""
        return [slot for slot in self.slots if slot.token or slot.calls]

    def order(self, preferred: str) -> list[CredentialSlot]:
        """The principals that may ask, the ETag's first. Unauthenticated only where there is no token."""
        usable = [slot for slot in self.slots if not slot.refused]
        return sorted(usable, key=lambda slot: slot.principal != preferred)

    def blocked(self, now: datetime) -> datetime | None:
        """Until when no principal may ask it; None: one may."""
        waits = [slot.blocked(now) for slot in self.order("")]
        known = [until for until in waits if until is not None]
        if not waits:
            return now + RETIRED
        return min(known) if len(known) == len(waits) else None


@dataclass(slots=True)
class Hosts:
    """All hosts that were asked, or that there are tokens for."""

    known: dict[str, Host] = field(default_factory=dict)

    def use(self, tokens: Iterable[HostToken]) -> None:
        """Ask with these from now on; those that stay keep what is known of them."""
        old = {slot.token: slot for host in self.known.values() for slot in host.slots if slot.token}
        by_host: dict[str, list[CredentialSlot]] = {}
        for token in dict.fromkeys(tokens):
            REDACTOR.add(token.secret)
            by_host.setdefault(token.host, []).append(old.get(token) or CredentialSlot(token.host, token))
        for name, host in self.known.items():
            host.slots = by_host.pop(name, []) or [CredentialSlot(name, None)]
        self.known |= {name: Host(slots) for name, slots in by_host.items()}

    def at(self, name: str) -> Host:
        """The host called so."""
        host = self.known.get(name)
        if host is None:
            host = self.known[name] = Host([CredentialSlot(name, None)])
            if len(self.known) > MAX_HOSTS:
                oldest = next(each for each, one in self.known.items() if not one.slots[0].token)
                del self.known[oldest]
        return host

    def blocked_until(self, now: datetime) -> datetime | None:
        """While no host that was asked may be asked."""
        waits = [host.blocked(now) for host in self.known.values() if host.asked]
        known = [until for until in waits if until is not None]
        return min(known) if known and len(known) == len(waits) else None

    @property
    def have_tokens(self) -> bool:
        """Whether any host is asked with a token."""
        return any(slot.token for host in self.known.values() for slot in host.slots)

    def views(self, now: datetime) -> list[PrincipalView]:
        """Views of principals and of closed hosts."""
        return [
            replace(view, benched_until=until, benched_for=f"it answers {host.refusal} to everything")
            if until
            else view
            for host in self.known.values()
            for until in (host.closed(now),)
            for view in (slot.view(now) for slot in host.used())
        ]

    def digest(self) -> str:
        """Of all tokens."""
        names = sorted(slot.principal for host in self.known.values() for slot in host.slots if slot.token)
        return sha256("\n".join(names).encode()).hexdigest()[:12]
