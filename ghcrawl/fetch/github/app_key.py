"""The private key of a GitHub App, and what is signed with it."""

from __future__ import annotations

from datetime import datetime
from functools import lru_cache
from typing import Final

import jwt
from cryptography.hazmat.primitives.asymmetric.rsa import RSAPrivateKey, RSAPublicKey
from jwt.algorithms import RSAAlgorithm

from ghcrawl.fetch.github.principals import Installation
from ghcrawl.fetch.redaction import Secret
from ghcrawl.values.errors import ConfigError

BACKDATED_S: Final = 60
JWT_LIFE_S: Final = 540
"""GitHub accepts ten minutes; less leaves room for clocks that differ."""


class AppKey:
    """The key of the App that `installation` belongs to. Raises ConfigError for what is no RSA key."""

    def __init__(self, installation: Installation) -> None:
        self._app_id = installation.app_id
        try:
            key = _parsed(str(installation.private_key))
        except (ValueError, TypeError, jwt.InvalidKeyError):
            key = None
        if not isinstance(key, RSAPrivateKey):  # raised here, where no exception is at hand that might quote the key
            raise ConfigError(f"the key of GitHub App {self._app_id} is no RSA private key in PEM form")
        self._key = key

    def jwt(self, server_now: datetime) -> Secret:
        """Authenticates as the App."""
        issued = int(server_now.timestamp()) - BACKDATED_S
        claims = {"iat": issued, "exp": issued + BACKDATED_S + JWT_LIFE_S, "iss": self._app_id}
        return Secret(jwt.encode(claims, self._key, algorithm="RS256"))


@lru_cache(maxsize=16)
def _parsed(pem: str) -> RSAPrivateKey | RSAPublicKey:
    """Kept: it takes longer than signing, holds up the loop, and all installations of an App have the same key."""
    return RSAAlgorithm(RSAAlgorithm.SHA256).prepare_key(pem)
