"""What the host's API shows of its world."""

from __future__ import annotations

import re
from collections.abc import Sequence
from html import escape
from typing import Any

from ghcrawl.simulator.mastodon.world import Account, Status, World

Json = dict[str, Any]


class Shapes:
    """JSON of a host whose web address is `base`."""

    def __init__(self, world: World, base: str) -> None:
        self._world = world
        self._base = base

    def account(self, account: Account) -> Json:
        """An account. Of one that is suspended nothing but its name."""
        world, shown = self._world, not account.suspended
        body = {
            "id": str(account.id),
            "username": account.name,
            "acct": account.name,
            "display_name": account.name.title() if shown else "",
            "locked": False,
            "bot": False,
            "created_at": "2026-01-01T00:00:00.000Z",
            "note": f'<p>See <a href="https://{account.name}.example/">my pages</a></p>' if shown else "",
            "url": f"{self._base}/@{account.name}",
            "uri": f"{self._base}/users/{account.name}",
            "followers_count": sum(followed == account.id for _, followed in world.follows),
            "following_count": sum(follower == account.id for follower, _ in world.follows),
            "statuses_count": len(world.of(account)),
            "hide_collections": account.hidden,
            "noindex": account.unindexed,
            "fields": [],
        }
        return body if shown else {**body, "suspended": True}

    def status(self, status: Status) -> Json:
        """A status with its author, and what it passes on."""
        world = self._world
        author, shared = world.accounts[status.author], world.statuses.get(status.shared or 0)
        answered = world.statuses.get(status.reply_to or 0)
        marks = " ".join(f'<a href="{self._base}/tags/{tag}" class="mention hashtag">#{tag}</a>' for tag in status.tags)
        place = f"{self._base}/@{author.name}/{status.id}"
        return {
            "id": str(status.id),
            "created_at": status.created,
            "edited_at": status.edited or None,
            "in_reply_to_id": str(answered.id) if answered else None,
            "in_reply_to_account_id": str(answered.author) if answered else None,
            "visibility": "public",
            "uri": f"{self._base}/users/{author.name}/statuses/{status.id}",
            "url": place,
            "replies_count": sum(each.reply_to == status.id for each in world.statuses.values()),
            "reblogs_count": sum(each.shared == status.id for each in world.statuses.values()),
            "favourites_count": 0,
            "content": f"<p>{_linked(status.words)} {marks}</p>",
            "reblog": self.status(shared) if shared else None,
            "account": self.account(author),
            "media_attachments": [],
            "tags": [{"name": tag, "url": f"{self._base}/tags/{tag}"} for tag in status.tags],
        }

    def statuses(self, statuses: Sequence[Status]) -> list[Json]:
        """Several."""
        return [self.status(each) for each in statuses]

    def accounts(self, accounts: Sequence[Account]) -> list[Json]:
        """Several."""
        return [self.account(each) for each in accounts]


def _linked(words: str) -> str:
    """The words as HTML, with their URLs as links."""
    return re.sub(r"https?://\S+", lambda url: f'<a href="{url[0]}">{url[0]}</a>', escape(words))
