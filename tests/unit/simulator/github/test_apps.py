from __future__ import annotations

from datetime import datetime, timedelta
from typing import Any

import jwt
import pytest
from cryptography.hazmat.primitives.asymmetric.rsa import RSAPrivateKey

from ghcrawl.simulator.clock import SimClock
from ghcrawl.simulator.github.apps import App, Installation
from ghcrawl.simulator.github.server import Setup
from ghcrawl.simulator.github.world import World
from tests.support.keys import public_pem, rsa_key
from tests.unit.simulator.github.conftest import Hub, Start

APP = App(id=99, public_key=public_pem(rsa_key()), installations=(Installation(id=7, login="acme", limit=12_500),))
MINT = "/app/installations/7/access_tokens"


def claim(now: datetime, *, key: RSAPrivateKey | None = None, **over: Any) -> str:
    seconds = int(now.timestamp())
    claims = {"iat": seconds - 60, "exp": seconds + 540, "iss": "99"} | over
    return jwt.encode(claims, key or rsa_key(), algorithm="RS256")


@pytest.fixture
async def hub(small: World, start: Start) -> Hub:
    return await start(small, Setup(app=APP))


async def mint(hub: Hub, clock: SimClock) -> str:
    got = await hub.get(MINT, token=claim(clock.now()), method="POST")
    assert got.status == 201
    token: str = got.json["token"]
    return token


async def test_a_signed_claim_buys_a_token_that_lasts_an_hour(hub: Hub, clock: SimClock) -> None:
    got = await hub.get(MINT, token=claim(clock.now()), method="POST")
    assert (got.status, got.json["expires_at"]) == (201, "2026-11-21T13:00:00Z")
    token = got.json["token"]
    assert token.startswith("ghs_99_")
    assert len(token) > 400
    assert "." in token
    first = await hub.get("/repos/acme/plans", token=token)
    assert (first.status, first.headers["X-RateLimit-Limit"]) == (200, "12500")
    clock.advance(3599)
    assert (await hub.get("/repos/acme/plans", token=token)).status == 200
    clock.advance(1)
    late = await hub.get("/repos/acme/plans", token=token)
    assert (late.status, late.json["message"]) == (401, "Bad credentials")


async def test_tokens_of_one_installation_share_a_budget_and_no_etag(hub: Hub, clock: SimClock) -> None:
    first, second = await mint(hub, clock), await mint(hub, clock)
    assert first != second
    one, other = await hub.get("/orgs/acme", token=first), await hub.get("/orgs/acme", token=second)
    assert (other.remaining, one.raw) == (one.remaining - 1, other.raw)
    assert one.headers["ETag"] != other.headers["ETag"]


async def test_installations_are_listed(hub: Hub, clock: SimClock) -> None:
    got = await hub.get("/app/installations", token=claim(clock.now()))
    assert [(each["id"], each["account"]["login"]) for each in got.json] == [(7, "acme")]
    assert (await hub.get("/app", token=claim(clock.now()))).json["id"] == 99


async def test_claims_that_are_not_good_now_are_401(hub: Hub, clock: SimClock) -> None:
    now = clock.now()
    for bad in (
        claim(now, key=rsa_key("another's")),
        claim(now - timedelta(hours=1)),
        claim(now + timedelta(hours=1)),
        claim(now, exp=int(now.timestamp()) + 3600),
        claim(now, exp=int(now.timestamp())),
        "made-up",
    ):
        got = await hub.get(MINT, token=bad, method="POST")
        assert got.status == 401, bad
    assert (await hub.get(MINT, token=claim(now, iss="1"), method="POST")).status == 404
    assert (await hub.get(MINT, token=None, method="POST")).status == 401
    assert (await hub.get("/app/installations/8/access_tokens", token=claim(now), method="POST")).status == 404
    assert (await hub.get(MINT, token=claim(now))).status == 404
    assert hub.server.backend
    assert hub.server.backend.minted == 0


async def test_a_claim_is_no_token_and_a_token_no_claim(hub: Hub, clock: SimClock) -> None:
    assert (await hub.get("/orgs/acme", token=claim(clock.now()))).status == 401
    assert (await hub.get("/app/installations", token=await mint(hub, clock))).status == 401


async def test_without_an_app_there_are_no_such_routes(tiny: World, start: Start, clock: SimClock) -> None:
    hub = await start(tiny)
    assert (await hub.get("/app/installations")).status == 404
