"""What an AppView shows of accounts and posts."""

from __future__ import annotations

from typing import Any

from ghcrawl.simulator.atproto.world import Account, Post, World

Json = dict[str, Any]


def basic(account: Account) -> Json:
    """An account in a list."""
    return {"did": account.did, "handle": account.handle, "displayName": account.handle.partition(".")[0].title()}


def detailed(world: World, account: Account) -> Json:
    """An account with its counters."""
    followers = sum(account.did in other.follows for other in world.accounts.values())
    counts = {"followersCount": followers, "followsCount": len(account.follows), "postsCount": len(account.posts)}
    return {**basic(account), **counts}


def view(account: Account, post: Post) -> Json:
    """A post."""
    return {
        "uri": account.uri(post),
        "cid": post.cid,
        "author": basic(account),
        "record": post.value,
        "replyCount": 0,
        "repostCount": 0,
        "likeCount": 0,
        "indexedAt": post.value["createdAt"],
    }
