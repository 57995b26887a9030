"""Chooses who asks: the credential that a request is drawn to, or the next one that may."""

from __future__ import annotations

import hashlib
import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Final

from msgspec import Struct

from ghcrawl.fetch.budgets import DeclaredBudgets, Spent
from ghcrawl.fetch.github.app_auth import InstallationTokens, Mint
from ghcrawl.fetch.github.budget import Wait
from ghcrawl.fetch.github.credential_slot import CredentialSlot
from ghcrawl.fetch.github.credential_status import view
from ghcrawl.fetch.github.limits import Finished, Limits
from ghcrawl.fetch.github.principals import Anonymous, Credential, Installation, affinity, any_declared
from ghcrawl.fetch.github.rate_limiter import RateLimiter
from ghcrawl.fetch.github.settings import GitHubSettings
from ghcrawl.fetch.redaction import REDACTOR
from ghcrawl.ports.clock import Clock
from ghcrawl.ports.source import PrincipalView
from ghcrawl.values.frozen import replace
from ghcrawl.values.outcome import Denied, Throttled

MAX_ORDERS: Final = 8192


class Need(Struct, frozen=True, kw_only=True):
    """What a request needs of a credential.

    owner, scope: lower case; scope decides the affinity.
    prefer: fingerprint of the token whose ETag we hold.
    without: credentials that were asked already; sees: at least so much (`Traits.sees`).
    """

    type: str
    resource: str
    owner: str = ""
    scope: str = ""
    private: bool = False
    prefer: str = ""
    without: frozenset[str] = frozenset()
    sees: int = -1


@dataclass(slots=True)
class Grant:
    """Leave for one call. It must be finished or lost, once. spent: what it takes of declared budgets."""

    slot: CredentialSlot
    resource: str
    header: str = field(repr=False)
    fingerprint: str
    spent: tuple[Spent, ...] = ()

    def finish(self, finished: Finished) -> None:
        """The call has ended. Waiting calls are released by `limiter.serve`, once all consequences are recorded."""
        self.slot.limiter.finish(self.resource, finished)

    def lost(self, seconds: float) -> None:
        """The result of a call is unknown after `seconds`: it counts as charged."""
        self.finish(Finished(seconds=seconds))
        self.slot.limiter.serve()


class Pool:
    """All credentials of one API."""

    def __init__(
        self,
        settings: GitHubSettings,
        clock: Clock,
        mint: Mint,
        server_now: Callable[[], datetime],
        declared: DeclaredBudgets,
    ) -> None:
        self._settings = settings
        self._budgets = declared
        self._clock = clock
        self._mint = mint
        self._server_now = server_now
        self._slots: tuple[CredentialSlot, ...] = ()
        self._declared = False
        self._orders: dict[str, tuple[CredentialSlot, ...]] = {}

    # Who there is -------------------------------------------------------------------------------------------

    async def use(self, credentials: Sequence[Credential]) -> None:
        """Work with these from now on. What stays keeps its budgets, benches and calls."""
        wanted = tuple(credentials) or (Anonymous(),)
        old = {slot.credential: slot for slot in self._slots}
        limiters = {slot.principal_id: slot.limiter for slot in self._slots}
        slots = []
        for credential in wanted:
            limiter = limiters.get(credential.principal_id) or self._limiter()
            limiters[credential.principal_id] = limiter
            slots.append(old.get(credential) or self._slot(credential, limiter))
        self._slots, before = tuple(slots), self._slots
        self._declared = any_declared(slot.traits for slot in slots)
        self._orders.clear()
        kept = {id(slot.limiter) for slot in slots}
        for slot in before:
            if slot not in slots:
                await slot.close(limiter_too=id(slot.limiter) not in kept)

    def limit(self, *, concurrency: int, reserve: float) -> None:
        """Apply these limits to every principal; waiting calls are checked against them again."""
        self._settings = replace(self._settings, concurrency=concurrency, reserve=reserve)
        for limiter in {id(slot.limiter): slot.limiter for slot in self._slots}.values():
            limiter.limits.change(concurrency=concurrency, reserve=reserve)
            limiter.serve()

    async def close(self) -> None:
        """No call waits, and no token is being minted."""
        for slot in self._slots:
            await slot.close(limiter_too=True)

    def _limiter(self) -> RateLimiter:
        settings = self._settings
        limits = Limits(
            concurrency=settings.concurrency,
            reserve=settings.reserve,
            calls_per_min=settings.calls_per_min,
            load_s=settings.response_s_per_min,
        )
        return RateLimiter(limits, self._clock, patience_s=settings.patience_s)

    def _slot(self, credential: Credential, limiter: RateLimiter) -> CredentialSlot:
        tokens = None
        if isinstance(credential, Installation):
            tokens = InstallationTokens(credential, self._mint, self._server_now)
        elif not isinstance(credential, Anonymous):
            REDACTOR.add(credential.secret)
        return CredentialSlot(credential, limiter, tokens)

    # Who asks -----------------------------------------------------------------------------------------------

    async def grant(self, need: Need) -> Grant | Throttled | Denied:
        """Leave to make one call; or why there is none now, or not with these credentials.

        One that is busy is waited for, for a moment. The next ones are asked only when that did not help.
        """
        waits: list[tuple[Wait, CredentialSlot]] = []
        denied: Denied | None = None
        slots = self._candidates(need)
        for slot in slots:
            denial = slot.denial(need.owner, need.scope, need.type)
            if denial is not None:
                denied = denial
                continue
            patient = not waits or all(wait.reason != "busy" for wait, _ in waits)
            leave = await self._leave(slot, need.resource, patient=patient)
            if isinstance(leave, Grant):
                return leave
            waits.append((leave, slot))
        if waits:
            return _put_off(waits, need.resource)
        return denied or _nobody_for(need)

    async def again(self, grant: Grant) -> Grant | Throttled:
        """Leave for one more call with the same credential."""
        leave = await self._leave(grant.slot, grant.resource, patient=True)
        return leave if isinstance(leave, Grant) else _put_off([(leave, grant.slot)], grant.resource)

    async def spend(self, grant: Grant) -> None:
        """The call has ended, however."""
        await self._budgets.finish(grant.spent)

    async def _leave(self, slot: CredentialSlot, resource: str, *, patient: bool) -> Grant | Wait:
        """Leave for one call, of every budget that it needs. Raises StoreError."""
        wait = await _take(slot, resource, patient=patient)
        if wait is not None:
            return wait
        try:
            spent = await self._budgets.take(slot.principal_id) if self._budgets else ()
        except BaseException:
            slot.limiter.cancel(resource)
            raise
        if isinstance(spent, float):
            slot.limiter.limits.bench(spent, "budget")
            slot.limiter.cancel(resource)
            return Wait(spent, "budget")
        if (unfit := slot.unfit()) is not None:
            slot.limiter.cancel(resource)
            await self._budgets.cancel(spent)
            return unfit
        return Grant(slot, resource, *slot.authorization, spent)

    def _candidates(self, need: Need) -> Sequence[CredentialSlot]:
        """Who may answer `need`, first choice first."""
        slots = self._ordered(need.scope)
        if len(slots) == 1 and not need.without and not self._declared:
            return slots
        if need.sees >= 0:
            slots = tuple(slot for slot in slots if slot.traits.sees(need.owner) >= need.sees)
        elif self._declared:
            fits = tuple(slot for slot in slots if slot.traits.serves(need.owner, private=need.private))
            slots = fits or (() if need.private else slots)
        others = [slot for slot in slots if slot.id not in need.without]
        return sorted(others, key=lambda slot: _preference(slot, need))

    def _ordered(self, scope: str) -> tuple[CredentialSlot, ...]:
        order = self._orders.get(scope)
        if order is None:
            if len(self._orders) >= MAX_ORDERS:
                self._orders.clear()
            key = [(affinity(scope, s.principal_id), affinity(scope, s.id), s) for s in self._slots]
            order = tuple(slot for _, _, slot in sorted(key, key=lambda item: item[:2], reverse=True))
            self._orders[scope] = order
        return order

    # What is known of them ----------------------------------------------------------------------------------

    def blocked_until(self) -> datetime | None:
        """While no principal can ask: when the first can again."""
        first = math.inf
        now = self._clock.now().timestamp()
        for slot in self._slots:
            wait = slot.retired() or slot.limiter.limits.closed(now, self._settings.patience_s)
            if wait is None:
                return None
            first = min(first, wait.until)
        return datetime.fromtimestamp(first, UTC) if self._slots else None

    @property
    def authenticated(self) -> bool:
        """Whether some credential is accepted, as far as is known."""
        return any(not slot.anonymous and slot.retired() is None for slot in self._slots)

    def credential_digest(self) -> str:
        """A digest of all credentials."""
        return hashlib.sha256("\n".join(sorted(slot.id for slot in self._slots)).encode()).hexdigest()[:12]

    def refused(self) -> str:
        """Why none of the credentials is accepted, as one line; empty while one is."""
        now = self._clock.now().timestamp()
        if not self._slots or any(now >= slot.retired_until for slot in self._slots):
            return ""
        return "; ".join(f"{slot.credential.label}: {slot.retired_for}" for slot in self._slots)

    def installation(self, app_id: str) -> Installation | None:
        """An installation of that App, whose key is the App's."""
        found = (slot.credential for slot in self._slots)
        return next((one for one in found if isinstance(one, Installation) and one.app_id == app_id), None)

    def views(self) -> tuple[PrincipalView, ...]:
        """One a credential."""
        return tuple(view(slot, self._clock.now().timestamp()) for slot in self._slots)


def _preference(slot: CredentialSlot, need: Need) -> tuple[bool, bool]:
    """Sorts first the holder of the ETag, then, for private data, the installation of its owner."""
    holds = bool(need.prefer) and slot.fingerprint == need.prefer
    return not holds, not (need.private and need.owner in slot.traits.orgs)


async def _take(slot: CredentialSlot, resource: str, *, patient: bool) -> Wait | None:
    """None: a call is taken. Else why not; `patient` waits for a moment."""
    wait = slot.retired()
    if wait is None and slot.unprepared:
        wait = await slot.prepare(resource)
    if wait is not None:
        return wait
    wait = slot.limiter.try_take(resource)
    if wait is not None and patient:
        wait = await slot.limiter.take(resource)
    if wait is None and (unfit := slot.unfit()) is not None:  # while we waited for a token, or for our turn
        slot.limiter.cancel(resource)
        return unfit
    return wait


def _put_off(waits: Sequence[tuple[Wait, CredentialSlot]], resource: str) -> Throttled:
    wait, slot = min(waits, key=lambda pair: pair[0].until)
    until = slot.limiter.limits.come_back(resource, wait, slot.limiter.now())
    return Throttled(until=datetime.fromtimestamp(until, UTC), reason=wait.reason)


def _nobody_for(need: Need) -> Denied:
    traits = f"private, admin or org:{need.owner}" if need.owner else "private or admin"
    return Denied(status=0, reason="credential", detail=f"no credential has the trait {traits}")
