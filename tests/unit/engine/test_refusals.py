"""A list that was refused is not asked for again while nothing suggests another answer."""

from __future__ import annotations

from typing import Any

import pytest

from ghcrawl.engine.refusals import STANDS
from ghcrawl.platforms.github import platform
from ghcrawl.ports.deadletters import DeadletterFilter
from ghcrawl.values.frozen import replace
from ghcrawl.values.outcome import (
    Denied,
    Fetched,
    Missing,
    Pending,
    Refused,
    Unchanged,
)
from ghcrawl.values.requests import Ancestor, Context, Request
from ghcrawl.values.tuning import Tuning
from ghcrawl.values.type_names import LEGACY_PLATFORM
from tests.support.builders import API, NOW, a_type
from tests.support.github import a_repo
from tests.support.library import LIBRARY
from tests.support.scripted import Rig, a_body

BOOKS = "lib/books/1"
SHELF = Request(platform="library", type="shelf", url="lib/shelves/1", policy="refresh", asked_at=NOW)
SHELF_BODY = {"id": 1, "books": BOOKS}
BLOCKED = Denied(status=403, reason="forbidden", detail="Must have push access")
ABSENT = Missing(status=404, detail="Not Found", observed_at=NOW)


async def crawl(rig: Rig, **over: Any) -> int:
    """Crawl again, an hour later; how often the list of books was asked for."""
    rig.clock.advance(3600)
    before = len(rig.fetcher.asked)
    await rig.push(replace(SHELF, asked_at=rig.clock.now(), **over))
    await rig.drain()
    return [url for url, _ in rig.fetcher.asked[before:]].count(BOOKS)


def a_rig(answer: Any, **over: Any) -> Rig:
    return Rig(LIBRARY, {SHELF.url: a_body(SHELF_BODY, SHELF.url), BOOKS: answer}, **over)


@pytest.mark.parametrize("answer", [BLOCKED, ABSENT])
async def test_a_refusal_is_paid_for_once(answer: Any):
    rig = a_rig(answer)

    assert [await crawl(rig) for _ in range(3)] == [1, 0, 0]
    assert rig.recorder.settlements[-1].reason == "still_refused"


async def test_a_refusal_is_skipped_with_its_reason_and_counts_as_nothing_saved():
    rig = a_rig(BLOCKED)
    await crawl(rig)

    refused = rig.recorder.settlements[-1]
    assert (refused.outcome, refused.reason, refused.saved) == ("skip", "denied_forbidden", None)
    remembered = await rig.store.get("urn:library:shelf:1:books:refused")
    assert remembered is not None
    assert remembered.deleted_at is not None
    assert remembered.deleted_reason == "Must have push access"


async def test_other_credentials_ask_again():
    rig = a_rig(BLOCKED)
    await crawl(rig)
    rig.fetcher.asker = "another token"

    assert [await crawl(rig) for _ in range(2)] == [1, 0]


async def test_a_change_of_what_the_list_belongs_to_asks_again():
    rig = a_rig(BLOCKED)
    await crawl(rig)
    rig.fetcher.answers[SHELF.url] = a_body({**SHELF_BODY, "open": True}, SHELF.url)

    assert [await crawl(rig) for _ in range(2)] == [1, 0]


async def test_a_refusal_is_forgotten_after_a_while():
    rig = a_rig(BLOCKED)
    await crawl(rig)
    rig.clock.advance(STANDS.total_seconds())

    assert await crawl(rig) == 1


@pytest.mark.parametrize("policy", ["reload", "always"])
async def test_who_wants_the_platforms_own_word_gets_it(policy: str):
    rig = a_rig(BLOCKED)
    await crawl(rig)

    assert await crawl(rig, policy=policy) == 1


async def test_what_no_earlier_answer_will_do_for_is_asked_again():
    rig = a_rig(BLOCKED)
    await crawl(rig)
    await rig.push(replace(SHELF, asked_at=None))
    await rig.drain()

    assert [url for url, _ in rig.fetcher.asked].count(BOOKS) == 2


async def test_what_is_shown_at_last_takes_the_place_of_the_refusal():
    rig = a_rig(BLOCKED)
    await crawl(rig)
    rig.fetcher.answers[BOOKS] = a_body([{"isbn": 1, "url": "lib/book/1"}], BOOKS)
    rig.fetcher.asker = "another token"

    assert [await crawl(rig) for _ in range(3)] == [1, 1, 1]
    assert (await rig.store.counts())[a_type("book", "library")] == 1
    stored = await rig.store.look_up(a_type("books", "library"), BOOKS)
    assert stored is not None
    assert stored.deleted_at is None


async def test_a_refusal_hides_no_other_place_where_it_may_be_once_its_owner_changes():
    repo, place = f"{API}/repos/acme/web", "contents{}/CODEOWNERS"
    first, second = f"{repo}/{place.format('/.github')}", f"{repo}/{place.format('')}"
    owners = a_body({"path": "CODEOWNERS", "content": "", "sha": "abc"}, second)
    rig = Rig(platform(), {repo: a_body(a_repo(size=1), repo), first: ABSENT, second: owners})
    asked: list[int] = []
    for size in (1, 1, 2):
        rig.clock.advance(3600)
        rig.fetcher.answers[repo] = a_body(a_repo(size=size), repo)
        before = len(rig.fetcher.asked)
        policy = "refresh:default__only__codeowners/"
        await rig.push(
            Request(platform=LEGACY_PLATFORM, type="repo", url=repo, policy=policy, asked_at=rig.clock.now())
        )
        await rig.drain()
        asked.append(len([url for url, _ in rig.fetcher.asked[before:] if url != repo]))

    assert asked == [2, 0, 2]
    assert (await rig.store.counts())[a_type("codeowners")] == 1


@pytest.mark.parametrize(("part", "buried"), [("code_frequency", 0), ("participation", 1)])
async def test_what_there_is_too_much_of_is_no_failure_and_paid_for_once_where_github_says_so(part: str, buried: int):
    repo = f"{API}/repos/acme/web"
    answer = Refused(status=422, reason="refused", detail="Repository contains too many commits")
    rig = Rig(platform(), {repo: a_body(a_repo(size=1), repo), f"{repo}/stats/{part}": answer})
    for _ in range(2):
        rig.clock.advance(3600)
        policy = f"refresh:default__only__{part}/"
        await rig.push(
            Request(platform=LEGACY_PLATFORM, type="repo", url=repo, policy=policy, asked_at=rig.clock.now())
        )
        await rig.drain()

    asked = [url for url, _ in rig.fetcher.asked].count(f"{repo}/stats/{part}")
    assert (asked, (await rig.deadletters.count(DeadletterFilter())).total) == (1 + buried, 2 * buried)
    assert not (await rig.store.counts()).get(a_type(part))


GHOST = Request(
    platform=LEGACY_PLATFORM,
    type="user",
    url=f"{API}/users/ghosted",
    policy="refresh:self",
    context=Context(history=(Ancestor("issue", "1"),)),
    asked_at=NOW,
)


async def ask_for(rig: Rig, **over: Any) -> int:
    """Somebody refers to the account, an hour later; how often it was asked for."""
    rig.clock.advance(3600)
    before = len(rig.fetcher.asked)
    await rig.push(replace(GHOST, **({"asked_at": rig.clock.now()} | over)))
    await rig.drain()
    return len(rig.fetcher.asked) - before


@pytest.mark.parametrize("answer", [BLOCKED, ABSENT])
async def test_what_is_only_referred_to_is_paid_for_once_and_is_no_document(answer: Any):
    rig = Rig(platform(), {GHOST.url: answer})

    assert [await ask_for(rig) for _ in range(3)] == [1, 0, 0]
    assert await rig.store.counts() == {}
    assert await rig.store.look_up(a_type("user"), GHOST.url) is None
    assert await rig.store.find(GHOST.url) == []


@pytest.mark.parametrize(
    "over",
    [
        {"context": Context()},
        {"asked_at": None},
        *({"policy": f"{name}:self"} for name in ("audit", "event", "reload", "always")),
    ],
    ids=str,
)
async def test_whoever_has_a_reason_to_ask_for_what_was_refused_gets_an_answer(over: dict[str, Any]):
    rig = Rig(platform(), {GHOST.url: ABSENT})
    await ask_for(rig)

    assert await ask_for(rig, **over) == 1


async def test_what_was_refused_to_those_who_refer_to_it_is_asked_for_again_in_a_week_and_by_others():
    rig = Rig(platform(), {GHOST.url: ABSENT})
    asked = [await ask_for(rig)]
    rig.fetcher.asker = "another token"
    asked += [await ask_for(rig), await ask_for(rig)]
    for _ in range(2):
        rig.clock.advance(STANDS.total_seconds())
        asked += [await ask_for(rig), await ask_for(rig)]

    assert asked == [1, 1, 0, 1, 0, 1, 0]


async def test_what_is_seen_again_is_kept_up_to_date_and_what_we_held_stays_when_it_is_blocked():
    rig = Rig(platform(), {GHOST.url: BLOCKED})
    await ask_for(rig)
    rig.fetcher.answers[GHOST.url] = lambda _request: seen(rig, "one")
    asked = [await ask_for(rig), await ask_for(rig, policy="event:self")]
    rig.fetcher.answers[GHOST.url] = lambda _request: seen(rig, "two")
    asked.append(await ask_for(rig))
    rig.fetcher.answers[GHOST.url] = BLOCKED
    asked += [await ask_for(rig), await ask_for(rig)]

    assert asked == [0, 1, 1, 1, 0]
    held = await rig.store.get("urn:user:7")
    assert held is not None
    assert (held.body["name"], held.deleted_at) == ("two", None)


async def seen(rig: Rig, name: str) -> Fetched:
    body = {"id": 7, "login": "ghosted", "url": GHOST.url, "name": name}
    return a_body(body, GHOST.url, observed_at=rig.clock.now(), checked_at=rig.clock.now())


async def test_what_was_not_ready_in_time_is_asked_for_again_though_its_owner_did_not_change():
    repo = f"{API}/repos/acme/web"
    statistics = f"{repo}/stats/participation"
    in_time = [Pending(wait_s=1, detail="computing"), a_body({"all": []}, statistics)]
    answers = {repo: [a_body(a_repo(size=1), repo), Unchanged(checked_at=NOW)], statistics: in_time}
    rig = Rig(platform(), answers, tuning=Tuning(patience_s=0, max_attempts=1))
    asked: list[int] = []
    for _ in range(3):
        rig.clock.advance(3600)
        before = len(rig.fetcher.asked)
        policy = "refresh:default__only__participation/"
        await rig.push(
            Request(platform=LEGACY_PLATFORM, type="repo", url=repo, policy=policy, asked_at=rig.clock.now())
        )
        await rig.drain()
        asked.append([url for url, _ in rig.fetcher.asked[before:]].count(statistics))

    assert asked == [1, 1, 0]
    assert (await rig.store.counts())[a_type("participation")] == 1
