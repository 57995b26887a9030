"""How much of what a SPEC leads to is wanted: the options that narrow a crawl."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime

from msgspec import Struct

from ghcrawl.cli.words import since
from ghcrawl.settings.sections import Settings
from ghcrawl.values.narrowing import narrow


class Wanting(Struct, frozen=True, kw_only=True):
    """scenario: what is followed at all. only, without: types, each perhaps several with commas.

    since: a date, a moment or an age; a date counts from the start of its day (UTC), as in scenarios.
    """

    scenario: str = ""
    only: Sequence[str] = ()
    without: Sequence[str] = ()
    since: str = ""

    def __bool__(self) -> bool:
        return bool(self.scenario or self.only or self.without or self.since)

    def applied(self, settings: Settings, now: datetime) -> Settings:
        """`settings` whose policy says all that. Raises SpecError where the date is none."""
        if not self:
            return settings
        spec = narrow(
            settings.crawl.policy,
            scenario=self.scenario,
            only=_split(self.only),
            without=_split(self.without),
            since=since(self.since, now).astimezone(UTC).date().isoformat() if self.since else "",
        )
        return settings.model_copy(update={"crawl": settings.crawl.model_copy(update={"policy": spec})})


def _split(words: Sequence[str]) -> list[str]:
    return [type.strip() for word in words for type in word.split(",") if type.strip()]
