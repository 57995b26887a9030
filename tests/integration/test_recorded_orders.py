"""What GitHub really answered, crawled in any order: no document ends with less than its own recorded answer."""

from __future__ import annotations

import random
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest

from ghcrawl.values.documents import Document
from ghcrawl.values.frozen import replace
from processors.github import LISTINGS
from processors.github.entities import BY_TYPE
from processors.github.names import owner_kind
from tests.integration.test_recordings import answers, crawl
from tests.support.forms import paths
from tests.support.recordings import API, Exchange, octokit, pygithub
from tests.support.replay import Replay, replaying

pytestmark = [pytest.mark.recordings, pytest.mark.slow]

IN_FORMS = {type for type, entity in BY_TYPE.items() if entity.lacks}
ELEMENTS = {(row.of, row.type): row for row in LISTINGS if row.element in IN_FORMS and row.complete}
LISTS = {row.type for row in LISTINGS if row.element in IN_FORMS}
TURNS = 4
"""Parts into which the routes are cut, each a crawl of its own."""


class Noting(Replay):
    """A replay that knows what it was asked: what a list told as whole is not asked for again."""

    def __init__(self, exchanges: Iterable[Exchange]) -> None:
        super().__init__(exchanges)
        self.asked: set[str] = set()

    def find(self, path_qs: str) -> Exchange | None:
        found = super().find(path_qs)
        if found is not None:
            self.asked.add(found.path)
        return found


@pytest.fixture
def replay() -> Noting:
    return Noting([*pygithub(), *octokit()])


def routes(replay: Replay) -> Mapping[str, str]:
    """Path → type: whatever is told in several forms, by itself and in lists."""
    found = answers(list(replay.served.values()))
    return {exchange.path: request.type for request, exchange in found if request.type in IN_FORMS | LISTS}


def told(replay: Noting, url: str) -> Iterator[tuple[str, str, Mapping[str, Any]]]:
    """(form, type, body) of everything that was answered, with the address that the replay gives it.

    Alone, or as an element of a list whose elements are saved; a relation keeps its elements itself. A stub that
    PyGithub's authors cut down names nothing.
    """
    for request, exchange in answers(list(replay.served.values())):
        if exchange.path not in replay.asked:
            continue
        body = replace(exchange, text=exchange.text.replace(API, url)).body
        if request.type in IN_FORMS and isinstance(body, dict):
            yield "own", request.type, body
        row = ELEMENTS.get((owner_kind(request.context.qualifier), request.type))
        if row is not None:
            items = body.get(row.item_at, body.get("elements")) if isinstance(body, dict) else body
            told_of = (item for item in items or () if isinstance(item, dict) and "url" in item)
            yield from (("list", row.element, _said(item)) for item in told_of)


def _said(item: Mapping[str, Any]) -> dict[str, Any]:
    """What an element says that is something: of a null the thing's own answer may say nothing at all."""
    found = {name: _said(value) if isinstance(value, dict) else value for name, value in item.items()}
    return {name: value for name, value in found.items() if value not in (None, {})}


def _account(name: str) -> Callable[[Mapping[str, Any]], str | None]:
    def named(body: Mapping[str, Any]) -> str | None:
        who = body.get(name)
        if not isinstance(who, dict) or not isinstance(who.get("id"), int) or not who.get("url"):
            return None
        return f"urn:{'org' if who.get('type') == 'Organization' else 'user'}:{who['id']}"

    return named


RULES: Mapping[tuple[str, str], Callable[[Mapping[str, Any]], str | None]] = {
    ("issue", "user"): _account("user"),
    ("issue", "closed_by"): _account("closed_by"),
    ("pull_request", "user"): _account("user"),
    ("pull_request", "merged_by"): _account("merged_by"),
    ("commit", "author"): _account("author"),
    ("commit", "committer"): _account("committer"),
    ("repo", "owner"): _account("owner"),
    ("issue_event", "actor"): _account("actor"),
}
"""(type, link) → where it leads, read from the body by no more than GitHub's description."""


@pytest.mark.parametrize("seed", range(5))
async def test_no_order_of_recorded_routes_ends_with_less_than_was_answered(
    replay: Noting, tmp_path: Path, seed: int
) -> None:
    """All routes in a random order, cut into a few crawls, and then once more in another order."""
    async with replaying(replay) as url:
        specs = sorted(url + path for path in routes(replay))
        documents: Mapping[str, Document] = {}
        for turn in range(2):
            random.Random(f"{seed}/{turn}").shuffle(specs)
            for part in _parts(specs):
                documents, _, _ = await crawl(url, tmp_path / "crawl.db", part)
        wanted = list(told(replay, url))
    assert Counter(form for form, _, _ in wanted) > Counter(own=150, list=300)
    assert list(_poorer(documents, wanted)) == []
    assert [(one.urn, name) for one in documents.values() for name in _wrongly_linked(one)] == []


def _parts(specs: Sequence[str]) -> Sequence[Sequence[str]]:
    return [specs[number::TURNS] for number in range(TURNS)]


def _poorer(documents: Mapping[str, Document], wanted: Sequence[tuple[str, str, Mapping[str, Any]]]) -> Iterator[Any]:
    """The documents that lack, however deep, what each answer of one form has.

    Some things were recorded in several years, under several names or in several lists: then the one that came last
    is in force.
    """
    by_url = {(one.type, each): one for one in documents.values() for each in (one.url, *one.aliases)}
    lacking: dict[tuple[str, str], list[list[tuple[str, ...]]]] = defaultdict(list)
    for form, type, body in wanted:
        document = by_url.get((type, str(body.get("url"))))
        if document is not None:
            lacks = [path for path in paths(dict(body)) if not _told(document.body, path)]
            lacking[form, document.urn].append(lacks)
    yield from ((form, urn, sorted(each[0])[:5]) for (form, urn), each in lacking.items() if all(each))


def _told(body: Any, path: Sequence[str]) -> bool:
    """Whether something is said there, be it that there is nothing."""
    for name in path:
        if not isinstance(body, Mapping):
            return True
        if name not in body:
            return False
        body = body[name]
    return True


def _wrongly_linked(document: Document) -> Iterator[str]:
    for (type, name), rule in RULES.items():
        link = document.links.get(name)
        if type == document.type and (link.href if link else None) != rule(document.body):
            yield name
