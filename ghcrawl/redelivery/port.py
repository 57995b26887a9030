"""What a sweep needs of the platform: its memory of what it tried to deliver."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Literal, Protocol


@dataclass(frozen=True, slots=True, kw_only=True)
class Attempt:
    """One try of the platform to hand over a delivery. guid: the delivery's id, the same for all tries."""

    id: int
    guid: str
    at: datetime
    arrived: bool
    event: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Page:
    """Part of a list of attempts, newest first. next: where it goes on; empty: that was the end."""

    attempts: tuple[Attempt, ...]
    next: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Trouble:
    """Why something could not be asked. "away": it may be asked again later, and so is what was to come after it."""

    kind: Literal["away", "refused"]
    detail: str


class Hooks(Protocol):
    """The webhooks by which a platform tells us things, and what it remembers of their deliveries."""

    @property
    def names(self) -> Sequence[str]:
        """Whose webhooks, as somebody has set it."""

    async def found(self, name: str) -> Sequence[str] | Trouble:
        """Our webhooks there."""

    async def page(self, hook: str, cursor: str) -> Page | Trouble:
        """What was tried by `hook`, from `cursor` on; from the newest, where that is empty."""

    async def again(self, hook: str, id: int) -> Trouble | None:
        """The delivery of that attempt is being sent once more. None: it is."""
