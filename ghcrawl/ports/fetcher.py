"""Asks a platform for one resource."""

from __future__ import annotations

from datetime import datetime
from typing import Protocol

from ghcrawl.ports.store import Stored
from ghcrawl.values.outcome import Retrieved
from ghcrawl.values.requests import Request


class Fetcher(Protocol):
    """Asks a platform for one resource. Everything the platform's protocol expects comes back as a value."""

    async def fetch(self, request: Request, stored: Stored | None) -> Retrieved:
        """Ask for `request.url`; conditionally, where `stored` has a validator that serves.

        `stored` None asks unconditionally. Raises FetchError when no answer came or the platform broke (5xx).
        """

    def blocked_until(self) -> datetime | None:
        """While no credential has quota: when the first will. None: go ahead."""

    def credential_digest(self) -> str:
        """Says who asks, as a digest of all credentials: what is refused to these may be shown to others."""
