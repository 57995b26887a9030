"""Documents that a person means: by URN, by URL, by the name that a spec has, or by words of their title."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from typing import Any, Final

from msgspec import Struct

from ghcrawl.admin.site import Site
from ghcrawl.platforms.naming import TITLED_INSIDE, TITLES, named
from ghcrawl.ports.store import DocumentFilter
from ghcrawl.values.documents import Document

SEARCH_S: Final = 2.0
"""How long titles are read for. Nothing is indexed for it: names and addresses are found at once."""
AT_ONCE: Final = 100
"""Documents examined between two looks at the clock."""
_SEARCHED: Final = tuple(name for name in TITLES if name != "body")


class Found(Struct, frozen=True, kw_only=True):
    """documents: at most as many as were wanted. complete: all titles that could match were read, or enough did."""

    documents: Sequence[Document]
    complete: bool = True


async def search(site: Site, text: str, which: DocumentFilter, limit: int) -> Found:
    """What `text` means. which: bounds the search by title. Raises SpecError, StoreError."""
    words = text.strip()
    found = await named(site.mounts, site.store, words)
    if found or "://" in words or words.startswith("urn:"):
        return Found(documents=found[:limit])
    return await _titled(site, words.casefold().split(), which, limit)


async def _titled(site: Site, words: Sequence[str], which: DocumentFilter, limit: int) -> Found:
    """Those whose title has all of the words. Pages of lists have none."""
    found: list[Document] = []
    monotonic = asyncio.get_running_loop().time
    until_s, seen = monotonic() + SEARCH_S, 0
    async for document in site.store.list(which):
        if all(word in _title(document.body) for word in words):
            found.append(document)
            if len(found) == limit:
                return Found(documents=found)
        seen += 1
        if seen % AT_ONCE == 0:
            await asyncio.sleep(0)
            if monotonic() > until_s:
                return Found(documents=found, complete=False)
    return Found(documents=found)


def _title(body: Mapping[str, Any]) -> str:
    if "elements" in body:
        return ""
    parts = [body, *(part for name in TITLED_INSIDE if isinstance(part := body.get(name), Mapping))]
    return "\n".join(part[name] for part in parts for name in _SEARCHED if isinstance(part.get(name), str)).casefold()
