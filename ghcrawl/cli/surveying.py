"""Puts the questions of a survey to the API: patiently, and never without saying what is waited for."""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime, timedelta
from typing import Final

from ghcrawl.cli.snapshot import why_nobody_is_asked
from ghcrawl.cli.unrecoverable import unreached, unrecoverable
from ghcrawl.cli.watching import quotas
from ghcrawl.cli.words import duration, time_of_day
from ghcrawl.fetch.call_budget import SPENT
from ghcrawl.platforms.survey import Question, Reply
from ghcrawl.values.errors import ConfigError, FetchError
from ghcrawl.values.frozen import replace
from ghcrawl.values.outcome import (
    Fetched,
    Missing,
    Retrieved,
    Throttled,
)
from ghcrawl.values.requests import Context, Payload, Request
from ghcrawl.wiring import Service

TRIES: Final = 5
"""How often a question is asked that the API fails to answer."""
AGAIN_S: Final = 0.5
"""How long is waited after the first time; each time twice as long."""
WORTH_SAYING: Final = timedelta(seconds=2)
"""A wait that a person would not notice is not spoken of."""


class Surveyor:
    """Asks one service, no more than it may spend. say: tells a person what is waited for.

    unasked: questions that were not asked because no calls were left.
    """

    def __init__(self, service: Service, *, say: Callable[[str], None]) -> None:
        self.unasked = 0
        self._service = service
        self._clock = service.backend.clock
        self._say = say
        self._told_until: datetime | None = None
        self._told_outage: datetime | None = None

    @property
    def spent(self) -> bool:
        """Whether nothing may be asked any more."""
        return self._service.spending is not None and self._service.spending.spent

    async def ask(self, platform: str, question: Question) -> Reply:
        """What the platform shows; nothing where it shows nothing, or may not be asked any more. Waits for quota.

        Raises ConfigError where waiting is of no use, FetchError for a page that fails again and again.
        """
        request = Request(platform=platform, type=question.type, url=question.url, context=Context())
        if question.ids:
            now = self._clock.now()
            body = {"members": [{"id": each} for each in question.ids]}
            request = replace(request, payload=Payload.of(body, origin="batch", observed_at=now, received_at=now))
        failures = 0
        while True:
            try:
                retrieved = await self._service.opened[platform].fetcher.fetch(request, None)
            except FetchError:
                failures += 1
                if failures == TRIES and question.ids:
                    return Reply(body=[], refused=True)  # the survey does without
                if failures == TRIES:
                    raise
                await self._clock.sleep(AGAIN_S * 2.0 ** (failures - 1))
                continue
            if not isinstance(retrieved, Throttled):
                return _reply(retrieved)
            if retrieved.reason == SPENT:
                self.unasked += 1
                return Reply()
            await self._wait(platform, retrieved.until)

    async def _wait(self, platform: str, until: datetime) -> None:
        if why := unrecoverable(self._service, [platform]):
            raise ConfigError(why)
        self._tell(platform)
        await self._clock.sleep(max(0.1, (until - self._clock.now()) / timedelta(seconds=1)))

    def _tell(self, platform: str) -> None:
        """Once for each thing that is waited for."""
        opened = self._service.opened[platform]
        now, outage, until = self._clock.now(), opened.breaker.outage, opened.source.blocked_until()
        if outage is not None:
            if self._told_outage != outage.since:
                self._told_outage = outage.since
                self._say(f"{unreached(outage)}; retrying. Ctrl-C stops.")
        elif until is not None and until - now > WORTH_SAYING and not self._told(until):
            self._told_until = until
            why = why_nobody_is_asked(quotas(self._service))
            left = duration(max(1.0, (until - now).total_seconds()))
            self._say(f"{why} until {time_of_day(until, now)}, in {left}. Ctrl-C stops.")

    def _told(self, until: datetime) -> bool:
        return self._told_until is not None and until <= self._told_until + WORTH_SAYING


def _reply(retrieved: Retrieved) -> Reply:
    if isinstance(retrieved, Fetched):
        return Reply(body=retrieved.body, link=retrieved.link)
    return Reply() if isinstance(retrieved, Missing) else Reply(body=[], refused=True)
