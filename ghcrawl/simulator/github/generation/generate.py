"""From a seed and a size to a world."""

from __future__ import annotations

from typing import Final

from ghcrawl.ports.clock import Clock, SystemClock
from ghcrawl.simulator.chance import seeded
from ghcrawl.simulator.github.generation.accounts import add_org, add_teams, add_users, staff
from ghcrawl.simulator.github.generation.quirks import add_odd_repos, add_odd_things
from ghcrawl.simulator.github.generation.records import plan
from ghcrawl.simulator.github.generation.repository import Setting, found_repo, grow_repo
from ghcrawl.simulator.github.generation.size import SMALL, WorldSize
from ghcrawl.simulator.github.moments import UNTIL
from ghcrawl.simulator.github.world import World

REPO_NAMES: Final = ("web", "api", "docs", "infra", "mobile", "sdk-python", "sdk-go", "cli", "engine", "design")


def generate(size: WorldSize = SMALL, *, seed: int = 0, clock: Clock | None = None) -> World:
    """The world of that seed and size; everything in it happened before 2026."""
    world = World(clock=clock or SystemClock())
    rng = seeded(seed)
    people = add_users(world, rng, size.users, UNTIL)
    setting = Setting(world=world, size=size, people=people, seed=seed)
    orgs = [add_org(world, rng, number, people, UNTIL) for number in range(size.orgs)]
    for number, org in reversed(list(enumerate(orgs))):
        for name in _names(size.repos if number == 0 else max(1, size.repos // 4)):
            grow_repo(setting, found_repo(setting, org, name))
        if number == 0 and size.quirks:
            add_odd_repos(setting, org)
        add_teams(world, rng, org, size, UNTIL)
        staff(rng, org, world.repos_of(org))
        plan(world, seeded(seed, org.login, "plans"), org, size, people)
    for user in people[: size.owners]:
        grow_repo(setting, found_repo(setting, user, "dotfiles"))
    if size.quirks and orgs:
        add_odd_things(world.repos_of(orgs[0])[0])
    return world


def _names(count: int) -> list[str]:
    """`count` names for repositories, none twice."""
    rounds = range(count // len(REPO_NAMES) + 1)
    return [f"{name}-{turn + 1}" if turn else name for turn in rounds for name in REPO_NAMES][:count]
