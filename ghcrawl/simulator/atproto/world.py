"""Accounts, posts and follows, made from a seed."""

from __future__ import annotations

import random
import time
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from hashlib import sha256
from typing import Any, Final

POST: Final = "app.bsky.feed.post"
NAMES: Final = ("alice", "bob", "carla", "dan", "erin", "frank", "grace", "heidi", "ivan", "judy")
WORDS: Final = (
    *("the", "crawler", "found", "a", "new", "river", "near", "an", "old", "mill"),
    *("and", "wrote", "down", "every", "stone", "it", "saw", "that", "day"),
)
FIRST: Final = datetime(2026, 1, 1, tzinfo=UTC)


@dataclass(slots=True, kw_only=True)
class Post:
    """One post. value: the record."""

    rkey: str
    value: dict[str, Any]

    @property
    def cid(self) -> str:
        """Names this version of the record."""
        return "bafyrei" + sha256(repr(self.value).encode()).hexdigest()[:52]


@dataclass(slots=True, kw_only=True)
class Account:
    """One account. posts: the newest last."""

    did: str
    handle: str
    posts: list[Post] = field(default_factory=list)
    follows: list[str] = field(default_factory=list)

    def uri(self, post: Post) -> str:
        """Of one of its posts."""
        return f"at://{self.did}/{POST}/{post.rkey}"


class World:
    """Accounts by DID, and what happened since it was made, in order."""

    def __init__(self) -> None:
        self.accounts: dict[str, Account] = {}
        self.events: list[dict[str, Any]] = []
        self._keys = 0

    def find(self, actor: str) -> Account | None:
        """The account with this DID or handle."""
        return self.accounts.get(actor) or next((one for one in self.accounts.values() if one.handle == actor), None)

    def named(self, name: str) -> Account:
        """The account `name.test`."""
        found = self.find(f"{name}.test")
        assert found is not None, name
        return found

    def join(self, handle: str) -> Account:
        """A new account."""
        name = sha256(handle.encode()).hexdigest()[:24].translate(str.maketrans("0189", "wxyz"))
        account = Account(did=f"did:plc:{name}", handle=handle)
        self.accounts[account.did] = account
        return account

    def post(self, account: Account, text: str, **more: Any) -> Post:
        """It posts."""
        self._keys += 1
        created = FIRST + timedelta(minutes=self._keys)
        value = {"$type": POST, "text": text, "createdAt": created.isoformat().replace("+00:00", "Z"), **more}
        post = Post(rkey=f"3k{self._keys:011d}", value=value)
        account.posts.append(post)
        self._happened(account, "create", post)
        return post

    def delete(self, account: Account, post: Post) -> None:
        """It deletes a post."""
        account.posts.remove(post)
        self._happened(account, "delete", post)

    def _happened(self, account: Account, operation: str, post: Post) -> None:
        time_us = max(time.time_ns() // 1000, self.events[-1]["time_us"] + 1 if self.events else 0)
        commit: dict[str, Any] = {"rev": str(time_us), "operation": operation, "collection": POST, "rkey": post.rkey}
        if operation == "create":
            commit |= {"record": post.value, "cid": post.cid}
        self.events.append({"did": account.did, "time_us": time_us, "kind": "commit", "commit": commit})


def generate(*, accounts: int = 10, posts: int = 400, seed: int = 0) -> World:
    """That many accounts with that many posts in all; some answer others, link, and mention."""
    chance, world = random.Random(seed), World()  # noqa: S311  # made-up posts
    names = [NAMES[number] if number < len(NAMES) else f"user{number}" for number in range(accounts)]
    people = [world.join(f"{name}.test") for name in names]
    for person in people:
        others = [other.did for other in people if other is not person]
        person.follows = sorted(chance.sample(others, chance.randint(0, len(others))))
    for _ in range(posts):
        author, text = chance.choice(people), " ".join(chance.sample(WORDS, 7))
        more: dict[str, Any] = {}
        if chance.random() < 0.2 and (answered := _some_post(chance, people)):
            more["reply"] = {"root": answered, "parent": answered}
        if chance.random() < 0.1:
            more["embed"] = {"$type": "app.bsky.embed.external", "external": {"uri": "https://example.org/river"}}
        world.post(author, text, **more)
    world.events.clear()
    return world


def _some_post(chance: random.Random, people: list[Account]) -> dict[str, str] | None:
    author = chance.choice(people)
    if not author.posts:
        return None
    post = chance.choice(author.posts)
    return {"uri": author.uri(post), "cid": post.cid}
