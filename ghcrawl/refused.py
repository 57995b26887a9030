"""What was refused, remembered: a 404 or a 403 costs quota every time, and no validator makes it cheaper.

Much answers so for ever: the teams of a foreign organisation, the traffic of a repository that is not ours, a README
that nobody wrote. The refusal is kept as a tombstone that never lived, with the digest of what the refused list or part
belongs to. It stands while that is unchanged and the same credentials ask, for a week at the most; and never for an
operator's request, which any answer is too old for, or a policy that wants the platform's own word.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import timedelta
from typing import Final

from ghcrawl.model import Document, Link, Request, Validator
from ghcrawl.platform import Kind
from ghcrawl.ports import Clock, Fetcher, Store, Stored

STANDS: Final = timedelta(days=7)
"""A feature may be switched on, or a right be given, without a trace in what it belongs to."""


@dataclass(frozen=True, slots=True)
class Refusals:
    """What is remembered of refusals on one platform."""

    fetcher: Fetcher
    store: Store
    clock: Clock

    async def stands(self, request: Request, kind: Kind, stored: Stored) -> bool:
        """Whether asking for `request` again would most likely be refused again. Raises StoreError."""
        if kind.refusal is None or stored.deleted_at is None or request.asked_at is None:
            return False
        if stored.urn != kind.refusal(request) or self.clock.now() - stored.checked_at > STANDS:
            return False
        asked_by = stored.validator.principal if stored.validator else ""
        return asked_by == self.fetcher.audience() and stored.digest == await self._owner(request)

    async def document(self, request: Request, kind: Kind, *, platform: str, reason: str) -> Document | None:
        """What remembers that `request` was refused just now; None where nothing does. Raises StoreError."""
        urn = kind.refusal(request) if kind.refusal else None
        if urn is None:
            return None
        now = self.clock.now()
        return Document(
            type=request.type,
            url=request.url,
            urn=urn,
            body={},
            links={"self": Link(type="resource", href=urn)},
            observed_at=now,
            fetched_at=now,
            processed_at=now,
            version=kind.version,
            digest=await self._owner(request),
            platform=platform,
            validator=Validator(url=request.url, principal=self.fetcher.audience()),
            root=request.root,
            deleted_at=now,
            deleted_reason=reason,
        )

    async def _owner(self, request: Request) -> str:
        owner = await self.store.get(request.context.qualifier) if request.context.qualifier else None
        return owner.digest if owner else ""
