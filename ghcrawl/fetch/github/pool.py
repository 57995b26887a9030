"""Chooses who asks: the credential that a request is drawn to, or the next one that may."""

from __future__ import annotations

import hashlib
import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from typing import Final, NamedTuple

from ghcrawl.fetch.github.allowance import Allowance
from ghcrawl.fetch.github.app_auth import InstallationTokens, Mint
from ghcrawl.fetch.github.budget import Wait
from ghcrawl.fetch.github.lane import Lane
from ghcrawl.fetch.github.limits import Finished, Limits
from ghcrawl.fetch.github.principals import Anonymous, Credential, Installation, affinity, any_declared
from ghcrawl.fetch.github.redact import REDACTOR
from ghcrawl.fetch.github.seat import Seat
from ghcrawl.fetch.github.settings import GitHubSettings
from ghcrawl.fetch.github.views import PrincipalView, view
from ghcrawl.outcome import Denied, Throttled
from ghcrawl.ports import Clock

MAX_ORDERS: Final = 8192


class Need(NamedTuple):
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
    """Leave for one call. It must be finished or lost, once."""

    seat: Seat
    resource: str
    header: str = field(repr=False)
    fingerprint: str

    def finish(self, finished: Finished) -> None:
        """The call has ended so. Whoever waits is let go by `lane.serve`, when all consequences are drawn."""
        self.seat.lane.finish(self.resource, finished)

    def lost(self, seconds: float) -> None:
        """Nobody knows how the call ended after `seconds`: it is reckoned as charged."""
        self.finish(Finished(seconds=seconds))
        self.seat.lane.serve()


class Pool:
    """All credentials of one API."""

    def __init__(self, settings: GitHubSettings, clock: Clock, mint: Mint, server_now: Callable[[], datetime]) -> None:
        self._settings = settings
        self._clock = clock
        self._mint = mint
        self._server_now = server_now
        self._seats: tuple[Seat, ...] = ()
        self._declared = False
        self._orders: dict[str, tuple[Seat, ...]] = {}
        self._shared = tuple(Allowance(b.calls, b.period_s) for b in settings.declared if b.per == "host")

    # Who there is -------------------------------------------------------------------------------------------

    async def use(self, credentials: Sequence[Credential]) -> None:
        """Work with these from now on. What stays keeps its budgets, benches and calls."""
        wanted = tuple(credentials) or (Anonymous(),)
        old = {seat.credential: seat for seat in self._seats}
        lanes = {seat.principal_id: seat.lane for seat in self._seats}
        seats = []
        for credential in wanted:
            lane = lanes.get(credential.principal_id) or self._lane()
            lanes[credential.principal_id] = lane
            seats.append(old.get(credential) or self._seat(credential, lane))
        self._seats, before = tuple(seats), self._seats
        self._declared = any_declared(seat.traits for seat in seats)
        self._orders.clear()
        kept = {id(seat.lane) for seat in seats}
        for seat in before:
            if seat not in seats:
                await seat.close(lane_too=id(seat.lane) not in kept)

    def limit(self, *, concurrency: int, reserve: float) -> None:
        """Every principal has these limits from now on; whoever waits for one of them looks again."""
        self._settings = replace(self._settings, concurrency=concurrency, reserve=reserve)
        for lane in {id(seat.lane): seat.lane for seat in self._seats}.values():
            lane.limits.change(concurrency=concurrency, reserve=reserve)
            lane.serve()

    async def close(self) -> None:
        """Nobody waits, and nothing is being minted."""
        for seat in self._seats:
            await seat.close(lane_too=True)

    def _lane(self) -> Lane:
        settings = self._settings
        own = [Allowance(b.calls, b.period_s) for b in settings.declared if b.per == "principal"]
        limits = Limits(
            concurrency=settings.concurrency,
            reserve=settings.reserve,
            calls_per_min=settings.calls_per_min,
            load_s=settings.response_s_per_min,
            allowances=(*own, *self._shared),
        )
        return Lane(limits, self._clock, patience_s=settings.patience_s)

    def _seat(self, credential: Credential, lane: Lane) -> Seat:
        tokens = None
        if isinstance(credential, Installation):
            tokens = InstallationTokens(credential, self._mint, self._server_now)
        elif not isinstance(credential, Anonymous):
            REDACTOR.add(credential.secret)
        return Seat(credential, lane, tokens)

    # Who asks -----------------------------------------------------------------------------------------------

    async def grant(self, need: Need) -> Grant | Throttled | Denied:
        """Leave to make one call; or why there is none now, or not with these credentials.

        One that is busy is waited for, for a moment. The next ones are asked only when that did not help.
        """
        waits: list[tuple[Wait, Seat]] = []
        denied: Denied | None = None
        seats = self._candidates(need)
        for seat in seats:
            denial = seat.denial(need.owner, need.scope, need.type)
            if denial is not None:
                denied = denial
                continue
            patient = not waits or all(wait.reason != "busy" for wait, _ in waits)
            wait = await _take(seat, need.resource, patient=patient)
            if wait is None:
                return Grant(seat, need.resource, *seat.authorization)
            waits.append((wait, seat))
        if waits:
            return _put_off(waits, need.resource)
        return denied or _nobody_for(need)

    async def again(self, grant: Grant) -> Grant | Throttled:
        """Leave for one more call with the same credential."""
        wait = await _take(grant.seat, grant.resource, patient=True)
        if wait is None:
            return Grant(grant.seat, grant.resource, *grant.seat.authorization)
        return _put_off([(wait, grant.seat)], grant.resource)

    def _candidates(self, need: Need) -> Sequence[Seat]:
        """Who may answer `need`, first choice first."""
        seats = self._ordered(need.scope)
        if len(seats) == 1 and not need.without and not self._declared:
            return seats
        if need.sees >= 0:
            seats = tuple(seat for seat in seats if seat.traits.sees(need.owner) >= need.sees)
        elif self._declared:
            fits = tuple(seat for seat in seats if seat.traits.serves(need.owner, private=need.private))
            seats = fits or (() if need.private else seats)
        others = [seat for seat in seats if seat.id not in need.without]
        return sorted(others, key=lambda seat: _preference(seat, need))

    def _ordered(self, scope: str) -> tuple[Seat, ...]:
        order = self._orders.get(scope)
        if order is None:
            if len(self._orders) >= MAX_ORDERS:
                self._orders.clear()
            key = [(affinity(scope, s.principal_id), affinity(scope, s.id), s) for s in self._seats]
            order = tuple(seat for _, _, seat in sorted(key, key=lambda item: item[:2], reverse=True))
            self._orders[scope] = order
        return order

    # What is known of them ----------------------------------------------------------------------------------

    def blocked_until(self) -> datetime | None:
        """While nobody can ask anything: when the first can again."""
        first = math.inf
        now = self._clock.now().timestamp()
        for seat in self._seats:
            wait = seat.retired() or seat.lane.limits.closed(now, self._settings.patience_s)
            if wait is None:
                return None
            first = min(first, wait.until)
        return datetime.fromtimestamp(first, UTC) if self._seats else None

    def audience(self) -> str:
        """A digest of who the seats are."""
        return hashlib.sha256("\n".join(sorted(seat.id for seat in self._seats)).encode()).hexdigest()[:12]

    def refused(self) -> str:
        """Why none of the credentials is accepted, as one line; empty while one is."""
        now = self._clock.now().timestamp()
        if not self._seats or any(now >= seat.retired_until for seat in self._seats):
            return ""
        return "; ".join(f"{seat.credential.label}: {seat.retired_for}" for seat in self._seats)

    def installation(self, app_id: str) -> Installation | None:
        """An installation of that App, whose key is the App's."""
        found = (seat.credential for seat in self._seats)
        return next((one for one in found if isinstance(one, Installation) and one.app_id == app_id), None)

    def views(self) -> tuple[PrincipalView, ...]:
        """One a credential."""
        return tuple(view(seat, self._clock.now().timestamp()) for seat in self._seats)


def _preference(seat: Seat, need: Need) -> tuple[bool, bool]:
    """Sorts first whoever holds the ETag, then, for private data, whoever was made for its owner."""
    holds = bool(need.prefer) and seat.fingerprint == need.prefer
    return not holds, not (need.private and need.owner in seat.traits.orgs)


async def _take(seat: Seat, resource: str, *, patient: bool) -> Wait | None:
    """None: a call is taken. Else why not; `patient` waits for a moment."""
    wait = seat.retired()
    if wait is None and seat.unprepared:
        wait = await seat.prepare(resource)
    if wait is not None:
        return wait
    wait = seat.lane.try_take(resource)
    if wait is not None and patient:
        wait = await seat.lane.take(resource)
    if wait is None and (unfit := seat.unfit()) is not None:  # while we waited for a token, or for our turn
        seat.lane.cancel(resource)
        return unfit
    return wait


def _put_off(waits: Sequence[tuple[Wait, Seat]], resource: str) -> Throttled:
    wait, seat = min(waits, key=lambda pair: pair[0].until)
    until = seat.lane.limits.come_back(resource, wait, seat.lane.now())
    return Throttled(until=datetime.fromtimestamp(until, UTC), reason=wait.reason)


def _nobody_for(need: Need) -> Denied:
    traits = f"private, admin or org:{need.owner}" if need.owner else "private or admin"
    return Denied(status=0, reason="credential", detail=f"no credential has the trait {traits}")
