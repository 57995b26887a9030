"""Life: one change after the other, each told in feeds and, where configured, by webhooks."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from random import Random

import aiohttp

from ghcrawl.simulator.chance import seeded
from ghcrawl.simulator.github.changes.change import Change
from ghcrawl.simulator.github.live.feed import FeedEvent
from ghcrawl.simulator.github.live.hook import Hook
from ghcrawl.simulator.github.live.payloads import hooks
from ghcrawl.simulator.github.live.sending import Sender
from ghcrawl.simulator.github.live.visible import feed_event
from ghcrawl.simulator.github.live.weather import Moment, live_change
from ghcrawl.simulator.github.shapes.site import Site
from ghcrawl.simulator.github.world import World


@dataclass(slots=True, kw_only=True)
class Life:
    """Lets things happen in the organisations named `logins`. The same seed lets the same things happen.

    stays: logins of those who are never removed: whose tokens are used.
    counts: how often each event happened, by GitHub's name of its webhook and action.
    """

    world: World
    site: Site
    logins: Sequence[str]
    seed: int = 0
    stays: frozenset[str] = frozenset()
    counts: Counter[str] = field(default_factory=Counter)
    _rng: Random = field(init=False)

    def __post_init__(self) -> None:
        self._rng = seeded(self.seed, "life")

    def step(self) -> tuple[Change, tuple[Hook, ...]]:
        """One change, and the webhooks about it. The feeds hold it already."""
        orgs = [self.world.org(login) for login in self.logins]
        org = self._rng.choice(orgs)
        stays = frozenset(self.world.user(login).id for login in self.stays)
        others = [each for each in orgs if each is not org]
        change = live_change(Moment(world=self.world, org=org, others=others, stays=stays, rng=self._rng))
        told = hooks(self.site, self.world, change)
        self.counts[f"{change.event}.{change.action}".rstrip(".")] += 1
        for hook in told:
            self._show(change, hook)
        return change, told

    def _show(self, change: Change, hook: Hook) -> None:
        shown, repo = feed_event(hook), change.repo
        if shown is None or repo is None:
            return
        type, payload = shown
        log = self.world.happenings
        log.add(
            FeedEvent(
                id=log.take_id(),
                type=type,
                payload=payload,
                actor=hook.sender,
                repo=repo,
                repo_name=repo.full_name,
                owner=change.owner,
                public=not repo.private,
                at=self.world.clock.now(),
            )
        )

    async def run(self, stop: asyncio.Event, *, per_minute: float, sender: Sender | None = None) -> None:
        """Live until `stop` is set, with about `per_minute` changes a minute of the world's clock."""
        async with aiohttp.ClientSession() as session:
            while not stop.is_set():
                change, told = self.step()
                for hook in told if sender else ():
                    assert sender is not None
                    await sender.send(session, sender.pack(hook, target=change.owner.id))
                await self._pause(stop, self._rng.expovariate(per_minute / 60))

    async def _pause(self, stop: asyncio.Event, seconds: float) -> None:
        waits = [asyncio.ensure_future(stop.wait()), asyncio.ensure_future(self.world.clock.sleep(seconds))]
        try:
            await asyncio.wait(waits, return_when=asyncio.FIRST_COMPLETED)
        finally:
            for each in waits:
                each.cancel()
            await asyncio.gather(*waits, return_exceptions=True)
