"""What differs between batches and the platform's own answers: all replicas know it until the version changes.

One object in the store for each platform: `{"version", "base", "fields": {type: [field, …]}}`.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Final

from ghcrawl import __version__
from ghcrawl.platforms.mount import Mount
from ghcrawl.ports.store import Store

Differences = Mapping[str, Sequence[str]]
"""Type of thing → the fields that differed."""

MOST: Final = 20
"""Types that are kept, and fields of each."""
TRIES: Final = 3


def state_name(platform: str) -> str:
    """The name of the object in the store."""
    return f"differences:{platform}"


async def read(store: Store, platform: str, base: str) -> Differences:
    """What this version found at the API with that base URL. Raises StoreError."""
    return _of(await store.read_state(state_name(platform)), base)


async def read_all(store: Store, mounts: Iterable[Mount]) -> list[tuple[str, str, Sequence[str]]]:
    """Platform, type and fields of each difference at the APIs of `mounts`. Raises StoreError."""
    return [
        (mount.name, type, fields)
        for mount in mounts
        for type, fields in (await read(store, mount.name, mount.base_url)).items()
    ]


async def remember(store: Store, platform: str, base: str, found: Differences) -> None:
    """Add what was found. What another version or another API said is forgotten. Raises StoreError."""
    for _ in range(TRIES):  # another replica that wins that often has found the same
        before = await store.read_state(state_name(platform))
        known = {type: list(fields) for type, fields in {**_of(before, base), **found}.items()}
        kept = {type: known[type][:MOST] for type in sorted(known)[:MOST]}
        after = {"version": __version__, "base": base, "fields": kept}
        if before == after or await store.swap_state(state_name(platform), before, after):
            return


def _of(state: Mapping[str, object] | None, base: str) -> Differences:
    if state is None or (state.get("version"), state.get("base")) != (__version__, base):
        return {}
    fields = state.get("fields")
    known = fields if isinstance(fields, Mapping) else {}
    return {str(type): tuple(map(str, names)) for type, names in known.items() if isinstance(names, list)}
