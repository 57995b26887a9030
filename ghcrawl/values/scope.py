"""What may be crawled: allow-lists and exclude patterns over what a platform says of a request, for every type."""

from __future__ import annotations

from fnmatch import fnmatchcase

from msgspec import Struct


class Scope(Struct, frozen=True, kw_only=True):
    """Shell patterns, ignoring case. An empty `allow` admits everything; `exclude` wins over `allow`.

    A request belongs to an owner, to `owner/part`, or to none: `Platform.scope` says to which.
    A pattern without a slash means an owner and all that is theirs.
    """

    allow: tuple[str, ...] = ()
    exclude: tuple[str, ...] = ()

    def admits(self, scope: str) -> bool:
        """Whether a request of `scope` may run. What belongs to no owner (users) always may."""
        if not scope or not (self.allow or self.exclude):
            return True
        text = scope.lower()
        owner = text.partition("/")[0]
        if any(_matches(pattern, text, owner) for pattern in self.exclude):
            return False
        return not self.allow or any(
            _matches(pattern, text, owner) or _leads_to(pattern, text) for pattern in self.allow
        )


def _matches(pattern: str, text: str, owner: str) -> bool:
    pattern = pattern.lower()
    return fnmatchcase(text, pattern) if "/" in pattern else fnmatchcase(owner, pattern)


def _leads_to(pattern: str, text: str) -> bool:
    """An allowed `acme/web` needs its owner `acme` to be looked at."""
    return "/" not in text and fnmatchcase(text, pattern.lower().partition("/")[0])
