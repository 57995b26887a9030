"""What the sequence needs of a set of replicas, wherever they run."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Protocol

from msgspec import Struct


class Probe(Struct, frozen=True, kw_only=True):
    """One answer of a probe. ok None: nobody answered."""

    ok: bool | None = None
    why: str = ""

    @classmethod
    def read(cls, status: int, body: str) -> Probe:
        """What `/livez` or `/readyz` answered, with the checks that failed."""
        try:
            checks = json.loads(body)["checks"]
            why = "; ".join(f"{name}: {text}" for name, text in checks.items() if text != "pass")
        except (ValueError, LookupError, AttributeError):
            why = body
        return cls(ok=status == 200, why=why)


class Pod(Struct, frozen=True, kw_only=True):
    """One replica as it was seen. leaving: it was told to go. starts: how often its process was started."""

    name: str
    live: Probe = Probe()
    ready: Probe = Probe()
    leaving: bool = False
    starts: int = 1


class Answered(Struct, frozen=True, kw_only=True):
    """What a request through the front door came to. status 0: no connection."""

    status: int
    body: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Wanted:
    """What is to run. config: the settings file. secrets: name → content; both are what a pod finds on its disk."""

    config: str
    secrets: Mapping[str, str] = field(repr=False)
    replicas: int = 3


class Fleet(Protocol):
    """Replicas of `ghcrawl serve` behind one front door. Every call returns once what it says is so, or raises."""

    async def start(self, wanted: Wanted) -> None:
        """All replicas are ready."""

    async def roll(self) -> None:
        """Each replica has been replaced by another of the same kind, one after another."""

    async def configure(self, config: str) -> None:
        """The same, with another settings file."""

    async def rotate(self, secrets: Mapping[str, str]) -> None:
        """Every replica finds these secrets; none was started anew."""

    async def scale(self, replicas: int) -> None:
        """There are so many, all ready."""

    async def delete(self) -> str:
        """One was killed with no grace, and another has taken its place. Returns which."""

    async def kill(self) -> str:
        """The process of one was killed, and has been started again in its place. Returns which."""

    async def roll_badly(self, secrets: Mapping[str, str], patience_s: float) -> None:
        """A rollout with secrets that do not work has been given `patience_s`, and is still under way."""

    async def give_up_rollout(self) -> None:
        """That rollout is undone: only the replicas of before are left."""

    async def pods(self) -> Sequence[Pod]:
        """All replicas, with what their probes say now."""

    async def ask(self, method: str, path: str, *, headers: Mapping[str, str], body: bytes = b"") -> Answered:
        """A request to the service, as somebody outside sends it: some ready replica answers."""

    async def close(self) -> None:
        """Nothing of it is left."""
