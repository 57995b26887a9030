"""What Mastodon really answered, recorded by others: crawled over a replay, and saved as it was recorded."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest

from ghcrawl.platforms.mastodon import MASTODON
from ghcrawl.ports.deadletters import DeadletterFilter
from ghcrawl.ports.store import DocumentFilter
from ghcrawl.settings.loading import load
from ghcrawl.telemetry.tally import Tally
from ghcrawl.values.deadletters import Deadletter
from ghcrawl.values.documents import Document
from ghcrawl.values.frozen import replace
from ghcrawl.values.requests import Push, Request
from ghcrawl.wiring import open_service, settings_model
from tests.support.clock import FastClock
from tests.support.mastodon_recordings import Recorded, Replay, exchanges, key, replaying

pytestmark = pytest.mark.recordings

KNOWN = {
    r"/api/v1/accounts/\d+": "account",
    r"/api/v1/accounts/\d+/statuses": "statuses",
    r"/api/v1/accounts/\d+/followers": "followers",
    r"/api/v1/accounts/\d+/following": "following",
    r"/api/v1/timelines/tag/\w+": "tagged",
    r"/api/v2/search": "search",
    r"/api/v1/statuses/\d+": "status",
    r"/api/v1/statuses/\d+/context": "context",
    r"/api/v1/statuses/\d+/reblogged_by": "reblogged_by",
    r"/api/v1/statuses/\d+/favourited_by": "favourited_by",
    r"/api/v1/statuses/\d+/quotes": "quotes",
}
"""Paths → kinds. What is asked as a request URI (lookups) has tests of its own below."""
RELATIONS = {"followers", "following", "reblogged_by", "favourited_by"}


def kind_of(recorded: Recorded) -> str:
    path = recorded.path.partition("?")[0].rstrip("/")
    return next((kind for pattern, kind in KNOWN.items() if re.fullmatch(pattern, path)), "")


def known() -> list[Recorded]:
    """The last recording of every GET of a kind that is known here."""
    return [each for each in Replay(exchanges()).served.values() if kind_of(each)]


async def crawl(host: str, db: Path, roots: Sequence[Request]) -> tuple[list[Document], Tally, Sequence[Deadletter]]:
    model = settings_model((MASTODON,))
    over: Mapping[str, Any] = {"sqlite.path": db, "sqlite.synchronous": "normal", "mastodon.budgets": []}
    settings, _ = load(None, {}, over, model=model)
    clock, tally = FastClock(60), Tally()
    async with open_service(settings, {}, tally, clock=clock, platforms=(MASTODON,)) as service:
        now = clock.now()
        await service.backend.queue.push([Push(request=replace(r, asked_at=now), queue="immediate") for r in roots])
        service.supervisor.start()
        await service.supervisor.until_empty(service.backend.queue, every_s=0.02)
        await service.supervisor.drain(5)
        documents = [one async for one in service.backend.store.list(DocumentFilter(deleted=False))]
        letters = await service.backend.deadletters.list(DeadletterFilter(), limit=10_000)
    return documents, tally, letters


def things(recorded: Recorded) -> Iterator[tuple[str, Mapping[str, Any]]]:
    """What the answer shows: type and body of each thing."""
    body, kind = recorded.body, kind_of(recorded)
    if kind in ("account", "status"):
        yield kind, body
    elif kind in ("statuses", "tagged", "quotes"):
        yield from (("status", each) for each in body)
    elif kind == "context":
        yield from (("status", each) for each in (*body["ancestors"], *body["descendants"]))
    elif kind == "search":
        yield from (("account", each) for each in body["accounts"])
        yield from (("status", each) for each in body["statuses"])
    else:
        yield from (("account", each) for each in body)


async def test_every_recorded_get_of_a_known_kind_is_crawled_and_saved_as_recorded(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
):
    replay, recorded = Replay(exchanges()), known()
    async with replaying(replay) as host:
        roots = [
            Request(platform="mastodon", type=kind_of(each), url=f"mastodon://{host}{each.path}", policy="default")
            for each in recorded
        ]
        documents, _, letters = await crawl(host, tmp_path / "a.db", roots)
    with capsys.disabled():
        print(f"\n{len(exchanges())} exchanges, {len(recorded)} URLs of {len(KNOWN)} kinds, {len(documents)} documents")
        print(Counter(kind_of(each) for each in recorded), Counter(one.type for one in documents))

    assert letters == []
    stored = {one.url.rpartition("/")[2]: one for one in documents if one.type in ("account", "status")}
    kept = {each["id"]: each for one in documents if one.type in RELATIONS for each in one.body["elements"]}
    unsaved = []
    for each in (one for one in recorded if one.status == 200):
        for kind, body in things(each):
            if kind_of(each) in RELATIONS:
                found: Mapping[str, Any] | None = kept.get(body["id"])
            else:
                found = stored[body["id"]].body if body["id"] in stored else None
            if found is None or set(found) - {"suspended"} < set(body) - {"suspended"}:
                unsaved.append((each.path, kind, body["id"]))
    assert unsaved == []
    pages = {one.url for one in documents if one.type not in ("account", "status")}
    asked = {f"mastodon://{host}{each.path}" for each in recorded if kind_of(each) not in ("account", "status")}
    assert asked <= pages


async def test_a_thing_that_was_recorded_once_is_saved_to_the_letter(tmp_path: Path):
    recorded = known()
    times = Counter(body["id"] for each in recorded if each.status == 200 for _, body in things(each))
    once = [
        (kind, body, each)
        for each in recorded
        if each.status == 200 and kind_of(each) not in RELATIONS
        for kind, body in things(each)
        if times[body["id"]] == 1
    ]
    async with replaying(Replay(exchanges())) as host:
        roots = [
            Request(platform="mastodon", type=kind_of(each), url=f"mastodon://{host}{each.path}") for each in recorded
        ]
        documents, _, _ = await crawl(host, tmp_path / "a.db", roots)
    stored = {one.url: one for one in documents}
    assert len(once) > 30
    for kind, body, each in once:
        document = stored[f"mastodon://{host}/api/v1/{'statuses' if kind == 'status' else 'accounts'}/{body['id']}"]
        text = str(body).replace(each.origin, f"http://{host}")
        assert str(dict(document.body)) == text


async def test_a_tag_is_read_to_the_end_and_a_limit_stops_it(tmp_path: Path):
    page = next(each for each in known() if re.fullmatch(r"/api/v1/timelines/tag/\w{40,}\?limit=10", each.path))
    replay = Replay(exchanges())
    async with replaying(replay) as host:
        root = Request(platform="mastodon", type="tagged", url=f"mastodon://{host}{page.path}")
        documents, _, letters = await crawl(host, tmp_path / "a.db", [root])
    counts = Counter(one.type for one in documents)
    assert letters == []
    assert counts == {"status": 30, "tagged": 4}, "three pages of ten and an empty one"
    assert len(replay.asked) == 4
    tag = page.path.partition("?")[0].rpartition("/")[2]
    limited = Replay(exchanges())
    async with replaying(limited) as host:
        uri = f"mastodon://{host}/q/post/query=%23{tag}?limit=15"
        root = replace(root, url=f"mastodon://{host}{page.path}#{uri}")
        documents, _, _ = await crawl(host, tmp_path / "b.db", [root])
    assert Counter(one.type for one in documents) == {"status": 15, "tagged": 2}
    assert len(limited.asked) == 2


async def test_whoever_is_looked_up_by_a_request_uri_is_the_one_that_was_recorded(tmp_path: Path):
    replay = Replay(exchanges())
    lookup = replay.served[key("/api/v1/accounts/lookup?acct=mastodonpy_test")]
    async with replaying(replay) as host:
        spec = f"//{host}/q/profile,relations/user=mastodonpy_test"
        documents, _, letters = await crawl(host, tmp_path / "a.db", [MASTODON.read_spec(spec, "", "default")])
    (account,) = [one for one in documents if one.type == "account"]
    assert account.body["id"] == lookup.body["id"]
    assert letters == []
    assert f"http://{host}/@mastodonpy_test" in account.aliases
