"""Elements whose bodies came with a request, such as those of a page: they are decided and saved with it.

Not lists, whose follow-ups may say how far they were read: elements must be durable before that. An element that has to
be retried or dead-lettered is left to its queue.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import Final

from ghcrawl.engine.decision import Decision, Mounted, kind_of
from ghcrawl.engine.settlement import Prepared, Settlement
from ghcrawl.platforms.kind import Event, Part, Thing
from ghcrawl.values.cancellation import all_of
from ghcrawl.values.outcome import Save, Skip
from ghcrawl.values.requests import Push, Request
from ghcrawl.values.tuning import Tuning

MAX_ELEMENTS: Final = 200
"""Elements saved with one request; the others are queued."""
DECIDED_TOGETHER: Final = 20
"""Elements that are decided before other workers have their turn."""


class Elements:
    """Decides elements by `decide`, and prepares their effects by `settlement`."""

    def __init__(
        self,
        platforms: Mapping[str, Mounted],
        settlement: Settlement,
        decide: Callable[[Request], Awaitable[Decision]],
    ) -> None:
        self._platforms = platforms
        self._settlement = settlement
        self._decide = decide

    async def prepared(self, prepared: Prepared, tuning: Tuning, *, suspect: bool) -> Sequence[Prepared]:
        """The elements that came with a request, and those that came with them.

        suspect: the request may have killed its process: then each element is a message of its own.
        """
        if suspect or not prepared.effects.pushes:
            return ()
        elements, found = deque(self._elements(prepared)), list[Prepared]()
        while elements and len(found) < MAX_ELEMENTS:
            some = [elements.popleft() for _ in range(min(DECIDED_TOGETHER, len(elements)))]
            decisions = await all_of(self._decide(push.request) for push in some)
            for push, decided in zip(some, decisions, strict=True):
                if isinstance(decided.outcome, Save | Skip):
                    found.append(each := self._settlement.prepare(push, decided, tuning))
                    elements.extend(self._elements(each))
        return found

    def _elements(self, prepared: Prepared) -> Sequence[Push]:
        if not isinstance(prepared.outcome, Save | Skip):
            return ()
        return [push for push in prepared.effects.pushes if self._is_element(push)]

    def _is_element(self, push: Push) -> bool:
        if push.request.payload is None or push.not_before is not None:
            return False
        return isinstance(kind_of(push.request, self._platforms), Thing | Part | Event)
