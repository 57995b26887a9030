"""Reads answers of methods: errors go by their names, since the status says little. Pure."""

from __future__ import annotations

import json
from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any, Final

from msgspec import Struct

from ghcrawl.fetch.client import Answer
from ghcrawl.fetch.headers import http_date, retry_after_s

GONE: Final = frozenset(
    {
        "AccountTakedown",
        "AccountDeactivated",
        "AccountDeleted",
        "RepoTakendown",
        "RepoSuspended",
        "RepoDeactivated",
        "BlockedByModeration",
    }
)
"""Errors that say for every principal: the account is gone."""
ABSENT: Final = frozenset({"RecordNotFound", "RepoNotFound", "NotFound", "HandleNotFound", "ActorNotFound"})
_ABSENT_MESSAGES: Final = (
    "profile not found",
    "actor not found",
    "could not find repo",
    "could not find root",
    "could not locate record",
    "unable to resolve handle",
    "post not found",
)
"""These come as `InvalidRequest`."""
_TAKEN_DOWN: Final = ("account has been suspended", "account is deactivated", "account has been deactivated")
EXPIRED: Final = frozenset({"ExpiredToken"})
REJECTED: Final = frozenset({"InvalidToken", "AuthMissing", "AuthenticationRequired", "AuthRequired", "BadJwt"})
BLOCKS: Final = frozenset({"BlockedActor", "BlockedByActor"})
DEFAULT_WAIT_S: Final = 60.0
YEAR_3000: Final = 32_503_680_000


class Failure(Struct, frozen=True):
    """An error as a server names it."""

    name: str
    message: str

    @property
    def text(self) -> str:
        """Both, for people."""
        return ": ".join(filter(None, (self.name, self.message)))

    @property
    def absent(self) -> bool:
        """There is no such thing."""
        return self.name in ABSENT or self._says(_ABSENT_MESSAGES)

    @property
    def gone(self) -> bool:
        """It existed, and is shown to no one any more."""
        return self.name in GONE or self._says(_TAKEN_DOWN)

    def _says(self, words: tuple[str, ...]) -> bool:
        return any(each in self.message.lower() for each in words)


def failure_of(answer: Answer) -> Failure:
    """The error in an answer that is one."""
    body = body_of(answer)
    found = body if isinstance(body, Mapping) else {}
    name, message = found.get("error"), found.get("message")
    return Failure(name if isinstance(name, str) else "", message[:500] if isinstance(message, str) else "")


def body_of(answer: Answer) -> Any:
    """The JSON of an answer; None for anything else."""
    try:
        return json.loads(answer.body) if answer.body else None
    except ValueError:
        return None


class Told(Struct, frozen=True):
    """What an answer says about the budget it was charged to. resets_in_s: from when it came."""

    limit: int
    remaining: int
    resets_in_s: float


def told(answer: Answer) -> Told | None:
    """The `RateLimit-*` headers; None where there are none, or nonsense."""
    headers = answer.headers
    try:
        limit, remaining = int(headers["RateLimit-Limit"]), int(headers["RateLimit-Remaining"])
        reset = int(headers["RateLimit-Reset"])
    except (KeyError, ValueError):
        return None
    if not 0 <= reset < YEAR_3000:
        return None
    return Told(limit, max(0, remaining), max(0.0, reset - server_now(answer)))


def server_now(answer: Answer) -> float:
    """The server's clock when it answered, in epoch seconds; ours where it does not say."""
    date = http_date(answer.headers.get("Date", ""))
    return answer.ended if date is None else date


def wait_s(answer: Answer) -> float:
    """How long a 429 asks to be left alone: as many seconds as it says, else until its budget is full again."""
    said = retry_after_s(answer.headers, server_now(answer))
    if said is not None:
        return said
    budget = told(answer)
    return budget.resets_in_s if budget is not None else DEFAULT_WAIT_S


def observed_at(answer: Answer) -> datetime:
    """When the answer was true, by the server's clock."""
    return datetime.fromtimestamp(server_now(answer), UTC)
