"""Who asks for what, and what becomes of credentials that are not accepted."""

from __future__ import annotations

import asyncio
from collections import defaultdict
from datetime import timedelta
from typing import Any

import pytest
from structlog.testing import capture_logs

from ghcrawl.fetch.github.fetcher import GitHubFetcher
from ghcrawl.fetch.github.principals import fingerprint, read_tokens
from ghcrawl.fetch.github.settings import GitHubSettings
from ghcrawl.values.documents import Validator
from ghcrawl.values.errors import ConfigError
from ghcrawl.values.outcome import (
    Denied,
    Fetched,
    Missing,
    Throttled,
    Unchanged,
)
from ghcrawl.values.requests import Context, Request
from tests.support.builders import NOW, a_request, an_egress, at
from tests.support.clock import FakeClock
from tests.unit.fetch.conftest import Start
from tests.unit.fetch.scripted import Handler, Hit, Reply, Scripted, Watching, a_stored, no, ok, quota

PATH = "/repos/acme/web/issues/1"
THREE = "token-aaaa;token-bbbb;token-cccc"


def of(server: Scripted, scope: str = "acme/web", *, path: str = PATH, private: bool = False, **over: Any) -> Request:
    return a_request(url=server.url + path, context=Context(scope=scope, private=private), **over)


def by_token(**answers: Reply) -> Handler:
    """A script line that answers each token in its own way; the others see everything."""
    return lambda hit: answers.get(hit.token.replace("token-", ""), ok())


# Affinity ----------------------------------------------------------------------------------------------------


async def test_a_repository_is_always_asked_for_by_the_same_principal(start: Start, server: Scripted) -> None:
    server.script("*", ok())
    askers: defaultdict[str, set[str]] = defaultdict(set)
    for _ in range(2):
        fetcher = await start(THREE)
        for number in range(12):
            scope = f"acme/repo-{number}"
            before = len(server.hits)
            await fetcher.fetch(of(server, scope, path=f"/repos/{scope}/issues"), None)
            await fetcher.fetch(of(server, scope, path=f"/repositories/{number}/issues?page=2"), None)
            askers[scope] |= {hit.token for hit in server.hits[before:]}
    assert all(len(tokens) == 1 for tokens in askers.values())
    assert len(set.union(*askers.values())) == 3


async def test_without_a_scope_the_url_says_where_a_request_belongs(start: Start, server: Scripted) -> None:
    server.script("*", ok())
    fetcher = await start(THREE)
    for number in range(8):
        await fetcher.fetch(a_request(url=f"{server.url}/repos/Acme/repo-{number}/issues"), None)
        await fetcher.fetch(of(server, f"acme/repo-{number}", path="/x"), None)
    pairs = zip(server.hits[::2], server.hits[1::2], strict=True)
    assert all(one.token == other.token for one, other in pairs)


async def test_the_next_principal_is_asked_only_when_the_first_has_nothing_left(start: Start, server: Scripted) -> None:
    left = {"token-aaaa": 5, "token-bbbb": 5, "token-cccc": 5}

    def counts(hit: Hit) -> Reply:
        left[hit.token] -= 1
        return Reply(body={}, headers=quota(left[hit.token], limit=5))

    server.script("*", counts)
    fetcher = await start(THREE, reserve=0.0)
    answers = [await fetcher.fetch(of(server), None) for _ in range(16)]
    assert [isinstance(answer, Fetched) for answer in answers] == [True] * 15 + [False]
    tokens = [hit.token for hit in server.hits]
    assert all(len(set(tokens[first : first + 5])) == 1 for first in (0, 5, 10))
    assert left == dict.fromkeys(left, 0)


async def test_whoever_holds_the_etag_is_preferred(start: Start, server: Scripted) -> None:
    server.script("*", lambda hit: Reply(status=304, headers=quota()) if "If-None-Match" in hit.headers else ok())
    fetcher = await start(THREE)
    for token in ("token-aaaa", "token-bbbb", "token-cccc"):
        validator = Validator(
            url=server.url + PATH,
            etag='"e"',
            accept="application/vnd.github+json",
            api_version="2022-11-28",
            principal=fingerprint(token),
        )
        answer = await fetcher.fetch(of(server), a_stored(server.url + PATH, validator=validator))
        assert isinstance(answer, Unchanged)
        assert server.hits[-1].token == token


async def test_another_principal_never_sends_the_etag(start: Start, server: Scripted, watching: Watching) -> None:
    url = server.script(PATH, ok(ETag='"e"'))
    first = await start("token-aaaa")
    held = (await first.fetch(of(server), None)).validator
    other = await start("token-bbbb")
    await other.fetch(of(server), a_stored(url, type="pull_request", validator=held))
    assert "If-None-Match" not in server.hits[-1].headers


async def test_several_tokens_of_one_user_share_one_budget(start: Start, server: Scripted) -> None:
    server.script("*", Reply(body={}, headers=quota(0, limit=60)))
    fetcher = await start("token-aaaa#user:mona;token-bbbb#user:mona")
    await fetcher.fetch(of(server), None)
    assert isinstance(await fetcher.fetch(of(server, "other/repo"), None), Throttled)
    assert len(server.hits) == 1
    assert len({view.id for view in fetcher.principals()}) == 1


# Traits ------------------------------------------------------------------------------------------------------


async def test_private_data_is_asked_for_by_those_who_may_see_it(start: Start, server: Scripted) -> None:
    server.script("*", ok())
    fetcher = await start("token-aaaa#public;token-bbbb#private;token-cccc#public")
    for number in range(10):
        await fetcher.fetch(of(server, f"acme/{number}", private=True), None)
    assert {hit.token for hit in server.hits} == {"token-bbbb"}


async def test_private_data_that_nobody_may_see_is_denied_without_a_call(start: Start, server: Scripted) -> None:
    fetcher = await start("token-aaaa#public;token-bbbb#org:other")
    answer = await fetcher.fetch(of(server, private=True), None)
    assert isinstance(answer, Denied)
    assert answer.reason == "credential"
    assert server.hits == []


async def test_without_any_traits_everybody_is_asked_for_private_data(start: Start, server: Scripted) -> None:
    server.script("*", ok())
    fetcher = await start("token-aaaa")
    assert isinstance(await fetcher.fetch(of(server, private=True), None), Fetched)


async def test_a_credential_made_for_an_organisation_works_for_that_organisation(
    start: Start, server: Scripted
) -> None:
    server.script("*", ok())
    fetcher = await start("token-aaaa#org:acme;token-bbbb#org:umbrella")
    await fetcher.fetch(of(server, "acme/web"), None)
    await fetcher.fetch(of(server, "Umbrella/web"), None)
    assert [hit.token for hit in server.hits] == ["token-aaaa", "token-bbbb"]


async def test_public_data_that_no_trait_covers_is_asked_for_all_the_same(start: Start, server: Scripted) -> None:
    url = server.script("/users/mona", ok())
    fetcher = await start("token-aaaa#org:acme")
    assert isinstance(await fetcher.fetch(a_request(type="user", url=url), None), Fetched)


# 404 ---------------------------------------------------------------------------------------------------------


async def test_what_is_missing_for_one_is_asked_for_by_one_who_sees_more_once(start: Start, server: Scripted) -> None:
    server.script(PATH, by_token(bbbb=ok({"id": 5}), aaaa=no(404, "Not Found"), cccc=no(404, "Not Found")))
    fetcher = await start("token-aaaa#public;token-bbbb#private;token-cccc#public")
    answer = await fetcher.fetch(of(server), None)
    assert isinstance(answer, Fetched)
    assert server.hits[-1].token == "token-bbbb"
    assert len(server.hits) <= 2


async def test_what_is_missing_for_those_who_see_more_is_missing(start: Start, server: Scripted) -> None:
    server.script(PATH, no(404, "Not Found"))
    fetcher = await start("token-aaaa#public;token-bbbb#private;token-cccc#admin")
    assert isinstance(await fetcher.fetch(of(server), None), Missing)
    assert len(server.hits) <= 2


async def test_equals_are_not_asked_for_public_data(start: Start, server: Scripted) -> None:
    server.script(PATH, no(404, "Not Found"))
    fetcher = await start(THREE)
    assert isinstance(await fetcher.fetch(of(server), None), Missing)
    assert len(server.hits) == 1


async def test_equals_are_asked_for_private_data_once(start: Start, server: Scripted) -> None:
    server.script(PATH, no(404, "Not Found"))
    fetcher = await start(THREE)
    assert isinstance(await fetcher.fetch(of(server, private=True), None), Missing)
    assert len({hit.token for hit in server.hits}) == len(server.hits) == 2


async def test_nothing_is_missing_while_one_who_sees_more_cannot_be_asked(start: Start, server: Scripted) -> None:
    server.script("/warm", Reply(body={}, headers=quota(0)))
    server.script(PATH, no(404, "Not Found"))
    fetcher = await start("token-aaaa#public;token-bbbb#private")
    await fetcher.fetch(of(server, path="/warm", private=True), None)
    answer = await fetcher.fetch(of(server), None)
    assert isinstance(answer, Throttled)
    assert [hit.token for hit in server.hits] == ["token-bbbb", "token-aaaa"]


async def test_what_nobody_is_shown_may_be_there_and_private(start: Start, server: Scripted) -> None:
    server.script("*", no(404, "Not Found"))
    fetcher = await start("")
    answers = [await fetcher.fetch(of(server, private=private), None) for private in (False, True)]
    assert answers[0] == Missing(status=404, detail="Not Found", observed_at=NOW, anonymous=True)
    assert isinstance(answers[1], Denied)
    assert answers[1].reason == "credential"


# 401 ---------------------------------------------------------------------------------------------------------

BAD = Reply(status=401, body={"message": "Bad credentials"}, headers=quota(59, limit=60, resets_in_s=9000))


async def test_a_refused_token_is_retired_and_the_request_goes_to_the_next_one_at_once(
    start: Start, server: Scripted
) -> None:
    server.script("*", by_token(aaaa=BAD, bbbb=BAD))
    fetcher = await start(THREE)
    for number in range(20):
        assert isinstance(await fetcher.fetch(of(server, f"acme/{number}"), None), Fetched)
    tokens = [hit.token for hit in server.hits]
    assert tokens.count("token-aaaa") == tokens.count("token-bbbb") == 1
    assert fetcher.refused() == ""
    assert [bool(view.retired) for view in fetcher.principals()] == [True, True, False]


async def test_while_no_credential_is_accepted_work_waits_and_one_line_says_why(start: Start, server: Scripted) -> None:
    server.script("*", BAD)
    fetcher = await start("token-aaaa;token-bbbb")
    with capture_logs() as logs:
        answer = await fetcher.fetch(of(server), None)
    assert answer == Throttled(until=at(3600), reason="no_principal")
    assert fetcher.blocked_until() == at(3600)
    assert isinstance(await fetcher.fetch(of(server, "other/repo"), None), Throttled)
    assert len(server.hits) == 2
    assert fetcher.refused().count("401 Bad credentials") == 2
    assert "\n" not in fetcher.refused()
    assert [line["event"] for line in logs] == ["principal_retired"] * 2
    assert "token-aaaa" not in fetcher.refused() + repr(logs)


async def test_a_retired_token_is_tried_again_after_an_hour_by_one_call(
    start: Start, server: Scripted, clock: FakeClock
) -> None:
    server.script("*", BAD, BAD, ok())
    fetcher = await start("token-aaaa")
    await fetcher.fetch(of(server), None)
    clock.advance(3600)
    assert fetcher.refused() == ""
    assert isinstance(await fetcher.fetch(of(server), None), Throttled)
    clock.advance(3600)
    assert isinstance(await fetcher.fetch(of(server), None), Fetched)
    assert fetcher.principals()[0].retired == ""
    assert len(server.hits) == 3


async def test_only_one_call_finds_out_whether_a_retired_token_is_really_dead(
    start: Start, server: Scripted, clock: FakeClock
) -> None:
    server.script("*", Reply(body={}, headers=quota(4000, resets_in_s=7200)), BAD)
    fetcher = await start("token-aaaa")
    for _ in range(2):
        await fetcher.fetch(of(server), None)
    clock.advance(3600)
    answers = await asyncio.gather(*(fetcher.fetch(of(server), None) for _ in range(3)))
    assert {type(answer) for answer in answers} == {Throttled}
    assert len(server.hits) == 3


async def test_the_budget_in_a_refusal_is_not_the_tokens(
    start: Start, server: Scripted, clock: FakeClock, watching: Watching
) -> None:
    server.script("*", BAD, ok())
    fetcher = await start("token-aaaa")
    await fetcher.fetch(of(server), None)
    clock.advance(3600)
    await fetcher.fetch(of(server), None)
    (budget,) = fetcher.principals()[0].budgets
    assert budget.limit == 5000
    assert [call.limit for call in watching.calls] == [None, 5000]


async def test_too_many_logins_retire_the_token_as_well(start: Start, server: Scripted) -> None:
    server.script("*", no(403, "Maximum number of login attempts exceeded. Please try again later."))
    fetcher = await start("token-aaaa")
    assert isinstance(await fetcher.fetch(of(server), None), Throttled)
    assert fetcher.refused()


async def test_an_endpoint_that_wants_another_sort_of_credential_retires_nobody(start: Start, server: Scripted) -> None:
    server.script("*", no(401, "A JSON web token could not be decoded"))
    fetcher = await start("token-aaaa")
    answer = await fetcher.fetch(of(server, path="/app"), None)
    assert isinstance(answer, Denied)
    assert answer.reason == "unauthorized"
    assert fetcher.refused() == ""


async def test_nobody_is_denied_what_needs_somebody_and_stays_in_use(start: Start, server: Scripted) -> None:
    server.script("/repos/acme/web/collaborators", no(401, "Requires authentication"))
    server.script("/private", no(401, "Must authenticate to access this API."))
    server.script(PATH, ok())
    fetcher = await start("")
    for path in ("/repos/acme/web/collaborators", "/private"):
        answer = await fetcher.fetch(of(server, path=path), None)
        assert isinstance(answer, Denied)
        assert (answer.status, answer.reason) == (401, "unauthorized")
    assert fetcher.refused() == ""
    assert isinstance(await fetcher.fetch(of(server), None), Fetched)
    assert "Authorization" not in server.hits[-1].headers


# 403 for one credential --------------------------------------------------------------------------------------

SSO = no(403, "Resource protected by organization SAML enforcement.", X_GitHub_SSO="required; url=https://x.test")


async def test_what_one_credential_is_denied_another_may_be_shown(start: Start, server: Scripted) -> None:
    server.script("*", by_token(aaaa=SSO, bbbb=SSO))
    fetcher = await start(THREE)
    for number in range(20):
        assert isinstance(await fetcher.fetch(of(server, f"acme/{number}"), None), Fetched)
    tokens = [hit.token for hit in server.hits]
    assert tokens.count("token-aaaa") <= 1
    assert tokens.count("token-bbbb") <= 1


async def test_what_one_token_is_denied_another_of_the_same_user_may_be_shown(start: Start, server: Scripted) -> None:
    server.script("*", by_token(aaaa=SSO))
    fetcher = await start("token-aaaa#user:mona;token-bbbb#user:mona")
    for number in range(10):
        assert isinstance(await fetcher.fetch(of(server, f"acme/{number}"), None), Fetched)


async def test_a_denial_for_an_owner_is_remembered_for_an_hour_and_for_that_owner(
    start: Start, server: Scripted, clock: FakeClock
) -> None:
    server.script("*", SSO)
    server.script("/repos/free/repo/issues/1", ok())
    fetcher = await start("token-aaaa")
    for number in range(5):
        answer = await fetcher.fetch(of(server, f"acme/{number}"), None)
        assert isinstance(answer, Denied)
        assert answer.reason == "sso"
    assert len(server.hits) == 1
    assert isinstance(await fetcher.fetch(of(server, "free/repo", path="/repos/free/repo/issues/1"), None), Fetched)
    clock.advance(3600)
    await fetcher.fetch(of(server), None)
    assert len(server.hits) == 3


async def test_a_missing_permission_is_remembered_for_that_kind_only(start: Start, server: Scripted) -> None:
    server.script("/repos/acme/web/collaborators", no(403, "Must have push access to view repository collaborators."))
    server.script(PATH, ok())
    fetcher = await start("token-aaaa")
    for _ in range(3):
        answer = await fetcher.fetch(of(server, path="/repos/acme/web/collaborators", type="collaborators"), None)
        assert isinstance(answer, Denied)
    assert isinstance(await fetcher.fetch(of(server), None), Fetched)
    assert len(server.hits) == 2


async def test_a_denial_of_what_belongs_to_nobody_in_particular_is_not_remembered(
    start: Start, server: Scripted
) -> None:
    server.script("*", SSO)
    fetcher = await start("token-aaaa;token-bbbb")
    for _ in range(2):
        answer = await fetcher.fetch(a_request(type="user", url=f"{server.url}/user/7"), None)
        assert isinstance(answer, Denied)
    assert len(server.hits) == 4


# Views and swaps ---------------------------------------------------------------------------------------------


async def test_views_show_budgets_and_no_token(start: Start, server: Scripted) -> None:
    server.script("*", Reply(body={}, headers=quota(4321)))
    fetcher = await start("token-aaaa#private,org:acme")
    await fetcher.fetch(of(server), None)
    (view,) = fetcher.principals()
    assert view.label == f"token {fingerprint('token-aaaa')}"
    assert view.traits == ("private", "org:acme")
    assert (view.calls, view.in_flight, view.retired, view.benched_until) == (1, 0, "", None)
    (budget,) = view.budgets
    assert (budget.resource, budget.limit, budget.remaining) == ("core", 5000, 4321)
    assert at(3600) < budget.reset_at <= at(3602)
    assert "token-aaaa" not in repr(fetcher.principals())


async def test_credentials_are_swapped_and_those_that_stay_keep_their_budgets(start: Start, server: Scripted) -> None:
    server.script("*", by_token(aaaa=Reply(body={}, headers=quota(0)), bbbb=BAD))
    fetcher = await start("token-aaaa;token-bbbb")
    await fetcher.fetch(of(server), None)
    while fetcher.blocked_until() is None:
        await fetcher.fetch(of(server), None)
    calls = len(server.hits)
    await fetcher.use(read_tokens("token-aaaa;token-cccc"))
    assert isinstance(await fetcher.fetch(of(server), None), Fetched)
    assert [hit.token for hit in server.hits[calls:]] == ["token-cccc"]
    assert fetcher.principals()[0].budgets[0].remaining == 0
    assert fetcher.refused() == ""


async def test_a_credential_that_stays_through_a_swap_stays_retired(start: Start, server: Scripted) -> None:
    server.script("*", BAD)
    fetcher = await start("token-aaaa")
    await fetcher.fetch(of(server), None)
    await fetcher.use(read_tokens("token-aaaa"))
    assert isinstance(await fetcher.fetch(of(server), None), Throttled)
    assert len(server.hits) == 1


async def test_credentials_are_never_swapped_for_none(start: Start) -> None:
    fetcher = await start("token-aaaa")
    with pytest.raises(ConfigError, match="keeping the previous tokens"):
        await fetcher.use(())
    assert [view.label for view in fetcher.principals()] == [f"token {fingerprint('token-aaaa')}"]


async def test_no_credentials_are_nobody(clock: FakeClock, server: Scripted, watching: Watching) -> None:
    server.script(PATH, ok(ETag='"e"'), Reply(status=304, headers=quota(58, limit=60)))
    async with GitHubFetcher(GitHubSettings(api_url=server.url), (), clock, watching, an_egress()) as fetcher:
        first = await fetcher.fetch(of(server), None)
        assert isinstance(first, Fetched)
        assert first.validator is not None
        await fetcher.fetch(of(server), a_stored(server.url + PATH, validator=first.validator))
    assert first.validator.principal == "anonymous"
    assert server.hits[1].headers["If-None-Match"] == '"e"'
    assert [(call.principal, call.status, call.charged) for call in watching.calls] == [
        ("anonymous", 200, True),
        ("anonymous", 304, True),
    ]


async def test_every_answer_is_observed(start: Start, server: Scripted, watching: Watching) -> None:
    url = server.script(PATH, ok(ETag='"e"'), Reply(status=304, headers=quota(4998)), no(404))
    fetcher = await start("token-aaaa")
    first = await fetcher.fetch(of(server), None)
    await fetcher.fetch(of(server), a_stored(url, validator=first.validator))
    await fetcher.fetch(of(server), None)
    assert [(call.status, call.charged, call.remaining) for call in watching.calls] == [
        (200, True, 4999),
        (304, False, 4998),
        (404, True, 4999),
    ]
    call = watching.calls[0]
    assert (call.platform, call.principal, call.resource) == ("github", fingerprint("token-aaaa"), "core")
    assert (call.limit, call.reset_at, call.throttle) == (5000, NOW + timedelta(hours=1), "")


@pytest.mark.parametrize("tokens", ["token-aaaa", "token-aaaa;token-bbbb"])
async def test_a_copy_without_a_usable_etag_is_asked_for_by_date(start: Start, server: Scripted, tokens: str) -> None:
    modified = "Sat, 21 Nov 2026 10:00:00 GMT"
    url = server.script(PATH, Reply(status=304, headers={**quota(), "ETag": '"unseen"'}))
    validator = Validator(
        url=url,
        etag='"e"',
        last_modified=modified,
        accept="application/vnd.github+json",
        api_version="2022-11-28",
        principal="somebodyelse",
    )
    fetcher = await start(tokens)
    answer = await fetcher.fetch(of(server), a_stored(url, validator=validator))
    assert answer == Unchanged(checked_at=NOW, validator=None)
    assert server.hits[0].headers["If-Modified-Since"] == modified
    assert "If-None-Match" not in server.hits[0].headers
