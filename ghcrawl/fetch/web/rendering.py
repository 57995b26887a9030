"""Pages as they are after their scripts ran, asked for by the same rules as pages without."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from contextlib import AbstractAsyncContextManager, AsyncExitStack
from dataclasses import dataclass, field
from typing import Final, Protocol
from urllib.parse import urljoin

from ghcrawl.fetch.web.addresses import origin
from ghcrawl.fetch.web.client import Answer
from ghcrawl.fetch.web.hosts import Origin

MAX_REDIRECTS: Final = 5
PATIENCE_S: Final = 5.0
"""How long a page waits for another host that is being asked already."""
LOOK_S: Final = 0.1
MOVED: Final = frozenset({301, 302, 303, 307, 308})


class AskPart(Protocol):
    """How a part is asked for."""

    async def __call__(self, url: str, place: Origin, headers: dict[str, str]) -> Answer | None:
        """One call. None: it may not be made, or nothing came."""


Hold = Callable[[Origin], AbstractAsyncContextManager[bool]]
"""The host is this page's until the block is left; false: it is another's at the moment."""


@dataclass(kw_only=True)
class Parts:
    """The requests of one page, all by GET. home: the page's own host, which is held already.

    Other hosts are held from their first part until the page is done, so that pauses are between pages and not
    between the parts of one.
    """

    home: Origin
    hold: Hold
    ask: AskPart
    held: AsyncExitStack
    mine: set[Origin] = field(default_factory=set)

    async def get(self, url: str, headers: dict[str, str]) -> Answer | None:
        """Redirects are followed, each by the same rules; None: it is not to be had."""
        for _ in range(MAX_REDIRECTS + 1):
            try:
                place = origin(url)
            except ValueError:
                return None
            if not await self._may_ask(place):
                return None
            answer = await self.ask(url, place, headers)
            if answer is None or not (url := target(url, answer)):
                return answer
        return None

    async def _may_ask(self, place: Origin) -> bool:
        if place == self.home or place in self.mine:
            return True
        for _ in range(int(PATIENCE_S / LOOK_S)):
            if await self.held.enter_async_context(self.hold(place)):
                self.mine.add(place)
                return True
            await asyncio.sleep(LOOK_S)
        return False


def target(url: str, answer: Answer) -> str:
    """Where a redirect leads; empty: it is none."""
    location = answer.headers.get("Location", "")
    try:
        return urljoin(url, location).partition("#")[0] if answer.status in MOVED and location else ""
    except ValueError:
        return ""
