"""`/api/v1/whoami`: the caller's token and role, so that the console hides what the caller may not use."""

from __future__ import annotations

from typing import Final, Literal

from pydantic import BaseModel, Field

from ghcrawl.admin.routing import Asked, Nothing, Routes


class WhoShape(BaseModel):
    """The caller as the service knows it."""

    name: str = Field(
        description="name as in the log and in the history of settings; for a token, the start of its hash"
    )
    role: Literal["anyone", "read", "operate"] = Field(description="read: read access; operate: full access")


ROUTES: Final = Routes("service")


@ROUTES.add("GET", "/api/v1/whoami", "whoAmI", "Get the name and the role of the caller")
async def _who(asked: Asked[Nothing, None]) -> WhoShape:
    return WhoShape(name=asked.caller.name, role=asked.caller.role)
