"""No credential in anything that may be read: logs, errors, dumps."""

from __future__ import annotations

import asyncio
import traceback
from typing import Any

import pytest

from ghcrawl.fetch.github.fetcher import GitHubFetcher
from ghcrawl.fetch.github.principals import read_tokens
from ghcrawl.fetch.github.settings import GitHubSettings
from ghcrawl.fetch.redaction import Redactor, Secret
from ghcrawl.values.errors import FetchError
from tests.support.builders import a_request, an_egress
from tests.support.clock import FakeClock
from tests.unit.fetch.conftest import Start
from tests.unit.fetch.scripted import HANG_UP, Reply, Scripted, Watching, no, ok

JWT = "eyJhbGciOiJSUzI1NiJ9.eyJpc3MiOiIxMiIsImV4cCI6MTc5NX0.c2lnbmF0dXJlLXNpZ25hdHVyZQ"
SHAPES = [
    "ghp_16C7e42F292c6912E7710c838347Ae178B4a",
    "gho_16C7e42F292c6912E7710c838347Ae178B4a",
    "ghu_16C7e42F292c6912E7710c838347Ae178B4a",
    "ghr_16C7e42F292c6912E7710c838347Ae178B4a",
    "ghs_16C7e42F292c6912E7710c838347Ae178B4a",
    f"ghs_123456_{JWT}{'x' * 400}.{'y' * 50}",
    "github_pat_11ABCDEFG0abcdefghijkl_ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456",
    JWT,
    "v1." + "1f699f1069f600aa" * 2 + "deadbeef",
]


@pytest.mark.parametrize("token", SHAPES)
def test_whatever_looks_like_a_token_is_masked(token: str) -> None:
    text = Redactor().text(f"GET failed with {token}, sorry")
    assert token not in text
    assert text.startswith("GET failed with [redacted]")
    assert text.endswith(" sorry")


@pytest.mark.parametrize(
    "text",
    [
        "Authorization: Bearer abcdefghijkl",
        "{'Authorization': 'token abcdefghijkl'}",
        "https://octocat:abcdefghijkl@github.com/x",
        "https://api.github.com/user?access_token=abcdefghijkl&x=1",
        "-----BEGIN RSA PRIVATE KEY-----\nabcdefghijkl\n-----END RSA PRIVATE KEY-----",
        "-----BEGIN PRIVATE KEY-----\nabcdefghijkl",
    ],
)
def test_whatever_carries_a_credential_is_masked(text: str) -> None:
    assert "abcdefghijkl" not in Redactor().text(text)


@pytest.mark.parametrize(
    "text",
    [
        "commit 16c7e42f292c6912e7710c838347ae178b4a1234 by token 1f6f4f192e23",
        "https://api.github.com/repos/acme/web/issues?per_page=100&after=Y3Vyc29yOnYyOpK5",
        "urn:repo:12:issue:34",
    ],
)
def test_ordinary_text_stays_as_it_is(text: str) -> None:
    assert Redactor().text(text) == text


def test_a_known_secret_is_masked_whatever_it_looks_like() -> None:
    redactor = Redactor()
    redactor.add("correct-horse")
    assert redactor.text("it is correct-horse!") == "it is [redacted]!"
    redactor.discard("correct-horse")
    assert redactor.text("it is correct-horse!") == "it is correct-horse!"


def test_what_is_too_short_to_be_a_secret_does_not_garble_every_text() -> None:
    redactor = Redactor()
    redactor.add("a")
    redactor.add("")
    assert redactor.text("a banana") == "a banana"


def test_log_events_are_cleaned_at_any_depth() -> None:
    event = {"event": "x", "n": 1, "deep": [{"a": (SHAPES[0],)}, SHAPES[1]], "exception": f"Traceback {SHAPES[2]}"}
    cleaned = repr(Redactor()(None, "info", event))
    assert not any(token in cleaned for token in SHAPES)
    assert "'n': 1" in cleaned


def test_a_secret_is_text_that_does_not_show_itself() -> None:
    secret = Secret("Bearer ghp_secret")
    assert secret == "Bearer ghp_secret"
    assert f"{secret}" == str(secret) == "Bearer ghp_secret"
    assert "ghp_secret" not in repr({"Authorization": secret}) + repr([secret]) + f"{secret!r}"


def everything_in(error: BaseException) -> str:
    """All that an error, its causes and contexts, their arguments and attributes would tell."""
    told: list[str] = []
    queue: list[BaseException | None] = [error]
    while queue:
        one = queue.pop()
        if one is not None:
            told += [str(one), repr(one), repr(one.args), repr(vars(one))]
            queue += [one.__cause__, one.__context__]
    told += traceback.format_exception(error)
    return "\n".join(told)


def variables_of(error: BaseException) -> str:
    """The local variables of every frame of ours, as a rich traceback would show them."""
    shown = []
    for frame, _ in traceback.walk_tb(error.__traceback__):
        if "ghcrawl" in frame.f_code.co_filename:
            shown += [f"{name}={value!r}" for name, value in frame.f_locals.items()]
    return "\n".join(shown)


TOKEN = "token-that-must-not-show"


async def raw_line(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    await reader.readuntil(b"\r\n\r\n")
    writer.write(b"NONSENSE 99\r\n\r\n")
    await writer.drain()
    writer.close()


@pytest.mark.parametrize("line", [HANG_UP, no(502), Reply(raw=b"<html>"), Reply(status=304), Reply(status=409)])
async def test_no_error_tells_the_token(
    start: Start, server: Scripted, line: Reply, capsys: pytest.CaptureFixture[str]
) -> None:
    url = server.script("/x", line)
    fetcher = await start(TOKEN)
    with pytest.raises(FetchError) as raised:
        await fetcher.fetch(a_request(url=url), None)
    assert TOKEN not in everything_in(raised.value)
    assert TOKEN not in variables_of(raised.value)
    captured = capsys.readouterr()
    assert TOKEN not in captured.out + captured.err


async def test_an_answer_that_is_no_http_does_not_tell_the_token_either(clock: FakeClock, watching: Watching) -> None:
    """aiohttp's error for it carries the whole request, headers included."""
    listening = await asyncio.start_server(raw_line, "127.0.0.1", 0)
    async with listening:
        port = listening.sockets[0].getsockname()[1]
        settings = GitHubSettings(api_url=f"http://127.0.0.1:{port}")
        async with GitHubFetcher(settings, read_tokens(TOKEN), clock, watching, an_egress()) as fetcher:
            with pytest.raises(FetchError) as raised:
                await fetcher.fetch(a_request(url=f"{settings.api_url}/x"), None)
    assert raised.value.status is None
    assert TOKEN not in everything_in(raised.value)
    assert TOKEN not in variables_of(raised.value)


async def test_a_message_that_quotes_the_token_is_masked(start: Start, server: Scripted) -> None:
    url = server.script("/x", no(422, f"Bad {TOKEN}"))
    fetcher = await start(TOKEN)
    answer: Any = await fetcher.fetch(a_request(url=url), None)
    assert answer.detail == "Bad [redacted]"


async def test_a_fetcher_shows_no_token(start: Start, server: Scripted, watching: Watching) -> None:
    url = server.script("/x", ok())
    fetcher = await start(TOKEN)
    answer = await fetcher.fetch(a_request(url=url), None)
    seen = repr([answer, watching.calls, fetcher.principals(), fetcher.__dict__, fetcher._pool.__dict__])
    assert TOKEN not in seen
    assert TOKEN not in repr(fetcher._pool._slots[0].__dict__)
