"""Access control: tokens with a role; without any token, only clients on this machine.

A token is `token`, which may do everything, or `token#read`, which may only read. Without any token the API answers on
loopback alone, and refuses requests through a proxy or from a web page: a page of any site may send requests to
loopback, and any site's name may be made to resolve to it.
"""

from __future__ import annotations

import hmac
import ipaddress
from collections.abc import Mapping
from hashlib import sha256
from typing import Final, Literal
from urllib.parse import urlsplit

import structlog
from aiohttp import web
from msgspec import Struct

from ghcrawl.admin.problems import Problem
from ghcrawl.admin.secret_lines import SecretKind, SecretLines
from ghcrawl.admin.sign_ins import SignIns

log = structlog.stdlib.get_logger(__name__)

Role = Literal["anyone", "read", "operate"]
"""What a route demands: nothing, leave to look, or leave to change things."""

_CHALLENGE: Final = {"WWW-Authenticate": 'Bearer realm="ghcrawl"'}
_PROXIES: Final = ("Forwarded", "X-Real-IP", "Via")
_FORWARDED: Final = "x-forwarded-"
_ROLES: Final[Mapping[str, Role]] = {"": "operate", "operate": "operate", "read": "read"}
"""By what stands behind the `#` of a token."""
MIN_LENGTH: Final = 8


class Caller(Struct, frozen=True, kw_only=True):
    """Who asks. name: for logs and the audit; a token appears as the first digits of its hash."""

    role: Role
    name: str


def _flaw(text: str) -> str:
    """Why an admin token that was written so cannot be used, without any of it; empty: it can."""
    token, _, role = text.partition("#")
    if role not in _ROLES:
        return "has an unknown role; use #read, #operate or none"
    if len(token) < MIN_LENGTH:
        return (
            f"has an admin token shorter than {MIN_LENGTH} characters, which is too weak; "
            "create one with `openssl rand -hex 24`"
        )
    return ""


TOKENS: Final = SecretKind(
    variable="GHCRAWL_ADMIN_TOKEN", what="file service.admin_tokens_file", separators=";\n", flaw=_flaw
)


class Access:
    """Decides by the tokens of this moment."""

    def __init__(self, tokens: SecretLines, sign_ins: SignIns | None = None) -> None:
        self._tokens = tokens
        self._sign_ins = sign_ins or SignIns()

    async def demand(self, request: web.Request, role: Role) -> Caller:
        """Who asks, if they may. Raises Problem: 401 unknown, 403 may not, 429 too many failures."""
        if role == "anyone":
            return Caller(role="anyone", name="anyone")
        tokens = self._tokens.now()
        caller = await self._known(request, tokens) if tokens else _at_this_machine(request)
        if role == "operate" and caller.role != "operate":
            raise Problem(403, "this token grants read access only; use a token with the role operate")
        return caller

    async def _known(self, request: web.Request, tokens: tuple[str, ...]) -> Caller:
        offered = _offered(request)
        if not offered:
            raise Problem(401, "authentication required; send Authorization: Bearer TOKEN", headers=_CHALLENGE)
        address = self._sign_ins.demand_calm(request)
        hashed = sha256(offered.encode("utf-8", "surrogateescape")).digest()
        found: Caller | None = None
        for text in tokens:  # all of them, so that the time says nothing about which
            token, _, role = text.partition("#")
            if hmac.compare_digest(hashed, sha256(token.encode()).digest()) and role in _ROLES:
                found = found or Caller(role=_ROLES[role], name=f"token {hashed.hex()[:8]}")
        if found is None:
            log.warning("sign_in_failed", address=address, path=request.path[:200])
            await self._sign_ins.fail(address)
            raise Problem(401, "unknown token", headers=_CHALLENGE)
        return found


def _offered(request: web.Request) -> str:
    scheme, _, token = request.headers.get("Authorization", "").partition(" ")
    if scheme.lower() == "bearer" and token.strip():
        return token.strip()
    return request.headers.get("X-token", "").strip()


def _at_this_machine(request: web.Request) -> Caller:
    forwarded = any(name.lower().startswith(_FORWARDED) for name in request.headers)
    proxied = forwarded or any(name in request.headers for name in _PROXIES)
    if proxied or not _is_loopback(request.remote or "") or not _is_loopback(_host(request.headers.get("Host", ""))):
        detail = f"no admin token is set, so only local requests are accepted; set {TOKENS.variable}"
        raise Problem(401, detail, headers=_CHALLENGE)
    origin = request.headers.get("Origin")
    if origin is not None and urlsplit(origin).netloc != request.headers.get("Host"):
        raise Problem(403, "cross-site requests are rejected")
    if request.headers.get("Sec-Fetch-Site", "none") not in ("none", "same-origin"):
        raise Problem(403, "cross-site requests are rejected")
    return Caller(role="operate", name="this machine")


def _host(value: str) -> str:
    """The host of a Host header, without its port."""
    try:
        return urlsplit(f"//{value}").hostname or ""
    except ValueError:
        return ""


def _is_loopback(host: str) -> bool:
    if host == "localhost":
        return True
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False
