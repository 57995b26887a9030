"""Tables of the AT Protocol: profiles, posts, who follows whom."""

from __future__ import annotations

from typing import Final

from ghcrawl.platforms.columns import columns, linked, made
from ghcrawl.platforms.tables import Schema, Table, relation, several, table
from processors.atproto.names import NAME

PROFILES: Final = "bluesky_profiles"
POSTS: Final = "bluesky_posts"
_URL: Final = columns("text", "url=value")


def _people(kind: str) -> Table:
    """The accounts on a list."""
    return relation(
        NAME,
        kind,
        linked("profile_urn", "origin", f"{PROFILES}.urn"),
        made("other_urn", "urn:atproto:{did}", f"{PROFILES}.urn"),
        *columns("text", "did handle display_name=displayName description"),
        *columns("timestamp", "created_at=createdAt"),
        name=f"bluesky_{kind}",
        pages_of=f":{kind}",
    )


TABLES: Final = Schema(
    version=1,
    tables=(
        table(
            NAME,
            "profile",
            *columns("text", "did handle display_name=displayName description website pronouns avatar banner"),
            *columns("integer", "followers_count=followersCount follows_count=followsCount posts_count=postsCount"),
            *columns("timestamp", "created_at=createdAt indexed_at=indexedAt"),
            *columns("json", "labels associated verification pinned_post=pinnedPost record"),
            name=PROFILES,
            links=(several("profile", PROFILES, "outlinks", "", *_URL, link="outlinks"),),
            left_out="viewer joinedViaStarterPack status debug",
        ),
        table(
            NAME,
            "post",
            *columns("text", "uri cid author_did=author.did author_handle=author.handle text=record.text"),
            *columns("integer", "reply_count=replyCount repost_count=repostCount like_count=likeCount"),
            *columns("integer", "quote_count=quoteCount bookmark_count=bookmarkCount"),
            *columns("timestamp", "created_at=record.createdAt indexed_at=indexedAt"),
            linked("author_urn", "author", f"{PROFILES}.urn"),
            linked("reply_to_urn", "reply_to", f"{POSTS}.urn"),
            linked("thread_urn", "thread", f"{POSTS}.urn"),
            linked("quotes_urn", "quotes", f"{POSTS}.urn"),
            *columns("json", "labels facets=record.facets embed=record.embed"),
            name=POSTS,
            links=(
                several("post", POSTS, "languages", "record.langs", *columns("text", "language=value")),
                several("post", POSTS, "tags", "record.tags", *columns("text", "name=value")),
                several("post", POSTS, "outlinks", "", *_URL, link="outlinks"),
                several("post", POSTS, "media", "", *_URL, link="media"),
                several("post", POSTS, "mentions", "", *columns("text", "profile_urn=value"), link="mentions"),
            ),
            left_out="embed viewer threadgate debug",
        ),
        _people("follows"),
        _people("followers"),
    ),
)
"""The schema of the AT Protocol."""
