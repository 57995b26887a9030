"""A webhook as a value."""

from __future__ import annotations

from msgspec import Struct

from ghcrawl.simulator.github.entities import Repo
from ghcrawl.simulator.github.people import User
from ghcrawl.simulator.github.shapes.site import Body


class Hook(Struct, frozen=True, kw_only=True):
    """One webhook: GitHub's name of the event, its payload, who did it and where."""

    event: str
    payload: Body
    sender: User
    repo: Repo | None = None
