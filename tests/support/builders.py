"""Values with every field defaulted: a test states only what matters to it."""

from __future__ import annotations

from collections import Counter
from datetime import UTC, datetime, timedelta
from typing import Any

from ghcrawl.ports.quotas import Egress
from ghcrawl.values.deadletters import Deadletter
from ghcrawl.values.documents import Document, Link
from ghcrawl.values.jsontext import digest
from ghcrawl.values.requests import Failure, Payload, Request
from ghcrawl.values.type_names import LEGACY_PLATFORM, TypeName
from stores.quotas import MemoryQuotas

NOW = datetime(2026, 11, 21, 12, 0, 0, tzinfo=UTC)
API = "https://api.example.test"


def at(seconds: float) -> datetime:
    """The moment `seconds` after NOW."""
    return NOW + timedelta(seconds=seconds)


def an_egress() -> Egress:
    """Of a process that shares its quotas with no other."""
    return Egress(quotas=MemoryQuotas())


def a_type(name: str = "issue", platform: str = LEGACY_PLATFORM) -> TypeName:
    return TypeName(platform, name)


def by_type(platform: str = LEGACY_PLATFORM, /, **counts: int) -> Counter[TypeName]:
    """Counts of types of one platform."""
    return Counter({TypeName(platform, name): count for name, count in counts.items()})


def a_request(number: int = 1, **over: Any) -> Request:
    fields: dict[str, Any] = {
        "platform": LEGACY_PLATFORM,
        "type": "issue",
        "url": f"{API}/repos/acme/web/issues/{number}",
        "policy": "default:issue",
        "asked_at": NOW,
    }
    return Request(**(fields | over))


def a_payload(body: dict[str, Any] | None = None, **over: Any) -> Payload:
    fields: dict[str, Any] = {"origin": "list", "observed_at": NOW}
    return Payload.of(body if body is not None else {"id": 1}, **(fields | over))


def a_document(number: int = 1, *, title: str = "first", **over: Any) -> Document:
    body = over.pop("body", {"number": number, "title": title})
    urn = over.pop("urn", f"urn:repo:12:issue:{number}")
    fields: dict[str, Any] = {
        "platform": LEGACY_PLATFORM,
        "type": "issue",
        "url": f"{API}/repos/acme/web/issues/{number}",
        "urn": urn,
        "body": body,
        "links": {"self": Link(type="resource", href=urn)},
        "observed_at": NOW,
        "fetched_at": NOW,
        "processed_at": NOW,
        "version": 1,
        "digest": digest(body),
    }
    return Document(**(fields | over))


def a_failure(**over: Any) -> Failure:
    fields: dict[str, Any] = {"at": NOW, "cause": "http_503", "message": "Service Unavailable", "status": 503}
    return Failure(**(fields | over))


def a_deadletter(number: int = 1, **over: Any) -> Deadletter:
    failure = a_failure()
    fields: dict[str, Any] = {
        "urn": f"urn:deadletter:00000000-0000-4000-8000-{number:012d}",
        "request": a_request(number),
        "queue": "normal",
        "kind": failure.cause,
        "reason": failure.message,
        "failures": (failure,),
        "first_at": failure.at,
        "last_at": failure.at,
    }
    return Deadletter(**(fields | over))
