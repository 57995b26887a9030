"""Idempotency keys kept as dedup markers: a queued marker is a confirmed delivery."""

from __future__ import annotations

from datetime import datetime

from ghcrawl.ports.dedup import DedupMarker, DedupMarkers
from ghcrawl.ports.inbox import ClaimResult


class MarkerIdempotencyKeys:
    """As `ghcrawl.ports.inbox.IdempotencyKeys` says. markers: must hold nothing else, because `sweep` deletes any."""

    def __init__(self, markers: DedupMarkers) -> None:
        self._markers = markers

    async def claim(self, id: str, token: str, at: datetime, *, stale_before: datetime) -> ClaimResult:
        """As the port says."""
        ours = DedupMarker(
            key=id, token=token, queued=False, platform="", queue="event", asked_at=None, not_before=None, at=at
        )
        if not await self._markers.insert([ours]):
            return "ours"
        held = (await self._markers.find([id])).get(id)
        if held is None:  # released at this moment; the caller tries again
            return "theirs"
        if held.queued:
            return "taken"
        if held.at >= stale_before:
            return "theirs"
        await self._markers.replace([(held, ours)])
        now = (await self._markers.find([id])).get(id)
        return "ours" if now is not None and now.token == token else "theirs"

    async def confirm(self, id: str, token: str) -> None:
        """As the port says."""
        await self._markers.confirm([id], token)

    async def release(self, id: str, token: str) -> None:
        """As the port says."""
        await self._markers.delete(id, token)

    async def sweep(self, before: datetime) -> int:
        """As the port says."""
        return await self._markers.sweep(before)
