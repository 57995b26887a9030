"""Access tokens, each of one account on one host. They never expire; a host that refuses one has revoked it."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from hashlib import sha256
from typing import Final

from ghcrawl.fetch.redaction import Secret
from ghcrawl.values.errors import ConfigError

_ENTRY: Final = re.compile(r"([A-Za-z0-9.\-:\[\]]+)[=\s]\s*([\x21-\x3a\x3c-\x7e]{8,512})")


@dataclass(frozen=True, slots=True, kw_only=True)
class HostToken:
    """A token and the host that it is good for; it is sent to no other."""

    host: str
    secret: Secret = field(repr=False)

    @property
    def fingerprint(self) -> str:
        """12 hex digits that identify the token and do not give it away."""
        return sha256(self.secret.encode()).hexdigest()[:12]

    @property
    def principal_id(self) -> str:
        """Names the budget: each token is assumed to have its own."""
        return f"{self.host}/{self.fingerprint}"

    @property
    def label(self) -> str:
        """For a person, without the token."""
        return f"{self.host} token {self.fingerprint}"


def read_tokens(text: str, *, source: str) -> tuple[HostToken, ...]:
    """Entries `HOST=TOKEN`, separated by `;` or line ends; lines that start with `#` are comments.

    Raises ConfigError, which shows no token.
    """
    found: dict[HostToken, None] = {}
    lines = [line for line in text.splitlines() if not line.lstrip().startswith("#")]
    entries = [entry.strip() for line in lines for entry in line.split(";")]
    for number, entry in enumerate(filter(None, entries), start=1):
        matched = _ENTRY.fullmatch(entry)
        if matched is None:
            raise ConfigError(f"{source}: entry {number} is no token of a host; write HOST=TOKEN")
        found[HostToken(host=matched[1].lower(), secret=Secret(matched[2]))] = None
    return tuple(found)
