"""GitHub Apps: a signed claim of identity buys a token that lasts an hour."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime, timedelta
from hashlib import sha512
from typing import Any, Final

import jwt
from msgspec import Struct

from ghcrawl.ports.clock import Clock
from ghcrawl.simulator.answers import Answer, Refusal
from ghcrawl.simulator.github.moments import stamp
from ghcrawl.simulator.github.principals import Principal, Viewer, installation_principal
from ghcrawl.simulator.github.refusals import not_found, refused
from ghcrawl.simulator.github.shapes.accounts import simple_user
from ghcrawl.simulator.github.shapes.site import Site
from ghcrawl.simulator.github.world import World

TOKEN_LIFETIME_S: Final = 3600
MAX_CLAIM_LIFETIME_S: Final = 600
DRIFT_S: Final = 60


class Installation(Struct, frozen=True, kw_only=True):
    """An App installed on an account, which is a budget of its own."""

    id: int
    login: str
    limit: int = 5000


class App(Struct, frozen=True, kw_only=True):
    """An App as GitHub knows it. public_key: PEM of the key whose other half signs its claims."""

    id: int
    public_key: str
    slug: str = "crawler"
    installations: tuple[Installation, ...] = ()


class _Minted(Struct, frozen=True):
    principal: Principal
    expires_at: datetime


class AppBackend:
    """Where an App shows its claim and is given tokens."""

    def __init__(self, app: App, world: World, site: Site, clock: Clock) -> None:
        self.app = app
        self._world = world
        self._site = site
        self._clock = clock
        self._minted: dict[str, _Minted] = {}
        self.principal = Principal(name=f"app:{app.id}", viewer=Viewer(kind="installation"))

    @property
    def minted(self) -> int:
        """How many tokens were given out."""
        return len(self._minted)

    def principal_of(self, token: str) -> Principal | None:
        """Whose token that is; None once it has expired, or was never given."""
        known = self._minted.get(token)
        return known.principal if known and self._clock.now() < known.expires_at else None

    def answer(self, method: str, path: str, claim: str) -> Answer:
        """What one of the App's own routes answers to that claim. Raises Refusal."""
        self.check(claim)
        match (method, path.strip("/").split("/")):
            case ("GET", ["app"]):
                return Answer(status=200, body={"id": self.app.id, "slug": self.app.slug, "name": self.app.slug})
            case ("GET", ["app", "installations"]):
                return Answer(status=200, body=[self._shape(each) for each in self.app.installations])
            case ("POST", ["app", "installations", text, "access_tokens"]):
                return self._mint(next((each for each in self.app.installations if str(each.id) == text), None))
            case _:
                raise not_found()

    def check(self, claim: str) -> None:
        """Raises Refusal (401) for a claim that is not signed by the App's key, or not for now."""
        try:
            claims = jwt.decode(
                claim,
                self.app.public_key,
                algorithms=["RS256"],
                options={"verify_exp": False, "verify_iat": False, "verify_iss": False},  # checked below, by our clock
            )
        except jwt.PyJWTError as error:
            raise Refusal(refused(401, "A JSON web token could not be decoded")) from error
        now = self._clock.now().timestamp()
        issued, expires = claims.get("iat"), claims.get("exp")
        if str(claims.get("iss")) != str(self.app.id):
            raise Refusal(refused(404, "Integration not found"))
        if not isinstance(issued, int) or issued > now + DRIFT_S:
            raise Refusal(refused(401, "'Issued at' claim ('iat') must be an Integer in the past"))
        if not isinstance(expires, int) or expires <= now:
            raise Refusal(refused(401, "'Expiration time' claim ('exp') must be a numeric value in the future"))
        if expires > now + MAX_CLAIM_LIFETIME_S + DRIFT_S:
            raise Refusal(refused(401, "'Expiration time' claim ('exp') is too far in the future"))

    def _mint(self, installation: Installation | None) -> Answer:
        account = self._world.account(installation.login) if installation else None
        if installation is None or account is None:
            raise not_found()
        seed = sha512(f"{self.app.id}:{installation.id}:{len(self._minted)}".encode()).hexdigest()
        token = f"ghs_{self.app.id}_{seed}.{seed[::-1] * 2}.{seed}"
        expires_at = self._clock.now() + timedelta(seconds=TOKEN_LIFETIME_S)
        principal = installation_principal(installation.id, account, limit=installation.limit)
        self._minted[token] = _Minted(principal, expires_at)
        body = {
            "token": token,
            "expires_at": stamp(expires_at),
            "permissions": {"metadata": "read", "contents": "read", "issues": "read", "pull_requests": "read"},
            "repository_selection": "all",
        }
        return Answer(status=201, body=body)

    def _shape(self, installation: Installation) -> Mapping[str, Any]:
        account = self._world.account(installation.login)
        url = f"{self._site.base}/app/installations/{installation.id}"
        since = stamp(self._clock.now() - timedelta(days=30))
        return {
            "id": installation.id,
            "account": simple_user(self._site, account) if account else None,
            "repository_selection": "all",
            "access_tokens_url": f"{url}/access_tokens",
            "repositories_url": f"{self._site.base}/installation/repositories",
            "html_url": f"{self._site.base}/settings/installations/{installation.id}",
            "app_id": self.app.id,
            "app_slug": self.app.slug,
            "target_id": account.id if account else 0,
            "target_type": "Organization",
            "permissions": {"metadata": "read"},
            "events": [],
            "created_at": since,
            "updated_at": since,
            "single_file_name": None,
            "suspended_by": None,
            "suspended_at": None,
        }
