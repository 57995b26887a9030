"""Mastodon's tables: accounts, statuses, who follows, shares and likes."""

from __future__ import annotations

from typing import Final

from ghcrawl.platforms.columns import Column, columns, linked
from ghcrawl.platforms.tables import Schema, Table, relation, several, table
from processors.mastodon.names import NAME

ACCOUNTS: Final = "mastodon_accounts"
STATUSES: Final = "mastodon_statuses"
_URL: Final = columns("text", "url=value")
_ACCOUNT: Final[tuple[Column, ...]] = (
    *columns("text", "id uri username acct display_name html_url=url note avatar header"),
    *columns("integer", "followers_count following_count statuses_count"),
    *columns("boolean", "bot locked group discoverable indexable noindex hide_collections suspended limited memorial"),
    *columns("timestamp", "created_at last_status_at"),
)
_LEFT_OUT: Final = "url avatar_static header_static avatar_description header_description"


def _people(kind: str, of: str) -> Table:
    """The accounts on a list, as their host shows them there. of: table of what the list belongs to."""
    owner = linked("status_urn" if of == STATUSES else "account_urn", "owner", f"{of}.urn")
    left_out = f"{_LEFT_OUT} fields emojis roles moved source"
    return relation(
        NAME, kind, owner, *_ACCOUNT, name=f"mastodon_{kind}", pages_of=f"/{kind}?limit=80", left_out=left_out
    )


TABLES: Final = Schema(
    version=1,
    tables=(
        table(
            NAME,
            "account",
            *_ACCOUNT,
            linked("moved_urn", "moved", f"{ACCOUNTS}.urn"),
            *columns("json", "emojis roles source"),
            name=ACCOUNTS,
            links=(
                several(
                    "account",
                    ACCOUNTS,
                    "fields",
                    "fields",
                    *columns("text", "name value"),
                    *columns("timestamp", "verified_at"),
                ),
                several("account", ACCOUNTS, "outlinks", "", *_URL, link="outlinks"),
            ),
            left_out=f"{_LEFT_OUT} moved",
        ),
        table(
            NAME,
            "status",
            *columns(
                "text", "id uri visibility language spoiler_text content html_url=url application=application.name"
            ),
            *columns("text", "account_id=account.id acct=account.acct in_reply_to_id in_reply_to_account_id"),
            *columns("integer", "replies_count reblogs_count favourites_count quotes_count"),
            *columns("boolean", "sensitive"),
            *columns("timestamp", "created_at edited_at"),
            linked("account_urn", "author", f"{ACCOUNTS}.urn"),
            linked("reply_to_urn", "reply_to", f"{STATUSES}.urn"),
            linked("reblog_urn", "reblog", f"{STATUSES}.urn"),
            linked("quote_urn", "quote", f"{STATUSES}.urn"),
            *columns("json", "card poll emojis quote_approval"),
            name=STATUSES,
            links=(
                several("status", STATUSES, "tags", "tags", *columns("text", "name tag_url=url")),
                several(
                    "status", STATUSES, "mentions", "mentions", *columns("text", "id acct username account_url=url")
                ),
                several(
                    "status",
                    STATUSES,
                    "media",
                    "media_attachments",
                    *columns("text", "id type media_url=url remote_url preview_url description blurhash"),
                    *columns("json", "meta"),
                ),
                several("status", STATUSES, "outlinks", "", *_URL, link="outlinks"),
            ),
            left_out="url reblog quote account favourited reblogged muted bookmarked pinned filtered text",
        ),
        _people("followers", ACCOUNTS),
        _people("following", ACCOUNTS),
        _people("reblogged_by", STATUSES),
        _people("favourited_by", STATUSES),
    ),
)
"""Mastodon's schema."""
