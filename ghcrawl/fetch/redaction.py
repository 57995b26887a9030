"""Keeps credentials out of everything that a person or a machine may read."""

from __future__ import annotations

import re
from collections.abc import MutableMapping
from typing import Any, Final

MASK: Final = "[redacted]"
MIN_SECRET: Final = 8
"""Shorter ones are no secrets, and replacing them would garble every text."""
MAX_DEPTH: Final = 6

_LOOKS_SECRET: Final = re.compile(
    r"gh[pousr]_[A-Za-z0-9._\-]{10,}"  # since 2021; from 2026 installation tokens are ghs_<app>_<JWT>, ~520 characters
    r"|github_pat_\w{10,}"
    r"|\bv1\.[0-9a-f]{40}\b"
    r"|\beyJ[\w\-]{8,}\.[\w\-]{8,}\.[\w\-]{8,}"
    r"|(?<=://)[^/\s:@]*:[^/\s@]+(?=@)"
    r"|(?i:(?<=access_token=)[^&\s\"']+)"
    r"|-----BEGIN [A-Z ]*PRIVATE KEY-----[\s\S]*?(?:-----END [A-Z ]*PRIVATE KEY-----|\Z)"
)
_AUTHORIZATION: Final = re.compile(r"(?i)(authorization\W{1,8}(?:bearer|token|basic)\s+)[^\s'\",>)]+")


class Secret(str):
    """Text whose `repr` says nothing, so that no dump of variables or headers shows it. `str` gives it plainly."""

    __slots__ = ()

    def __repr__(self) -> str:
        return repr(MASK)


class Redactor:
    """Masks what looks like a credential, and the secrets it was told of.

    An instance is a structlog processor; it belongs behind the one that formats exceptions.
    """

    def __init__(self) -> None:
        self._secrets: set[str] = set()

    def add(self, secret: str) -> None:
        """Mask `secret` from now on, in any form."""
        if len(secret) >= MIN_SECRET:
            self._secrets.add(str(secret))

    def discard(self, secret: str) -> None:
        """`secret` has expired."""
        self._secrets.discard(str(secret))

    def text(self, text: str) -> str:
        """`text` without credentials."""
        for secret in self._secrets:
            if secret in text:
                text = text.replace(secret, MASK)
        return _AUTHORIZATION.sub(rf"\1{MASK}", _LOOKS_SECRET.sub(MASK, text))

    def __call__(self, _logger: Any, _method: str, event: MutableMapping[str, Any]) -> MutableMapping[str, Any]:
        """The event without credentials, at any depth that a log line has."""
        for name, value in event.items():
            event[name] = self._clean(value, MAX_DEPTH)
        return event

    def _clean(self, value: Any, depth: int) -> Any:
        if isinstance(value, str):
            return self.text(value)
        if depth and isinstance(value, dict):
            return {self._clean(name, 0): self._clean(item, depth - 1) for name, item in value.items()}
        if depth and isinstance(value, list | tuple):
            return [self._clean(item, depth - 1) for item in value]
        return value


REDACTOR: Final = Redactor()
"""The process's own: what is logged is configured once a process, too."""
