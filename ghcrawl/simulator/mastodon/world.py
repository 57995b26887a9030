"""What one host holds, and what happens there."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Final

from msgspec import Struct

from ghcrawl.ports.clock import Clock
from ghcrawl.simulator.chance import seeded
from ghcrawl.values.frozen import replace

TAGS: Final = ("python", "crawling", "weather", "bread", "trains")
WORDS: Final = (
    *("The", "wind", "turns", "north", "and", "a", "long"),
    *("train", "leaves", "early", "with", "fresh", "bread"),
)


class Account(Struct, frozen=True, kw_only=True):
    """An account. suspended: by the host. hidden: its relations are not shown. unindexed: it opts out of indexing."""

    id: int
    name: str
    suspended: bool = False
    hidden: bool = False
    unindexed: bool = False


class Status(Struct, frozen=True, kw_only=True):
    """A post. created, edited: ISO 8601 moments; edited is empty until it is changed."""

    id: int
    author: int
    words: str
    created: str
    tags: tuple[str, ...] = ()
    reply_to: int | None = None
    shared: int | None = None
    edited: str = ""


@dataclass(slots=True)
class World:
    """All of it. Ids grow with time, as Mastodon's do: milliseconds, shifted by 16 bits."""

    clock: Clock
    accounts: dict[int, Account] = field(default_factory=dict)
    statuses: dict[int, Status] = field(default_factory=dict)
    follows: list[tuple[int, int]] = field(default_factory=list)
    listeners: list[Callable[[str, Status], None]] = field(default_factory=list)
    _last: int = 0

    def next_id(self) -> int:
        """Greater than every one before."""
        self._last = max(self._last + 1, int(self.clock.now().timestamp() * 1000) << 16)
        return self._last

    def join(self, name: str, *, suspended: bool = False) -> Account:
        """A new account."""
        account = Account(id=self.next_id(), name=name, suspended=suspended)
        self.accounts[account.id] = account
        return account

    def named(self, name: str) -> Account | None:
        """The account called so."""
        return next((each for each in self.accounts.values() if each.name == name), None)

    def post(
        self,
        author: Account,
        words: str,
        *,
        tags: Sequence[str] = (),
        reply_to: Status | None = None,
        shared: Status | None = None,
    ) -> Status:
        """A new status. shared: it only passes on that one."""
        status = Status(
            id=self.next_id(),
            author=author.id,
            words=words,
            created=self._moment(),
            tags=tuple(tags),
            reply_to=reply_to.id if reply_to else None,
            shared=shared.id if shared else None,
        )
        self.statuses[status.id] = status
        self._tell("update", status)
        return status

    def edit(self, status: Status, words: str) -> Status:
        """It says something else from now on."""
        changed = self.statuses[status.id] = replace(status, words=words, edited=self._moment())
        self._tell("status.update", changed)
        return changed

    def delete(self, status: Status) -> None:
        """It is gone."""
        del self.statuses[status.id]
        self._tell("delete", status)

    def follow(self, follower: Account, followed: Account) -> None:
        """One reads the other from now on."""
        self.follows.append((follower.id, followed.id))

    def of(self, account: Account) -> list[Status]:
        """What an account wrote and passed on, the newest first."""
        return [status for status in self.newest() if status.author == account.id]

    def newest(self) -> Iterator[Status]:
        """All of them, the newest first."""
        return iter(sorted(self.statuses.values(), key=lambda status: -status.id))

    def _tell(self, event: str, status: Status) -> None:
        for listener in [*self.listeners]:
            listener(event, status)

    def _moment(self) -> str:
        return self.clock.now().isoformat(timespec="milliseconds").replace("+00:00", "Z")


def generate(clock: Clock, *, accounts: int = 5, statuses: int = 100, seed: int = 0) -> World:
    """A host with `accounts` people called user1, user2, … who wrote `statuses` among them, and follow each other."""
    world, chance = World(clock), seeded(seed, "mastodon")
    people = [world.join(f"user{number}") for number in range(1, accounts + 1)]
    written: list[Status] = []
    for number in range(statuses):
        author, roll = people[number % accounts], chance.random()
        tags = chance.sample(TAGS, 1 + int(chance.random() * 2)) if roll < 0.6 else []
        words = " ".join(chance.choices(WORDS, k=8))
        if roll > 0.9 and written:
            written.append(world.post(author, "", shared=chance.choice(written)))
        else:
            answered = chance.choice(written) if roll > 0.7 and written else None
            written.append(world.post(author, words, tags=tags, reply_to=answered))
    for follower in people:
        for followed in people:
            if follower is not followed and chance.random() < 0.7:
                world.follow(follower, followed)
    return world
