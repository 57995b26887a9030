"""Remembers refusals: a 404 or a 403 costs quota each time, and no validator makes it cheaper.

Many refusals are permanent: the teams of a foreign organisation, the traffic of a repository that is not ours, a README
that does not exist. A refusal is kept as a tombstone without a document, with the digest of the owner of the refused
list or part. It stands while the owner is unchanged and the same credentials ask, for a week at the most; and never for
an operator's request, for which every answer is too old, or for a policy that asks the platform in any case.

What others refer to (a blocked repository that its owner's list still names, a deleted account) has no owner. Its
refusal is remembered by its URL, beside our copy of it, until the copy is newer. It stands for requests that come from
a reference; one that names the thing, comes from an event or looks for deletions gets an answer.
"""

from __future__ import annotations

from datetime import timedelta
from typing import Final
from urllib.parse import urlsplit

from msgspec import Struct

from ghcrawl.platforms.kind import Processed, Thing, refusal_of
from ghcrawl.ports.clock import Clock
from ghcrawl.ports.fetcher import Fetcher
from ghcrawl.ports.store import Store, Stored
from ghcrawl.values.documents import Document, Link, Validator
from ghcrawl.values.policy import parse
from ghcrawl.values.requests import Request
from ghcrawl.values.type_names import LEGACY_PLATFORM, TypeName

STANDS: Final = timedelta(days=7)
"""A feature may be switched on, or a right be given, without a trace in what it belongs to."""
REFUSED: Final = "refused"
"""The type of what remembers refusals of things: tombstones, so that none of them counts as a document."""


class Refusals(Struct, frozen=True):
    """What is remembered of refusals on one platform."""

    fetcher: Fetcher
    store: Store
    clock: Clock

    async def stands(self, request: Request, kind: Processed, stored: Stored | None) -> bool:
        """Whether asking for `request` again would most likely be refused again. Raises StoreError."""
        if request.asked_at is None:
            return False
        if _by_reference(request, kind):
            return await self._stands_beside(request, stored)
        if stored is None or stored.deleted_at is None or stored.urn != refusal_of(kind, request):
            return False
        return await self._as_it_was(request, stored)

    async def _stands_beside(self, request: Request, held: Stored | None) -> bool:
        stored = await self.store.look_up(TypeName(request.platform, REFUSED), _beside(request))
        if stored is None or (held is not None and held.checked_at > stored.checked_at):
            return False
        return await self._as_it_was(request, stored)

    async def _as_it_was(self, request: Request, stored: Stored) -> bool:
        if self.clock.now() - stored.checked_at > STANDS:
            return False
        asked_by = stored.validator.principal if stored.validator else ""
        return asked_by == self.fetcher.credential_digest() and stored.digest == await self._owner(request)

    async def document(self, request: Request, kind: Processed, *, reason: str) -> Document | None:
        """What remembers that `request` was refused just now; None where nothing does. Raises StoreError."""
        urn, type, url = refusal_of(kind, request), request.type, request.url
        if _by_reference(request, kind):
            urn, type, url = _urn(request), REFUSED, _beside(request)
        if urn is None:
            return None
        now = self.clock.now()
        return Document(
            platform=request.platform,
            type=type,
            url=url,
            urn=urn,
            body={},
            links={"self": Link(type="resource", href=urn)},
            observed_at=now,
            fetched_at=now,
            processed_at=now,
            version=kind.version,
            digest=await self._owner(request),
            validator=Validator(url=request.url, principal=self.fetcher.credential_digest()),
            root=request.root,
            deleted_at=now,
            deleted_reason=reason,
        )

    async def _owner(self, request: Request) -> str:
        owner = await self.store.get(request.context.qualifier) if request.context.qualifier else None
        return owner.digest if owner else ""


def _by_reference(request: Request, kind: Processed) -> bool:
    """Whether the request comes from a reference only, so that nothing says that the thing is there."""
    referred = isinstance(kind, Thing) and kind.referred and not request.is_root
    return referred and not parse(request.policy).insists


def _urn(request: Request) -> str:
    """What remembers the refusal. Of other platforms than the first it says the host: they may have several."""
    url = urlsplit(request.url)
    path = url.path.strip("/")
    if request.platform == LEGACY_PLATFORM:
        return f"urn:{REFUSED}:{request.type}:{path}"
    return f"urn:{request.platform}:{REFUSED}:{request.type}:{url.netloc}/{path}"


def _beside(request: Request) -> str:
    return f"{request.url}#{REFUSED}"
