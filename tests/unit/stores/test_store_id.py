from __future__ import annotations

from collections.abc import Mapping

from ghcrawl.ports.store import store_id
from ghcrawl.values.errors import StoreError
from stores.memory import MemoryStore


class ReadOnly(MemoryStore):
    """A store that cannot be written."""

    async def swap_state(self, name: str, before: Mapping[str, object] | None, after: Mapping[str, object]) -> bool:
        raise StoreError(f"{name} cannot be written: {before} {after}")


async def test_a_store_of_an_earlier_version_that_cannot_be_written_has_no_id() -> None:
    assert await store_id(ReadOnly()) == ""


async def test_what_cannot_be_written_keeps_the_id_that_it_has() -> None:
    store = ReadOnly()
    await store.write_state("store", {"id": "1a2b"})
    assert await store_id(store) == "1a2b"
