"""The possible answers of a fetch and the possible outcomes of a request: two closed sums.

    Retrieved = Fetched | Unchanged | Missing | Pending | Throttled | Denied | Refused
    Outcome   = Save | Skip | Defer | Retry | Bury

Both are matched with `assert_never`, so that a new member is a type error wherever it is not thought about.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from datetime import datetime
from typing import Final, Literal, TypeAlias

from msgspec import Struct

from ghcrawl.values.documents import Document, Origin, Validator
from ghcrawl.values.jsontext import Json
from ghcrawl.values.requests import Failure, Push, Request
from ghcrawl.values.visitor_map import NextHops

DeniedReason = Literal["sso", "ip_allow_list", "credential", "blocked", "forbidden", "unauthorized"]
"""Why our credentials may not see something."""
SkipReason = Literal[
    "unchanged",
    "visited",
    "missing",
    "excluded",
    "noindex",
    "not_known",
    "not_stored",
    "not_ready",
    "still_refused",
    "unchanged_unasked",
    "too_large",
    "list_capped",
    "narrowed",
    "partial",
    "restarted",
    "batched",
    "moved",
    "reconciled",
    "not_reconciled",
    "denied_sso",
    "denied_ip_allow_list",
    "denied_credential",
    "denied_blocked",
    "denied_forbidden",
    "denied_unauthorized",
]
"""Why there is nothing to save. Users see these words in summaries and metrics."""
ThrottleReason = Literal[
    "primary", "secondary", "budget", "spent", "busy", "unreachable", "no_principal", "poll_interval", "too_heavy"
]
"""Why a fetch has to wait: rate limits of the platform, our own limits, an outage. Users see these words in metrics."""
DeferReason = Literal[ThrottleReason, "in_flight", "not_mounted"]
"""Why a request is put back into its queue."""
RefusedReason = Literal[
    "refused",
    "too_large",
    "invalid_json",
    "redirect",
    "foreign_url",
    "api_version",
    "unauthorized",
    "batch_failed",
    "batches_off",
    "no_points",
]
"""Why no credential can help."""
DENIED: Final[Mapping[DeniedReason, SkipReason]] = {
    "sso": "denied_sso",
    "ip_allow_list": "denied_ip_allow_list",
    "credential": "denied_credential",
    "blocked": "denied_blocked",
    "forbidden": "denied_forbidden",
    "unauthorized": "denied_unauthorized",
}
_REFUSALS: Final[frozenset[SkipReason]] = frozenset({"missing", *DENIED.values()})

# What a fetch can answer ------------------------------------------------------------------------------------


class Fetched(Struct, frozen=True, kw_only=True):
    """A body to process.

    body: JSON as the platform sent it; nothing for an empty answer is `[]` (204, or 409 on an empty repository).
    url: the URL that answered, after redirects; `aliases` are the URLs that led there.
    link: rel → URL of the Link header.
    observed_at: when it was true, by the platform's clock; checked_at: when we asked, by ours.
    partial: the platform said that things are missing from it, so absence proves nothing.
    """

    body: Json
    url: str
    observed_at: datetime
    checked_at: datetime
    origin: Origin = "fetch"
    validator: Validator | None = None
    link: Mapping[str, str] = {}
    aliases: tuple[str, ...] = ()
    status: int = 200
    partial: bool = False


class Unchanged(Struct, frozen=True, kw_only=True):
    """The platform says that the stored copy is current.

    validator: the one to keep, where the answer brought a fresh one.
    """

    checked_at: datetime
    validator: Validator | None = None


class Missing(Struct, frozen=True, kw_only=True):
    """Not there (any more), or not for any credential we hold: 404, 410, 451.

    anonymous: the request had no credential, and what is private is always missing to such a request.
    """

    status: int
    detail: str
    observed_at: datetime
    anonymous: bool = False


class Pending(Struct, frozen=True, kw_only=True):
    """The platform is still working on it (202). Ask again after `wait_s`."""

    wait_s: float
    detail: str


class Throttled(Struct, frozen=True, kw_only=True):
    """Not now."""

    until: datetime
    reason: ThrottleReason


class Denied(Struct, frozen=True, kw_only=True):
    """Our credentials may not see this, and waiting will not change that."""

    status: int
    reason: DeniedReason
    detail: str


class Refused(Struct, frozen=True, kw_only=True):
    """The platform refuses this request with any credential: 400, 422, an answer too large."""

    status: int
    reason: RefusedReason
    detail: str


Retrieved: TypeAlias = Fetched | Unchanged | Missing | Pending | Throttled | Denied | Refused

# Outcomes of a request ---------------------------------------------------------------------------------------


class Save(Struct, frozen=True, kw_only=True):
    """Keep this document and queue these.

    supersede: with the last page of a relation: URN text from which older generations are removed (`Store.save`).
    """

    document: Document
    follow_ups: tuple[Push, ...] = ()
    supersede: str = ""


class Skip(Struct, frozen=True, kw_only=True):
    """Nothing to save. `detail` is free text.

    An unchanged thing is skipped with its follow-ups: it is not saved again, yet its children may have changed.
    """

    reason: SkipReason
    detail: str = ""
    follow_ups: tuple[Push, ...] = ()

    @property
    def is_refusal(self) -> bool:
        """The platform refused this URL: another request for it would fare no better."""
        return self.reason in _REFUSALS


class Defer(Struct, frozen=True, kw_only=True):
    """Not now; costs no attempt."""

    until: datetime
    reason: DeferReason


class Retry(Struct, frozen=True, kw_only=True):
    """Something failed; costs an attempt. `wait_s` overrides the exponential delay."""

    failure: Failure
    traceback: str = ""
    wait_s: float | None = None


class Bury(Struct, frozen=True, kw_only=True):
    """No retry can help: file a deadletter at once."""

    failure: Failure
    traceback: str = ""


Outcome: TypeAlias = Save | Skip | Defer | Retry | Bury
OutcomeName = Literal["save", "skip", "defer", "retry", "bury"]

# What a processor sees and does -----------------------------------------------------------------------------


class Visit(Struct, frozen=True, kw_only=True):
    """All that a processor is told.

    next_hops: where this request may go; a link that is not in it is not followed.
    batched: types of things that the platform can be asked for many at once, just now.
    known: we held a copy of this before; visited: and it was traversed from this very position before.
    stored_urn: what that copy is called; empty where there is none.
    visits: of the document, see there.
    version: the version of the processor, for the document's metadata.
    processed_at: the moment to write down; processors hold no clock.
    """

    request: Request
    fetched: Fetched
    next_hops: NextHops
    version: int
    processed_at: datetime
    known: bool = False
    visited: bool = False
    stored_urn: str = ""
    batched: frozenset[str] = frozenset()
    visits: Mapping[str, datetime] = {}


Processor: TypeAlias = Callable[[Visit], Save | Skip]
