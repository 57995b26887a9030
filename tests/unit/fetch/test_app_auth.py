"""GitHub Apps: their tokens never run out while anybody needs one."""

from __future__ import annotations

import asyncio
from datetime import timedelta
from pathlib import Path

import jwt
import pytest
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.asymmetric.rsa import RSAPrivateKey
from structlog.testing import capture_logs

from ghcrawl.fetch.github.app_auth import read_installation
from ghcrawl.fetch.github.principals import Installation, Token, Traits, fingerprint
from ghcrawl.fetch.redaction import Secret
from ghcrawl.values.errors import ConfigError
from ghcrawl.values.outcome import Fetched, Throttled
from ghcrawl.values.requests import Request
from ghcrawl.values.times import iso
from tests.support.builders import NOW, a_request, at
from tests.support.clock import FakeClock
from tests.support.keys import as_pem, public_pem, rsa_key
from tests.unit.fetch.conftest import Start
from tests.unit.fetch.scripted import HANG_UP, Handler, Hit, Reply, Scripted, Watching, a_stored, no, ok, quota, until

PATH = "/repos/acme/web/issues/1"
MINT = "/app/installations/34/access_tokens"


@pytest.fixture
def key() -> RSAPrivateKey:
    return rsa_key()


@pytest.fixture
def app(key: RSAPrivateKey) -> Installation:
    return Installation(app_id="12", installation_id=34, private_key=Secret(as_pem(key)))


def minted(name: str, clock: FakeClock, *, life_s: int = 3600) -> Handler:
    return lambda _: Reply(status=201, body={"token": name, "expires_at": iso(clock.now() + timedelta(seconds=life_s))})


def of(server: Scripted) -> Request:
    return a_request(url=server.url + PATH)


async def test_a_token_is_minted_with_a_jwt_and_used(
    start: Start, server: Scripted, clock: FakeClock, app: Installation, key: RSAPrivateKey
) -> None:
    server.script(MINT, minted("ghs_minted1234", clock))
    server.script(PATH, ok(ETag='"e"'))
    fetcher = await start(credentials=(app,))
    answer = await fetcher.fetch(of(server), None)
    assert isinstance(answer, Fetched)
    mint, asked = server.hits
    assert (mint.method, mint.headers["X-GitHub-Api-Version"]) == ("POST", "2022-11-28")
    claims = jwt.decode(
        mint.token, key.public_key(), algorithms=["RS256"], options={"verify_exp": False, "verify_iat": False}
    )
    now = int(NOW.timestamp())
    assert claims == {"iat": now - 60, "exp": now + 540, "iss": "12"}
    assert claims["exp"] - claims["iat"] <= 600
    assert asked.token == "ghs_minted1234"
    assert answer.validator is not None
    assert answer.validator.principal == fingerprint("ghs_minted1234")


async def test_it_is_used_until_five_minutes_before_its_end(
    start: Start, server: Scripted, clock: FakeClock, app: Installation
) -> None:
    server.script(MINT, minted("ghs_first12345", clock), minted("ghs_second1234", clock))
    server.script(PATH, ok())
    fetcher = await start(credentials=(app,))
    await fetcher.fetch(of(server), None)
    clock.advance(3600 - 301)
    await fetcher.fetch(of(server), None)
    assert len(server.asked(MINT)) == 1
    clock.advance(2)
    await fetcher.fetch(of(server), None)
    assert [hit.token for hit in server.asked(PATH)] == ["ghs_first12345"] * 2 + ["ghs_second1234"]


async def test_an_etag_of_the_last_hours_token_is_not_sent_with_the_next_one(
    start: Start, server: Scripted, clock: FakeClock, app: Installation
) -> None:
    server.script(MINT, minted("ghs_first12345", clock), minted("ghs_second1234", clock))
    url = server.script(PATH, ok(ETag='"e"', Last_Modified="Sat, 21 Nov 2026 10:00:00 GMT"))
    fetcher = await start(credentials=(app,))
    held = (await fetcher.fetch(of(server), None)).validator
    clock.advance(3600)
    await fetcher.fetch(of(server), a_stored(url, validator=held))
    assert "If-None-Match" not in server.hits[-1].headers
    assert "If-Modified-Since" in server.hits[-1].headers


async def test_all_who_need_a_token_wait_for_one_minting(
    start: Start, server: Scripted, clock: FakeClock, app: Installation
) -> None:
    go = asyncio.Event()

    async def slowly(hit: Hit) -> Reply:
        await go.wait()
        reply: Reply = minted("ghs_minted1234", clock)(hit)
        return reply

    server.script(MINT, slowly)
    server.script(PATH, ok())
    fetcher = await start(credentials=(app,))
    tasks = [asyncio.create_task(fetcher.fetch(of(server), None)) for _ in range(10)]
    await until(lambda: bool(server.hits))
    tasks[0].cancel()  # whoever asked first going away is no reason for the others to go without
    await asyncio.gather(tasks[0], return_exceptions=True)
    go.set()
    assert all(isinstance(answer, Fetched | Throttled) for answer in await asyncio.gather(*tasks[1:]))
    assert len(server.asked(MINT)) == 1


async def test_a_401_mints_once_more_and_the_request_goes_on(
    start: Start, server: Scripted, clock: FakeClock, app: Installation
) -> None:
    server.script(MINT, minted("ghs_first12345", clock), minted("ghs_second1234", clock))
    server.script(PATH, lambda hit: no(401, "Bad credentials") if hit.token == "ghs_first12345" else ok())
    fetcher = await start(credentials=(app,))
    assert isinstance(await fetcher.fetch(of(server), None), Fetched)
    assert len(server.asked(MINT)) == 2
    assert fetcher.refused() == ""


async def test_calls_in_flight_with_the_old_token_just_ask_again(
    start: Start, server: Scripted, clock: FakeClock, app: Installation
) -> None:
    server.script(MINT, minted("ghs_first12345", clock), minted("ghs_second1234", clock))
    server.script("/warm", ok())
    both = asyncio.Barrier(2)

    async def together(hit: Hit) -> Reply:
        if hit.token != "ghs_first12345":
            return ok()
        await both.wait()
        return no(401, "Bad credentials")

    server.script(PATH, together)
    fetcher = await start(credentials=(app,))
    await fetcher.fetch(a_request(url=f"{server.url}/warm"), None)
    answers = await asyncio.gather(*(fetcher.fetch(of(server), None) for _ in range(2)))
    assert [type(answer) for answer in answers] == [Fetched, Fetched]
    assert len(server.asked(MINT)) == 2


async def test_a_second_401_retires_the_app(
    start: Start, server: Scripted, clock: FakeClock, app: Installation
) -> None:
    server.script(MINT, minted("ghs_first12345", clock), minted("ghs_second1234", clock))
    server.script(PATH, no(401, "Bad credentials"))
    fetcher = await start(credentials=(app,))
    answer = await fetcher.fetch(of(server), None)
    assert answer == Throttled(until=at(3600), reason="no_principal")
    assert "app 12 installation 34: 401 Bad credentials" in fetcher.refused()
    assert len(server.hits) == 4


async def test_each_hours_token_gets_its_own_second_chance(
    start: Start, server: Scripted, clock: FakeClock, app: Installation
) -> None:
    names = ["ghs_one1234567", "ghs_two1234567", "ghs_three12345", "ghs_four123456"]
    server.script(MINT, *(minted(name, clock) for name in names))
    good = {"ghs_two1234567"}
    server.script(PATH, lambda hit: ok() if hit.token in good else no(401, "Bad credentials"))
    fetcher = await start(credentials=(app,))
    assert isinstance(await fetcher.fetch(of(server), None), Fetched)
    good = {"ghs_three12345"}
    assert isinstance(await fetcher.fetch(of(server), None), Fetched)


@pytest.mark.parametrize(
    ("status", "message"),
    [(401, "A JSON web token could not be decoded"), (404, "Not Found"), (403, "This installation has been suspended")],
)
async def test_an_app_that_gets_no_token_is_retired_with_the_reason(
    start: Start, server: Scripted, app: Installation, status: int, message: str
) -> None:
    server.script(MINT, no(status, message))
    fetcher = await start(credentials=(app,))
    answer = await fetcher.fetch(of(server), None)
    assert answer == Throttled(until=at(3600), reason="no_principal")
    reason = f"no token for installation 34 of GitHub App 12: {status} {message}"
    assert fetcher.refused() == f"app 12 installation 34: {reason}"
    assert len(server.hits) == 1


async def test_an_app_without_a_token_leaves_work_to_the_others(
    start: Start, server: Scripted, app: Installation
) -> None:
    server.script(MINT, no(404, "Not Found"))
    server.script(PATH, ok())
    token = Token(secret=Secret("token-aaaa"))
    fetcher = await start(credentials=(app, token))
    for _ in range(3):
        assert isinstance(await fetcher.fetch(of(server), None), Fetched)


@pytest.mark.parametrize(
    "trouble", [HANG_UP, no(502), no(429), Reply(status=201, body={}), Reply(status=201, raw=b"<")]
)
async def test_trouble_while_minting_is_waited_out(
    start: Start, server: Scripted, clock: FakeClock, app: Installation, trouble: Reply
) -> None:
    server.script(MINT, trouble, minted("ghs_minted1234", clock))
    server.script(PATH, ok())
    fetcher = await start(credentials=(app,))
    with capture_logs() as logs:
        answer = await fetcher.fetch(of(server), None)
    assert answer == Throttled(until=at(30), reason="no_principal")
    assert [line["event"] for line in logs] == ["app_token_failed"]
    clock.advance(30)
    assert isinstance(await fetcher.fetch(of(server), None), Fetched)


async def test_trouble_while_renewing_does_not_matter_while_the_old_token_lives(
    start: Start, server: Scripted, clock: FakeClock, app: Installation
) -> None:
    server.script(MINT, minted("ghs_first12345", clock), HANG_UP, minted("ghs_second1234", clock))
    server.script(PATH, ok())
    fetcher = await start(credentials=(app,))
    await fetcher.fetch(of(server), None)
    clock.advance(3400)
    assert isinstance(await fetcher.fetch(of(server), None), Fetched)
    assert len(server.asked(MINT)) == 2
    clock.advance(10)
    await fetcher.fetch(of(server), None)
    assert len(server.asked(MINT)) == 2
    clock.advance(20)
    await fetcher.fetch(of(server), None)
    assert [hit.token for hit in server.asked(PATH)] == ["ghs_first12345"] * 3 + ["ghs_second1234"]


async def test_a_clock_that_is_wrong_is_found_out_by_the_first_refusal(
    start: Start, server: Scripted, clock: FakeClock, app: Installation, key: RSAPrivateKey
) -> None:
    server.skew = timedelta(hours=-2)

    def only_in_time(hit: Hit) -> Reply:
        claims = jwt.decode(hit.token, key.public_key(), algorithms=["RS256"], options={"verify_signature": False})
        server_now = (clock.now() + server.skew).timestamp()
        if claims["iat"] > server_now:
            return no(401, "'Issued at' claim ('iat') must be an Integer representing the time")
        reply: Reply = minted("ghs_minted1234", clock)(hit)
        return reply

    server.script(MINT, only_in_time)
    server.script(PATH, ok())
    fetcher = await start(credentials=(app,))
    assert isinstance(await fetcher.fetch(of(server), None), Fetched)
    assert len(server.asked(MINT)) == 2


async def test_an_app_that_is_taken_away_while_its_token_is_minted_leaves_work_to_the_others(
    start: Start, server: Scripted, app: Installation
) -> None:
    never = asyncio.Event()

    async def hangs(_: Hit) -> Reply:
        await never.wait()
        return no(500)

    server.script(MINT, hangs)
    server.script(PATH, ok())
    fetcher = await start(credentials=(app,))
    task = asyncio.create_task(fetcher.fetch(of(server), None))
    await until(lambda: bool(server.hits))
    await fetcher.use((Token(secret=Secret("token-aaaa")),))
    assert isinstance(await task, Throttled)
    assert isinstance(await fetcher.fetch(of(server), None), Fetched)
    never.set()


async def test_whoever_is_cancelled_while_a_token_is_minted_is_cancelled(
    start: Start, server: Scripted, app: Installation
) -> None:
    never = asyncio.Event()

    async def hangs(_: Hit) -> Reply:
        await never.wait()
        return no(500)

    server.script(MINT, hangs)
    fetcher = await start(credentials=(app,))
    task = asyncio.create_task(fetcher.fetch(of(server), None))
    await until(lambda: bool(server.hits))
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    never.set()


async def test_no_token_is_minted_that_could_not_be_used(
    start: Start, server: Scripted, clock: FakeClock, app: Installation
) -> None:
    server.script(MINT, minted("ghs_first12345", clock))
    server.script(PATH, Reply(body={}, headers=quota(0, resets_in_s=7200)))
    fetcher = await start(credentials=(app,))
    await fetcher.fetch(of(server), None)
    clock.advance(3600)
    assert isinstance(await fetcher.fetch(of(server), None), Throttled)
    assert len(server.asked(MINT)) == 1


async def test_the_principal_stays_the_same_while_its_tokens_change(
    start: Start, server: Scripted, clock: FakeClock, app: Installation, watching: Watching
) -> None:
    server.script(MINT, minted("ghs_first12345", clock), minted("ghs_second1234", clock))
    server.script(PATH, ok())
    fetcher = await start(credentials=(app,))
    await fetcher.fetch(of(server), None)
    clock.advance(3500)
    await fetcher.fetch(of(server), None)
    assert len({call.principal for call in watching.calls}) == 1
    assert [call.resource for call in watching.calls] == ["mint", "core", "mint", "core"]


def test_a_key_file_is_read(tmp_path: Path, key: RSAPrivateKey) -> None:
    file = tmp_path / "app.pem"
    file.write_text(as_pem(key))
    app = read_installation("12", 34, file, Traits(private=True))
    assert (app.app_id, app.installation_id, app.traits.private) == ("12", 34, True)
    assert "PRIVATE" not in repr(app)


UNUSABLE = [None, b"nonsense-nonsense", b"\xff\xfe", "public", "curve", b"-----BEGIN RSA PRIVATE KEY-----\nnonsense"]


@pytest.mark.parametrize("content", UNUSABLE)
def test_a_key_that_cannot_sign_is_one_clear_line(
    tmp_path: Path, key: RSAPrivateKey, content: bytes | str | None
) -> None:
    file = tmp_path / "app.pem"
    if content == "public":
        content = public_pem(key).encode()
    if content == "curve":
        content = as_pem(ec.generate_private_key(ec.SECP256R1())).encode()
    if isinstance(content, bytes):
        file.write_bytes(content)
    with pytest.raises(ConfigError, match="key of GitHub App 12") as raised:
        read_installation("12", 34, file)
    error = raised.value
    assert "nonsense" not in str(error)
    assert error.__context__ is None or "nonsense" not in repr(error.__context__)


async def test_a_key_given_as_text_is_checked_when_it_is_opened(start: Start) -> None:
    with pytest.raises(ConfigError, match="no RSA private key"):
        await start(credentials=(Installation(app_id="12", installation_id=34, private_key=Secret("nonsense")),))
