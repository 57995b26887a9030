"""The sources of a service."""

from __future__ import annotations

from collections.abc import Sequence

from ghcrawl.cli.server.client import Client
from ghcrawl.schedule.watching import MOST, Added, Schedule, Watched


class ServerSources:
    """As `ghcrawl.schedule.watching.Watching` says."""

    def __init__(self, client: Client) -> None:
        self._client = client

    async def add(self, specs: Sequence[str], *, weight: float, every_d: float) -> Added:
        """As the protocol says."""
        body = {"specs": list(specs), "weight": weight, "every_d": every_d}
        return Added.model_validate(await self._client.send("POST", "/api/v1/sources", body))

    async def remove(self, specs: Sequence[str]) -> int:
        """As the protocol says."""
        done = await self._client.send("POST", "/api/v1/sources/remove", {"specs": list(specs)})
        return int(done["removed"])

    async def show(self, spec: str) -> Watched | None:
        """As the protocol says."""
        found = await self._client.get("/api/v1/sources", [("spec", spec)])
        return next((Watched.model_validate(each) for each in found["sources"]), None)

    async def list(self, *, limit: int, platform: str = "") -> Sequence[Watched]:
        """As the protocol says."""
        asked = [("limit", str(min(limit, MOST))), ("platform", platform)]
        found = await self._client.get("/api/v1/sources", asked)
        return [Watched.model_validate(each) for each in found["sources"]]

    async def schedules(self) -> Sequence[Schedule]:
        """As the protocol says."""
        found = await self._client.get("/api/v1/schedules")
        return [Schedule.model_validate(each) for each in found["schedules"]]
