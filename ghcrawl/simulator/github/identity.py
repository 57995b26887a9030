"""From an Authorization header to a principal."""

from __future__ import annotations

from base64 import b64decode
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Final, Literal

from ghcrawl.simulator.answers import Refusal
from ghcrawl.simulator.github.apps import AppBackend
from ghcrawl.simulator.github.behaviour import Manners
from ghcrawl.simulator.github.principals import ANYBODY, Principal
from ghcrawl.simulator.github.refusals import refused

STRANGERS_LIMIT: Final = 60
"""Calls an hour that an address may make with bad credentials, where it may make none without."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Credential:
    """What an Authorization header says. value: the token, which is never shown to anybody."""

    scheme: Literal["none", "token", "other"]
    value: str = field(default="", repr=False)


def read_credential(header: str | None) -> Credential:
    """The credential in an Authorization header, or in none."""
    if header is None:
        return Credential(scheme="none")
    scheme, _, value = header.partition(" ")
    if scheme.lower() in ("bearer", "token") and value:
        return Credential(scheme="token", value=value.strip())
    if scheme.lower() == "basic" and (password := _password(value)):
        return Credential(scheme="token", value=password)
    return Credential(scheme="other", value=value)


def _password(value: str) -> str:
    """The token that a client sends as a password, with any name, or as the name without one."""
    try:
        name, _, password = b64decode(value.strip(), validate=True).decode().partition(":")
    except ValueError:
        return ""
    return password if password not in ("", "x-oauth-basic") else name


class Doorman:
    """Knows the tokens. Several of them may lead to one principal."""

    def __init__(self, tokens: Mapping[str, Principal], manners: Manners, backend: AppBackend | None) -> None:
        self._tokens = dict(tokens)
        self._manners = manners
        self._desk = backend

    def add(self, token: str, principal: Principal) -> None:
        """`token` leads to `principal` from now on."""
        self._tokens[token] = principal

    def revoke(self, token: str) -> None:
        """`token` leads nowhere from now on."""
        self._tokens.pop(token, None)

    def anonymous(self, address: str) -> Principal:
        """The budget of that address for calls without a credential, or with a bad one."""
        limit = self._manners.anonymous_limit
        return Principal(
            name=f"address:{address}",
            viewer=ANYBODY,
            limit=STRANGERS_LIMIT if limit is None else limit,
            search_limit=10,
        )

    def admit(self, credential: Credential, address: str) -> Principal:
        """The caller. Raises Refusal (401) for bad credentials, and for none where a credential is required."""
        if credential.scheme == "none":
            if self._manners.anonymous_limit is None:
                raise Refusal(refused(401, "Requires authentication"))
            return self.anonymous(address)
        principal = self._tokens.get(credential.value)
        if principal is None and self._desk is not None:
            principal = self._desk.principal_of(credential.value)
        if principal is None or credential.scheme == "other":
            raise Refusal(refused(401, "Bad credentials"))
        return principal
