"""Every status has a stated meaning."""

from __future__ import annotations

import asyncio
import gzip
import json
from datetime import timedelta
from typing import Any

import pytest

from ghcrawl.fetch.github.fetcher import GitHubFetcher
from ghcrawl.fetch.github.settings import GitHubSettings
from ghcrawl.values.errors import FetchError, Malformed
from ghcrawl.values.outcome import (
    Denied,
    DeniedReason,
    Fetched,
    Missing,
    Pending,
    Refused,
    Unchanged,
)
from ghcrawl.values.requests import Context
from tests.support.builders import NOW, a_failure, a_request, an_egress
from tests.support.clock import FakeClock
from tests.unit.fetch.conftest import Start
from tests.unit.fetch.scripted import HANG_UP, Reply, Scripted, Watching, a_stored, no, ok, quota

PATH = "/repos/acme/web/issues/1"


async def fetched(start: Start, server: Scripted, *lines: Any, path: str = PATH, **over: Any) -> Any:
    url = server.script(path, *lines)
    fetcher = await start()
    return await fetcher.fetch(a_request(url=url, **over), None)


async def test_200_is_fetched_with_everything_that_came_along(start: Start, server: Scripted) -> None:
    headers = {"ETag": 'W/"abc"', "Last-Modified": "Sat, 21 Nov 2026 10:00:00 GMT"}
    headers["Link"] = f'<{server.url}/repositories/12/issues?after=Y3%3D%3D>; rel="next", <{server.url}/x>; rel=last'
    answer = await fetched(start, server, Reply(body=[{"id": 1}], headers={**quota(), **headers}))
    assert isinstance(answer, Fetched)
    assert answer.body == [{"id": 1}]
    assert answer.url == server.url + PATH
    assert answer.aliases == ()
    assert not answer.partial
    assert answer.observed_at == answer.checked_at == NOW
    assert answer.link == {"next": f"{server.url}/repositories/12/issues?after=Y3%3D%3D", "last": f"{server.url}/x"}
    assert answer.validator is not None
    assert answer.validator.etag == 'W/"abc"'
    assert answer.validator.last_modified == "Sat, 21 Nov 2026 10:00:00 GMT"
    assert answer.validator.url == server.url + PATH
    assert answer.validator.accept == "application/vnd.github+json"
    assert answer.validator.api_version == "2022-11-28"
    assert len(answer.validator.principal) == 12


async def test_every_call_carries_its_manners_and_no_token_in_the_url(start: Start, server: Scripted) -> None:
    await fetched(start, server, ok())
    (hit,) = server.hits
    assert hit.path == PATH
    assert hit.headers["Authorization"] == "Bearer token-aaaa"
    assert hit.headers["X-GitHub-Api-Version"] == "2022-11-28"
    assert hit.headers["Accept"] == "application/vnd.github+json"
    assert hit.headers["User-Agent"].startswith("ghcrawl/")


async def test_urls_are_sent_as_they_are(start: Start, server: Scripted) -> None:
    path = "/repos/acme/web/issues?after=Y3Vyc29yOnYy%2Bpk%3D%3D&labels=a%2Cb&q=x+y"
    await fetched(start, server, ok(), path=path)
    assert server.hits[0].path == path


async def test_a_url_that_could_smuggle_a_second_request_is_quoted(start: Start, server: Scripted) -> None:
    fetcher = await start()
    await fetcher.fetch(a_request(url=f"{server.url}/x y\r\nHost: evil\r\n\r\nGET /z"), None)
    (hit,) = server.hits
    assert hit.path.startswith("/x%20y")


async def test_a_200_from_which_things_are_missing_is_partial(start: Start, server: Scripted) -> None:
    answer = await fetched(start, server, ok([], X_GitHub_SSO="partial-results; organizations=1,2"))
    assert answer.partial


@pytest.mark.parametrize("flag", ["incomplete_results", "truncated"])
async def test_a_body_that_says_it_is_incomplete_is_partial(start: Start, server: Scripted, flag: str) -> None:
    assert (await fetched(start, server, ok({flag: True, "items": []}))).partial


async def test_202_is_pending_and_asks_for_more_patience_each_time(start: Start, server: Scripted) -> None:
    first = await fetched(start, server, no(202))
    assert isinstance(first, Pending)
    assert first.wait_s >= 10
    later = await fetched(start, server, no(202), attempt=3)
    assert later.wait_s > first.wait_s


async def test_204_is_an_empty_list(start: Start, server: Scripted) -> None:
    answer = await fetched(start, server, Reply(status=204, headers=quota()))
    assert isinstance(answer, Fetched)
    assert answer.body == []
    assert answer.status == 204


async def test_an_empty_repository_is_an_empty_list(start: Start, server: Scripted) -> None:
    answer = await fetched(start, server, no(409, "Git Repository is empty."))
    assert isinstance(answer, Fetched)
    assert (answer.body, answer.status, answer.validator) == ([], 409, None)


async def test_another_conflict_is_a_failure(start: Start, server: Scripted) -> None:
    with pytest.raises(FetchError) as raised:
        await fetched(start, server, no(409, "Conflict"))
    assert raised.value.status == 409


@pytest.mark.parametrize("status", [301, 308])
async def test_a_permanent_redirect_renames_and_keeps_the_old_url_as_alias(
    start: Start, server: Scripted, status: int
) -> None:
    server.script("/repositories/12/issues/1", ok({"id": 7}, ETag='"e"'))
    moved = Reply(status=status, headers={**quota(), "Location": f"{server.url}/repositories/12/issues/1"})
    answer = await fetched(start, server, moved)
    assert isinstance(answer, Fetched)
    assert answer.body == {"id": 7}
    assert answer.url == f"{server.url}/repositories/12/issues/1"
    assert answer.aliases == (server.url + PATH,)
    assert answer.validator is not None
    assert answer.validator.url == answer.url
    assert server.hits[1].token == "token-aaaa"


@pytest.mark.parametrize("status", [302, 303, 307])
async def test_a_temporary_redirect_is_followed_and_keeps_the_name(start: Start, server: Scripted, status: int) -> None:
    server.script("/elsewhere", ok({"id": 7}))
    answer = await fetched(start, server, Reply(status=status, headers={**quota(), "Location": "/elsewhere"}))
    assert isinstance(answer, Fetched)
    assert (answer.url, answer.aliases) == (server.url + PATH, ())


async def test_a_chain_of_renames_keeps_every_old_url(start: Start, server: Scripted) -> None:
    server.script("/b", Reply(status=301, headers={**quota(), "Location": "/c"}))
    server.script("/c", ok())
    answer = await fetched(start, server, Reply(status=301, headers={**quota(), "Location": "/b"}))
    assert answer.url == f"{server.url}/c"
    assert answer.aliases == (server.url + PATH, f"{server.url}/b")


async def test_the_url_of_a_rename_may_be_in_the_body_only(start: Start, server: Scripted) -> None:
    server.script("/c", ok())
    body = {"message": "Moved Permanently", "url": f"{server.url}/c"}
    answer = await fetched(start, server, Reply(status=301, body=body, headers=quota()))
    assert answer.url == f"{server.url}/c"


async def test_redirects_in_a_circle_are_refused(start: Start, server: Scripted) -> None:
    answer = await fetched(start, server, Reply(status=301, headers={**quota(), "Location": PATH}))
    assert isinstance(answer, Refused)
    assert answer.reason == "redirect"
    assert len(server.hits) == 6


async def test_a_redirect_to_nowhere_is_refused(start: Start, server: Scripted) -> None:
    answer = await fetched(start, server, Reply(status=301, headers={**quota(), "Location": "ftp://example.test/x"}))
    assert isinstance(answer, Refused)


@pytest.mark.parametrize("status", [301, 302])
async def test_a_redirect_that_leaves_the_api_is_not_followed(
    start: Start, server: Scripted, clock: FakeClock, status: int
) -> None:
    stranger = Scripted(clock)
    await stranger.start()
    try:
        there = stranger.script("/archive", Reply(body={"id": 3}))
        answer = await fetched(start, server, Reply(status=status, headers={**quota(), "Location": there}))
    finally:
        await stranger.stop()
    assert isinstance(answer, Refused)
    assert (answer.status, answer.reason) == (301, "redirect")
    assert there in answer.detail
    assert stranger.hits == []


async def test_304_is_unchanged(start: Start, server: Scripted) -> None:
    url = server.script(PATH, ok(ETag='"e"'), Reply(status=304, headers=quota()))
    fetcher = await start()
    first = await fetcher.fetch(a_request(url=url), None)
    answer = await fetcher.fetch(a_request(url=url), a_stored(url, validator=first.validator))
    assert answer == Unchanged(checked_at=NOW)
    assert server.hits[1].headers["If-None-Match"] == '"e"'


async def test_a_304_to_an_unconditional_request_is_a_failure(start: Start, server: Scripted) -> None:
    with pytest.raises(FetchError) as raised:
        await fetched(start, server, Reply(status=304, headers=quota()))
    assert raised.value.status == 304


@pytest.mark.parametrize("status", [400, 422, 405, 415])
async def test_what_nobody_may_ask_is_refused(start: Start, server: Scripted, status: int) -> None:
    answer = await fetched(start, server, no(status, "no"))
    assert isinstance(answer, Refused)
    assert (answer.status, answer.detail) == (status, "no")


async def test_404_is_missing(start: Start, server: Scripted) -> None:
    answer = await fetched(start, server, no(404, "Not Found"))
    assert answer == Missing(status=404, detail="Not Found", observed_at=NOW)


async def test_410_is_missing(start: Start, server: Scripted) -> None:
    answer = await fetched(start, server, no(410, "This issue was deleted"))
    assert answer == Missing(status=410, detail="This issue was deleted", observed_at=NOW)


async def test_a_retired_api_version_makes_no_tombstones(start: Start, server: Scripted) -> None:
    answer = await fetched(start, server, no(410, "API version 2022-11-28 is no longer supported"))
    assert isinstance(answer, Refused)


async def test_groups_of_an_organisation_that_no_enterprise_manages_are_missing(start: Start, server: Scripted) -> None:
    words = "This organization is not part of externally managed enterprise."
    answer = await fetched(start, server, no(400, words))
    assert answer == Missing(status=400, detail=words, observed_at=NOW)


async def test_451_is_missing_with_the_notice(start: Start, server: Scripted) -> None:
    block = {"reason": "dmca", "created_at": "2026-01-01T00:00:00Z", "html_url": "https://github.com/dmca/1"}
    reply = Reply(status=451, body={"message": "Repository access blocked", "block": block}, headers=quota())
    answer = await fetched(start, server, reply)
    assert isinstance(answer, Missing)
    assert answer.status == 451
    assert "dmca" in answer.detail
    assert "https://github.com/dmca/1" in answer.detail


DENIED = [
    ("Resource protected by organization SAML enforcement. You must grant access.", "sso"),
    ("Although you appear to have the correct authorization credentials, the `acme` organization has an IP allow list "
     "enabled, and your IP address is not permitted to access this resource.", "ip_allow_list"),
    ("Resource not accessible by integration", "credential"),
    ("Resource not accessible by personal access token", "credential"),
    ("`acme` forbids access via a personal access token (classic).", "credential"),
    ("The 'acme' organization forbids access via a fine-grained personal access tokens if the token's lifetime is "
     "greater than 366 days.", "credential"),
    ("Must have push access to view repository collaborators.", "credential"),
    ("Request forbidden by administrative rules.", "forbidden"),
]  # fmt: skip


@pytest.mark.parametrize(("message", "reason"), DENIED)
async def test_the_kinds_of_403_are_told_apart(
    start: Start, server: Scripted, message: str, reason: DeniedReason
) -> None:
    answer = await fetched(start, server, no(403, message))
    assert answer == Denied(status=403, reason=reason, detail=message)


async def test_a_403_that_asks_for_single_sign_on_is_told_by_its_header(start: Start, server: Scripted) -> None:
    answer = await fetched(start, server, no(403, "Forbidden", X_GitHub_SSO="required; url=https://github.com/sso"))
    assert answer.reason == "sso"


async def test_a_repository_that_was_taken_down_is_blocked(start: Start, server: Scripted) -> None:
    body = {"message": "Repository access blocked", "block": {"reason": "tos"}}
    answer = await fetched(start, server, Reply(status=403, body=body, headers=quota()))
    assert answer == Denied(status=403, reason="blocked", detail="Repository access blocked (tos)")


async def test_a_403_that_spent_the_last_call_is_still_what_it_says(start: Start, server: Scripted) -> None:
    reply = Reply(status=403, body={"message": "Must have admin rights to Repository."}, headers=quota(0))
    assert isinstance(await fetched(start, server, reply), Denied)


@pytest.mark.parametrize("status", [500, 502, 503, 504])
async def test_a_breakdown_of_the_platform_is_a_failure_with_its_status(
    start: Start, server: Scripted, status: int
) -> None:
    with pytest.raises(FetchError) as raised:
        await fetched(start, server, Reply(status=status, raw=b"<html>Unicorn!</html>"))
    assert raised.value.status == status
    assert raised.value.url == server.url + PATH


@pytest.mark.parametrize("raw", [b"<html>oops</html>", b'{"id": 1, "ti', b"", b"\xff\xfe"])
async def test_a_200_that_is_no_json_is_a_failure(start: Start, server: Scripted, raw: bytes) -> None:
    with pytest.raises(FetchError) as raised:
        await fetched(start, server, Reply(raw=raw))
    assert raised.value.status == 200


async def test_a_dropped_connection_is_a_failure_without_a_status(
    start: Start, server: Scripted, watching: Watching
) -> None:
    with pytest.raises(FetchError) as raised:
        await fetched(start, server, HANG_UP)
    assert raised.value.status is None
    assert len(server.hits) == 1
    assert [call.status for call in watching.calls] == [0]


async def test_a_dropped_connection_is_not_tried_again_behind_our_back(start: Start, server: Scripted) -> None:
    url = server.script(PATH, ok(), HANG_UP)
    fetcher = await start()
    await fetcher.fetch(a_request(url=url), None)
    with pytest.raises(FetchError):
        await fetcher.fetch(a_request(url=url), None)
    assert len(server.hits) == 2


async def test_a_truncated_body_is_a_failure(start: Start, server: Scripted) -> None:
    whole = gzip.compress(json.dumps({"id": 1, "text": "x" * 1000}).encode())
    with pytest.raises(FetchError):
        await fetched(start, server, Reply(raw=whole[:-20], headers={"Content-Encoding": "gzip"}))


async def test_a_compressed_body_is_read(start: Start, server: Scripted) -> None:
    whole = gzip.compress(json.dumps({"id": 1, "text": "x" * 1000}).encode())
    answer = await fetched(start, server, Reply(raw=whole, headers={"Content-Encoding": "gzip"}))
    assert answer.body["id"] == 1


async def test_nobody_listening_is_a_failure(start: Start, server: Scripted) -> None:
    fetcher = await start()
    await server.stop()
    with pytest.raises(FetchError) as raised:
        await fetcher.fetch(a_request(url=server.url + PATH), None)
    assert raised.value.status is None


async def test_an_answer_that_takes_too_long_is_a_failure(start: Start, server: Scripted) -> None:
    never = asyncio.Event()

    async def hangs(_: object) -> Reply:
        await never.wait()
        return ok()

    url = server.script(PATH, hangs)
    fetcher = await start(timeout_s=0.05)
    try:
        with pytest.raises(FetchError, match="timed out"):
            await fetcher.fetch(a_request(url=url), None)
    finally:
        never.set()


async def test_a_breakdown_with_a_large_page_is_still_a_breakdown(start: Start, server: Scripted) -> None:
    url = server.script(PATH, Reply(status=502, raw=b"x" * 5000))
    fetcher = await start(max_body_bytes=1000)
    with pytest.raises(FetchError):
        await fetcher.fetch(a_request(url=url), None)


@pytest.mark.parametrize("compressed", [False, True])
async def test_a_body_over_the_limit_is_refused(start: Start, server: Scripted, compressed: bool) -> None:
    raw = json.dumps({"text": "x" * 5000}).encode()
    headers = {"Content-Encoding": "gzip"} if compressed else {}
    url = server.script(PATH, Reply(raw=gzip.compress(raw) if compressed else raw, headers=headers))
    fetcher = await start(max_body_bytes=1000)
    answer = await fetcher.fetch(a_request(url=url), None)
    assert isinstance(answer, Refused)
    assert answer.reason == "too_large"


@pytest.mark.parametrize(
    "url",
    [
        "https://evil.example.test/repos/acme/web",
        "//evil.example.test/x",
        "/repos/acme/web",
        "file:///etc/passwd",
        "{api}.evil.example.test/x",
        "{api}@evil.example.test/x",
    ],
)
async def test_a_url_of_somebody_else_is_refused_without_a_call(start: Start, server: Scripted, url: str) -> None:
    fetcher = await start()
    answer = await fetcher.fetch(a_request(url=url.format(api=server.url)), None)
    assert isinstance(answer, Refused)
    assert answer.reason == "foreign_url"
    assert server.hits == []


async def test_what_is_below_an_enterprise_prefix_is_the_apis_and_nothing_else(
    start: Start, server: Scripted, clock: FakeClock, watching: Watching
) -> None:
    url = server.script("/api/v3/repos/acme/web", ok())
    async with GitHubFetcher(
        GitHubSettings(api_url=f"{server.url}/api/v3/"), (), clock, watching, an_egress()
    ) as fetcher:
        assert isinstance(await fetcher.fetch(a_request(url=url), None), Fetched)
        assert isinstance(await fetcher.fetch(a_request(url=f"{server.url}/login"), None), Refused)
        assert isinstance(await fetcher.fetch(a_request(url=f"{server.url}/api/v30/x"), None), Refused)


async def test_the_moment_is_the_platforms_only_where_its_clock_is_notably_another(
    start: Start, server: Scripted
) -> None:
    server.skew = timedelta(minutes=5)
    answer = await fetched(start, server, ok())
    assert answer.checked_at == NOW
    assert abs((answer.observed_at - NOW - timedelta(minutes=5)).total_seconds()) <= 1


async def test_the_moment_is_ours_where_the_clocks_agree_as_far_as_one_can_see(start: Start, server: Scripted) -> None:
    server.skew = timedelta(seconds=1.2)
    assert (await fetched(start, server, ok())).observed_at == NOW


async def test_after_breakdowns_a_smaller_page_is_asked_for_and_its_link_goes_on(
    start: Start, server: Scripted
) -> None:
    asked = "/repos/acme/web/issues?per_page=50&page=5"
    nxt = f"{server.url}/repos/acme/web/issues?per_page=50&page=6"
    server.script(asked, ok([1], ETag='"e"', Link=f'<{nxt}>; rel="next"'))
    url = f"{server.url}/repos/acme/web/issues?per_page=100&page=3"
    fetcher = await start()
    request = a_request(url=url, failures=(a_failure(status=502),), context=Context(scope="acme/web"))
    answer = await fetcher.fetch(request, None)
    assert isinstance(answer, Fetched)
    assert server.hits[0].path == asked
    assert (answer.url, answer.aliases, answer.validator) == (url, (), None)
    assert answer.link["next"] == nxt


async def test_an_answer_nested_too_deep_is_malformed_however_often_it_is_asked_for(
    start: Start, server: Scripted
) -> None:
    deep: Any = 1
    for _ in range(120):
        deep = {"a": deep}
    with pytest.raises(Malformed, match="nested deeper than 100 levels"):
        await fetched(start, server, ok(deep))
