"""Whether tokens are any good: whose each is, and what is left of its limit."""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping, Sequence

from ghcrawl.fetch.client import Client
from ghcrawl.fetch.mastodon.answers import SCHEME, limit_of, parsed, said
from ghcrawl.fetch.mastodon.fetcher import USER_AGENT, MastodonSettings, web_url
from ghcrawl.fetch.mastodon.hosts import CredentialSlot
from ghcrawl.fetch.mastodon.tokens import HostToken
from ghcrawl.platforms.credentials import CredentialCheck
from ghcrawl.ports.clock import Clock


async def check(
    settings: MastodonSettings, tokens: Sequence[HostToken], clock: Clock
) -> AsyncIterator[CredentialCheck]:
    """Ask the host of each token whose it is. Raises FetchError."""
    client = Client(clock, headers={"User-Agent": USER_AGENT}, timeout_s=settings.timeout_s)
    await client.open()
    try:
        for token in tokens:
            url = web_url(f"{SCHEME}://{token.host}/api/v1/accounts/verify_credentials")
            answer = await client.ask("GET", url, CredentialSlot(token.host, token).authorization)
            limit = limit_of(answer, clock.now())
            body = parsed(answer) if answer.status == 200 else {}
            acct = body.get("acct") if isinstance(body, Mapping) else ""
            yield CredentialCheck(
                label=token.label,
                login=f"{acct}@{token.host}" if acct else "",
                limit=limit.limit if limit else None,
                remaining=limit.remaining if limit else None,
                reset_at=limit.until if limit else None,
                trouble="" if answer.status == 200 else said(answer),
            )
    finally:
        await client.close()
