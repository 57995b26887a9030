"""What a test does on the reference servers in the name of an account."""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from datetime import UTC, datetime
from typing import Any

import aiohttp

from tests.support.services.atproto import PASSWORD, Network

Ask = Any
"""Calls a method: `await ask(name, token="", body={…}, **params)`; its body, whatever the status, and the response."""


@asynccontextmanager
async def asking(network: Network) -> AsyncIterator[Ask]:
    """Calls methods of the PDS, unless they say at which server."""
    async with aiohttp.ClientSession() as session:

        async def call(name: str, *, at: str = network.pds, token: str = "", body: Any = None, **params: str) -> Any:
            headers = {"Authorization": f"Bearer {token}"} if token else {}
            method = "GET" if body is None else "POST"
            async with session.request(
                method, f"{at}/xrpc/{name}", headers=headers, json=body, params=params
            ) as response:
                return await response.json(), response

        yield call


async def joined(ask: Ask, name: str) -> Mapping[str, Any]:
    """The session of a new account."""
    body = {"handle": f"{name}.test", "email": f"{name}@mail.test", "password": PASSWORD}
    made, response = await ask("com.atproto.server.createAccount", body=body)
    assert response.status == 200, made
    return dict(made)


async def posted_at_once(ask: Ask, session: Mapping[str, Any], texts: Sequence[str]) -> None:
    """New posts, in one commit."""
    writes = [
        {"$type": "com.atproto.repo.applyWrites#create", "collection": "app.bsky.feed.post", "value": record(text)}
        for text in texts
    ]
    body = {"repo": session["did"], "writes": writes}
    said, response = await ask("com.atproto.repo.applyWrites", token=session["accessJwt"], body=body)
    assert response.status == 200, said


def record(text: str) -> dict[str, str]:
    """A post that is written now."""
    return {"$type": "app.bsky.feed.post", "text": text, "createdAt": datetime.now(UTC).isoformat()}


async def signed_in(ask: Ask, name: str) -> Mapping[str, Any]:
    body, _ = await ask("com.atproto.server.createSession", body={"identifier": f"{name}.test", "password": PASSWORD})
    return dict(body)


async def posted(ask: Ask, session: Mapping[str, Any], text: str) -> str:
    """The URI of a new post."""
    body = {"repo": session["did"], "collection": "app.bsky.feed.post", "record": record(text)}
    made, _ = await ask("com.atproto.repo.createRecord", token=session["accessJwt"], body=body)
    return str(made["uri"])


async def repository(ask: Ask, did: str) -> list[str]:
    """The URIs of all posts of an account."""
    found: list[str] = []
    params = {"repo": did, "collection": "app.bsky.feed.post", "limit": "100"}
    while True:
        page, _ = await ask("com.atproto.repo.listRecords", **params)
        found += [each["uri"] for each in page["records"]]
        if not page.get("cursor") or not page["records"]:
            return found
        params["cursor"] = page["cursor"]
