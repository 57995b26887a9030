"""Everything that can go wrong and is not an expected answer.

    CrawlError                  the root: a sentence for a person, with what to do where something can be done
    ├── ConfigError             settings, tokens or a command line that cannot be run with
    ├── SpecError               a spec, policy or URN that a person typed and that cannot be read
    │   ├── UnknownSpec         words that mean nothing on this platform, so that another may be meant
    │   └── PolicyError         a policy that cannot be read, or names a map that does not exist
    ├── Malformed               the platform's answer lacks what gives it an identity; never worth a retry
    ├── FetchError              the platform could not be asked, or broke while answering (url, status)
    ├── StreamRefused           the platform will not stream this, however often it is asked (status)
    ├── QueueError              the broker refused or is away
    │   └── DecodeError         a message body that is no request (body)
    └── StoreError              the database refused or is away (urn)
        └── Unstorable          this document can never be stored: too large, or not expressible; never worth a retry

What a protocol expects (304, 404, a rate limit, an empty repository) is a value in `values.outcome`, not an error.
"""

from __future__ import annotations

from collections.abc import Sequence


class CrawlError(Exception):
    """The root of the tree above."""


class ConfigError(CrawlError):
    """Settings, tokens or a command line that cannot be run with.

    problems: `section.name` of each wrong setting, and what is wrong with it, where the sentence is about settings.
    """

    def __init__(self, message: str, *, problems: Sequence[tuple[str, str]] = ()) -> None:
        super().__init__(message)
        self.problems = tuple(problems)


class SpecError(CrawlError):
    """A spec, a policy or a URN that cannot be read."""


class UnknownSpec(SpecError):
    """Words that mean nothing on this platform: another one is probably meant."""


class PolicyError(SpecError):
    """A policy that cannot be read, or that names a scenario or map that does not exist."""


class Malformed(CrawlError):
    """An answer that lacks what gives it an identity. Trying again would bring the same answer."""


class FetchError(CrawlError):
    """The platform could not be asked, or broke while answering.

    status: the HTTP status, or None where no answer came.
    cause: the class of the failure; empty: `http_` and the status, or `connection_lost` where no answer came.
    """

    def __init__(self, message: str, *, url: str, status: int | None = None, cause: str = "") -> None:
        super().__init__(message)
        self.url = url
        self.status = status
        self.cause = cause or (f"http_{status}" if status else "connection_lost")


class StreamRefused(CrawlError):
    """The platform will not stream this, however often it is asked. status: of its answer; None: it has no such."""

    def __init__(self, message: str, *, status: int | None = None) -> None:
        super().__init__(message)
        self.status = status


class QueueError(CrawlError):
    """The broker refused or is away."""


class DecodeError(QueueError):
    """A message body that is no request. `body` keeps its bytes for the deadletter."""

    def __init__(self, message: str, *, body: bytes) -> None:
        super().__init__(message)
        self.body = body


class StoreError(CrawlError):
    """The database refused or is away."""

    def __init__(self, message: str, *, urn: str | None = None) -> None:
        super().__init__(message)
        self.urn = urn


class Unstorable(StoreError):
    """The store can never hold this document: too large, or not expressible. Trying again brings the same answer."""
