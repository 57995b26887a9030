"""One credential at work: whether it is accepted, what it was denied, and the limiter of the principal behind it."""

from __future__ import annotations

from typing import Final

import structlog

from ghcrawl.fetch.github.app_auth import InstallationTokens, MintRefused
from ghcrawl.fetch.github.budget import Wait
from ghcrawl.fetch.github.principals import ANONYMOUS_ID, Credential, Token, fingerprint
from ghcrawl.fetch.github.rate_limiter import RateLimiter
from ghcrawl.fetch.redaction import Secret
from ghcrawl.values.errors import FetchError
from ghcrawl.values.outcome import Denied

log = structlog.stdlib.get_logger(__name__)

RETIRED_S: Final = 3600.0
"""How long a refused credential rests before one call asks whether it is really dead: outages refuse live ones, too."""
DENIED_S: Final = 3600.0
"""How long a denial is believed without asking, so that a person who lifts it need not restart anything."""
UNMINTED_S: Final = 30.0
MAX_MARKS: Final = 10_000
NOBODY: Final = Secret()


class CredentialSlot:
    """A credential, with everything that was learned about it."""

    def __init__(self, credential: Credential, limiter: RateLimiter, tokens: InstallationTokens | None) -> None:
        self.credential = credential
        self.principal_id = credential.principal_id
        self.traits = credential.traits
        self.anonymous = self.principal_id == ANONYMOUS_ID
        self.limiter = limiter
        self.retired_until = 0.0
        self.retired_for = ""
        self._tokens = tokens
        self._reminted = False
        self._marks: dict[tuple[str, str], tuple[float, Denied]] = {}
        self._fixed = (NOBODY, ANONYMOUS_ID)
        if isinstance(credential, Token):
            self._fixed = (Secret(f"Bearer {credential.secret}"), fingerprint(credential.secret))
        self.id = self.principal_id if tokens is not None else self._fixed[1]

    @property
    def authorization(self) -> tuple[Secret, str]:
        """The `Authorization` header (empty: none) and the fingerprint of what is in it. `prepare` comes first."""
        minted = self._tokens.present if self._tokens is not None else None
        return (minted.header, minted.fingerprint) if minted is not None else self._fixed

    @property
    def fingerprint(self) -> str:
        """Of the token at hand; an App that has minted none yet has none."""
        if self._tokens is None:
            return self._fixed[1]
        return self._tokens.present.fingerprint if self._tokens.present is not None else ""

    @property
    def unprepared(self) -> bool:
        """Whether there is no token to ask with, and `prepare` must come first."""
        return self._tokens is not None and self._tokens.ready is None

    async def prepare(self, resource: str) -> Wait | None:
        """None: there is a token to ask for `resource` with. Else why not; none is minted that could not be used."""
        if self._tokens is None:
            return None
        wait = self.limiter.limits.wait(resource, self.limiter.now())
        if wait is not None and not self.limiter.worth_waiting(wait):
            return wait
        try:
            minted = await self._tokens.renew()
        except FetchError as error:
            until = self.limiter.now() + UNMINTED_S
            log.warning("app_token_failed", installation=self.credential.label, error=str(error))
            self.limiter.limits.bench(until, "no_principal")
            return Wait(until, "no_principal")
        if isinstance(minted, MintRefused):
            self._retire(minted.reason)
            return self.retired()
        return None

    def retired(self) -> Wait | None:
        """Why this credential is not used for now: the server refused it."""
        if self.retired_until and self.limiter.now() < self.retired_until:
            return Wait(self.retired_until, "no_principal")
        return None

    def unfit(self) -> Wait | None:
        """Why this credential cannot ask after all: it was retired, or its token dropped, while we waited."""
        if self._tokens is not None and self._tokens.present is None:
            return self.retired() or Wait(self.limiter.now(), "busy", settles=True)
        return self.retired()

    # What is learned ----------------------------------------------------------------------------------------

    def refused(self, asked_with: str, detail: str) -> None:
        """The server answered 401 to the token with the fingerprint `asked_with`.

        An App mints a new one, once; what cannot be helped so is retired.
        """
        if self._tokens is not None and (asked_with != self.fingerprint or not self._reminted):
            if asked_with == self.fingerprint:
                self._reminted = True
                self._tokens.drop()
            return
        self._retire(detail)

    def accepted(self) -> None:
        """The server accepted the credential."""
        self._reminted = False
        if self.retired_for:
            log.info("principal_restored", principal=self.credential.label)
            self.retired_for, self.retired_until = "", 0.0

    def mark(self, owner: str, kind: str, denied: Denied) -> None:
        """Do not ask for `kind` (`*`: anything) of `owner` for a while: the answer would be `denied`."""
        now = self.limiter.now()
        if len(self._marks) >= MAX_MARKS:
            self._marks = {key: mark for key, mark in self._marks.items() if mark[0] > now}
        if len(self._marks) < MAX_MARKS:
            self._marks[owner, kind] = (now + DENIED_S, denied)

    def denial(self, owner: str, scope: str, kind: str) -> Denied | None:
        """What is known to be the answer, so that it need not be asked for."""
        if not self._marks:
            return None
        mark = self._marks.get((owner, "*")) or self._marks.get((scope, kind))
        return mark[1] if mark is not None and self.limiter.now() < mark[0] else None

    async def close(self, *, limiter_too: bool) -> None:
        """No token is being minted, and with `limiter_too` no call waits."""
        if self._tokens is not None:
            await self._tokens.close()
        if limiter_too:
            await self.limiter.close()

    def _retire(self, detail: str) -> None:
        self.retired_until = self.limiter.now() + RETIRED_S
        self.retired_for = detail or "refused"
        for budget in self.limiter.limits.budgets.values():
            budget.lapse()  # when its time is over, one call alone shall find out
        self.limiter.serve()
        log.error("principal_retired", principal=self.credential.label, reason=self.retired_for, rest_s=RETIRED_S)
