"""Plans: what to ask next, decided from the documents that are stored."""

from __future__ import annotations

from datetime import datetime

from ghcrawl.platforms.contract import Platform
from ghcrawl.platforms.kind import Planning, Prospect
from ghcrawl.ports.store import DocumentFilter, Store
from ghcrawl.values.outcome import Save, Skip
from ghcrawl.values.policy import Policy
from ghcrawl.values.requests import Request
from ghcrawl.values.type_names import TypeName


async def plan(
    kind: Planning, request: Request, policy: Policy, platform: Platform, *, store: Store, now: datetime
) -> Save | Skip:
    """The plan's outcome. Reads and writes nothing but the store's documents. Raises StoreError."""
    types = tuple(TypeName(platform.name, name) for name in kind.types)
    which = DocumentFilter(types=types, scope=kind.scope(request), deleted=False)
    documents = [document async for document in store.list(which)]
    next_hops = platform.scenarios.next_hops(policy.spec)
    return kind.plan(Prospect(request=request, documents=documents, next_hops=next_hops, version=kind.version, now=now))
