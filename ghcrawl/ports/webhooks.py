"""What a sweep needs of the platform: its log of delivery attempts."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import Literal, Protocol

from msgspec import Struct


class Attempt(Struct, frozen=True, kw_only=True):
    """One attempt of the platform at a delivery. guid: the delivery's id, the same for all attempts."""

    id: int
    guid: str
    at: datetime
    arrived: bool
    event: str


class Page(Struct, frozen=True, kw_only=True):
    """Part of a list of attempts, newest first. next: where it goes on; empty: that was the end."""

    attempts: tuple[Attempt, ...]
    next: str = ""


class ApiFailure(Struct, frozen=True, kw_only=True):
    """Why a call failed. "away": the platform cannot answer now; the calls that were to follow are not made."""

    kind: Literal["away", "refused"]
    detail: str


class Hooks(Protocol):
    """Our webhooks on a platform, and its log of their deliveries."""

    @property
    def names(self) -> Sequence[str]:
        """Whose webhooks, as the settings name them."""

    async def found(self, name: str) -> Sequence[str] | ApiFailure:
        """Our webhooks there."""

    async def page(self, hook: str, cursor: str) -> Page | ApiFailure:
        """Attempts of `hook` from `cursor` on; an empty cursor starts at the newest."""

    async def redeliver(self, hook: str, id: int) -> ApiFailure | None:
        """Have the delivery of that attempt sent once more. None: the platform does so."""
