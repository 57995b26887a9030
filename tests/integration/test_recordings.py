"""What GitHub really answered, recorded by others: every exchange through its processor, and crawls over a replay.

Installed from the package registries when the test runs; see `tests.support.recordings`.
"""

from __future__ import annotations

import json
import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from ghcrawl.platforms.tables import Table
from ghcrawl.ports.deadletters import DeadletterFilter
from ghcrawl.ports.store import DocumentFilter
from ghcrawl.tables.projection import Projector
from ghcrawl.telemetry.tally import Tally
from ghcrawl.values.deadletters import Deadletter
from ghcrawl.values.documents import Document
from ghcrawl.values.errors import Malformed, SpecError
from ghcrawl.values.frozen import replace
from ghcrawl.values.outcome import (
    Fetched,
    Save,
    Skip,
    Visit,
)
from ghcrawl.values.requests import Context, Pagination, Push, Request
from ghcrawl.values.type_names import LEGACY_PLATFORM
from ghcrawl.wiring import load, open_service
from processors.github import ENTITIES, LISTINGS
from processors.github.entities import BY_TYPE
from processors.github.events_table import EVENT_RULES, Action
from processors.github.tables import TABLES
from processors.github.webhook import type_of
from tests.support.builders import NOW
from tests.support.clock import FastClock
from tests.support.document_types import fields_of, observe
from tests.support.github import PLATFORM, kind_of
from tests.support.platforms import SIMULATED
from tests.support.recordings import API, Exchange, octokit, pygithub, webhooks
from tests.support.replay import Replay, replaying

pytestmark = pytest.mark.recordings

STUBS = "recorded elements that PyGithub's authors cut down to their id"
NO_JSON = "the recorded body is no JSON"


@pytest.fixture(scope="module")
def exchanges() -> list[Exchange]:
    return [*pygithub(), *octokit()]


@dataclass
class Report:
    """What became of the recorded answers. Whatever is refused is refused with a reason that explains itself."""

    processed: Counter[str] = field(default_factory=Counter)
    refused: dict[str, Counter[str]] = field(default_factory=dict)

    def process(self, visit: Visit) -> Save | Skip | None:
        kind, body = visit.request.type, visit.fetched.body
        listed = " in a list" if visit.request.payload else ""
        try:
            outcome = kind_of(kind).processor(visit)
        except Malformed as refusal:
            self.refused.setdefault(kind + listed, Counter())[_explanation(body, str(refusal))] += 1
            return None
        self.processed[kind + listed] += 1
        if isinstance(outcome, Save) and "@" not in PLATFORM.kinds[kind].position and kind != "events":
            assert outcome.document.body == _stored(kind, body)
        return outcome

    def __str__(self) -> str:
        lines = [f"{kind}: {count} processed" for kind, count in sorted(self.processed.items())]
        lines += [f"{kind}: {dict(reasons)} refused" for kind, reasons in sorted(self.refused.items())]
        return "\n".join(lines)


def _stored(kind: str, body: Any) -> Any:
    """What is stored of a recorded body: all of it but the secret of a secret scanning alert."""
    if isinstance(body, list):
        return {"elements": body}
    return {name: value for name, value in body.items() if (kind, name) != ("secret_scanning_alert", "secret")}


def _explanation(body: Any, refusal: str) -> str:
    if body is None:
        return NO_JSON
    return STUBS if isinstance(body, dict) and set(body) == {"id"} else refusal


def read(exchange: Exchange) -> Request | None:
    """The request that leads to this exchange; None where nothing here knows such a URL."""
    try:
        return PLATFORM.read_spec(API + exchange.path, API, "default")
    except SpecError:
        return None


def direct(request: Request) -> Request:
    """The request for the thing itself, as its repository or organisation would have made it."""
    if not request.context.then:
        return request
    deferred = request.context.then[-1]
    above = {"repo": "urn:repo:12", "org": "urn:org:9", "team": "urn:team:7", "user": "urn:user:5"}[request.type]
    below = re.search(rf"/({'|'.join(BELOW)})/(\w+)/", deferred.url)
    if below:
        above = f"{above}:{BELOW[below[1]]}:{below[2]}"
    return replace(
        request, type=deferred.type, url=deferred.url, context=Context(qualifier=above, pagination=Pagination())
    )


BELOW = {
    "pulls": "pull_request",
    "issues": "issue",
    "commits": "commit",
    "deployments": "deployment",
    "releases": "release",
    "workflows": "workflow",
    "check-suites": "check_suite",
    "check-runs": "commit:abc:check_run",
    "runs": "workflow_run",
}
ON_COMMENTS = re.compile(r"(/repos/[^/]+/[^/]+)(/issues|/pulls|)/comments/(\d+)/reactions")
COMMENTS = {
    "/issues": "issue:1:issue_comment",
    "/pulls": "pull_request:1:review_comment",
    "": "commit:a:commit_comment",
}


def on_a_comment(exchange: Exchange) -> Request | None:
    """The request for the reactions to a comment, as the comment would have made it."""
    found = ON_COMMENTS.match(exchange.path)
    if found is None:
        return None
    qualifier = f"urn:repo:12:{COMMENTS[found[2]]}:{found[3]}"
    return Request(
        platform=LEGACY_PLATFORM, type="reactions", url=API + exchange.path, context=Context(qualifier=qualifier)
    )


def of_a_suite(exchange: Exchange) -> Request | None:
    """The request for the runs of a check suite, as the suite would have made it."""
    found = re.match(r"/repos/[^/]+/[^/]+/check-suites/(\d+)/check-runs", exchange.path)
    qualifier = f"urn:repo:12:commit:abc:check_suite:{found[1]}" if found else ""
    return (
        Request(
            platform=LEGACY_PLATFORM, type="check_runs", url=API + exchange.path, context=Context(qualifier=qualifier)
        )
        if found
        else None
    )


def visit(request: Request, body: Any, link: Mapping[str, str] | None = None) -> Visit:
    kind = kind_of(request.type)
    spec = f"default:{kind.position}"
    return Visit(
        request=replace(request, policy=spec),
        fetched=Fetched(body=body, url=request.url, observed_at=NOW, checked_at=NOW, link=link or {}),
        next_hops=PLATFORM.scenarios.next_hops(spec),
        version=kind.version,
        processed_at=NOW,
    )


def answers(exchanges: Sequence[Exchange]) -> list[tuple[Request, Exchange]]:
    """Every recorded GET of something known here that GitHub answered with its JSON."""
    found = []
    for exchange in exchanges:
        if exchange.method != "GET" or exchange.status != 200:
            continue
        request = on_a_comment(exchange) or of_a_suite(exchange) or read(exchange)
        if request is not None:
            found.append((direct(request), exchange))
    return found


def written(exchanges: Sequence[Exchange]) -> list[tuple[Request, Exchange]]:
    """Every recorded answer to a write that shows the thing as it is since then."""
    elements = {(row.of, row.type): row.element for row in LISTINGS}
    found = []
    for exchange in exchanges:
        request = read(exchange) if exchange.method in ("POST", "PATCH", "PUT") else None
        if request is None or exchange.status not in (200, 201) or not isinstance(exchange.body, dict):
            continue
        request = direct(request)
        owner = request.context.qualifier.split(":")[-2] if request.context.qualifier else ""
        if exchange.method == "POST":
            request = replace(request, type=elements.get((owner, request.type), ""), url=exchange.body.get("url", ""))
        if request.type in ENTITY_TYPES and request.url and not NO_RESOURCE & exchange.body.keys():
            found.append((request, exchange))
    return found


ENTITY_TYPES = {row.type for row in ENTITIES}
NO_RESOURCE = {"message", "merged", "starred"}


def unread(exchanges: Sequence[Exchange]) -> Counter[str]:
    """Why exchanges are no visit to anything: counted, so that none is overlooked."""
    read_ones = {id(exchange) for _, exchange in [*answers(exchanges), *written(exchanges)]}
    return Counter(_reason(exchange) for exchange in exchanges if id(exchange) not in read_ones)


def _reason(exchange: Exchange) -> str:
    if exchange.method not in ("GET", "POST", "PATCH", "PUT"):
        return f"{exchange.method}: nothing is sent back"
    if exchange.status >= 300 or exchange.status in (202, 204, 205):
        return f"answered {exchange.status}: the fetcher deals with it"
    if exchange.method != "GET":
        return "a write that does not send back a thing known here"
    return "a URL of nothing that is crawled"


def test_every_recorded_answer_of_a_known_kind_is_processed_and_kept_whole(
    exchanges: list[Exchange], capsys: pytest.CaptureFixture[str]
):
    report = Report()
    for request, exchange in answers(exchanges):
        outcome = report.process(visit(request, exchange.body, exchange.link))
        for push in outcome.follow_ups if outcome else ():
            if push.request.payload is not None and push.request.type != "cursor":
                report.process(visit(push.request, push.request.payload.body))
    for request, exchange in written(exchanges):
        report.process(visit(request, exchange.body))
    with capsys.disabled():
        print(f"\n{len(exchanges)} exchanges\n{report}\n{unread(exchanges)}")

    assert sum(count for kind, count in report.processed.items() if "list" not in kind) > 1100
    assert {reason for reasons in report.refused.values() for reason in reasons} <= {STUBS, NO_JSON}


def test_webhooks_are_kept_as_rest_writes_the_same(exchanges: list[Exchange]):
    """Fields are of the same kinds of JSON in both, and words for one thing are written alike."""
    rest, told = by_field(read_things(exchanges)), by_field(told_things())
    both = told.keys() & rest.keys()

    assert len({type for type, _ in both}) > 12
    assert [at for at in both if _kinds(rest[at]) and not _kinds(told[at]) <= _kinds(rest[at])] == []
    words = [at for at in both if at[1] not in FREE_TEXT]
    assert [at for at in words if {text.swapcase() for text in _texts(told[at])} & _texts(rest[at])] == []


FREE_TEXT = {"body", "name", "title"}


def test_what_the_page_of_documents_calls_always_there_is_always_there(exchanges: list[Exchange]):
    """In what was answered since 2023, alone or whole in lists, and never null where the page does not say so."""
    seen, recent = observe(), [each for each in exchanges if RECENT.search(each.headers.get("date", ""))]
    wrong, looked_at = set(), Counter[str]()
    for type, body in read_things(recent):
        if type not in seen or _cut_down(body):
            continue
        looked_at[type] += 1
        for name, said in fields_of(type, seen[type]).items():
            if said.always and (name not in body or (body[name] is None and "null" not in said.kinds)):
                wrong.add((type, name))
    assert len(looked_at) > 10
    assert sorted(wrong) == []


RECENT = re.compile(r" 202[3-9] ")


def _cut_down(body: Mapping[str, Any]) -> bool:
    """A stub, or a page that says how many things there are."""
    return set(body) == {"id"} or "total_count" in body


def by_field(things: Iterable[tuple[str, Mapping[str, Any]]]) -> Mapping[tuple[str, str], Sequence[Any]]:
    """(type, field) → what it holds."""
    found: dict[tuple[str, str], list[Any]] = defaultdict(list)
    for type, body in things:
        for name, value in body.items():
            found[type, name].append(value)
    return found


def read_things(exchanges: list[Exchange]) -> Iterable[tuple[str, Mapping[str, Any]]]:
    """The things that were answered, alone or whole in lists."""
    elements = {row.type: row.element for row in LISTINGS if row.complete}
    for request, exchange in answers(exchanges):
        type, body = elements.get(request.type, request.type), exchange.body
        for item in body if isinstance(body, list) else [body]:
            if type in ENTITY_TYPES and isinstance(item, dict):
                yield type, item


def told_things() -> Iterable[tuple[str, Mapping[str, Any]]]:
    """The things that are saved from webhooks, as they are."""
    for hook in webhooks():
        for rule in EVENT_RULES[type_of(hook.event)]:
            thing: Any = hook.payload
            for step in rule.at:
                thing = thing.get(step) if isinstance(thing, dict) else None
            if rule.action is Action.SAVE and rule.applies(hook.payload) and isinstance(thing, dict):
                yield rule.type, BY_TYPE[rule.type].as_rest(thing, "webhook") if rule.whole(thing) else {}


def _kinds(values: Sequence[Any]) -> set[type]:
    return {type(value) for value in values if value is not None}


def _texts(values: Sequence[Any]) -> set[str]:
    return {value for value in values if isinstance(value, str)}


def test_every_recorded_value_fits_its_column(exchanges: list[Exchange], capsys: pytest.CaptureFixture[str]):
    """What does not fit is in `extra` under the name of its column; what GitHub sent beside its description, too."""
    projector = Projector(TABLES, moments=lambda at: at)
    rows, more, misfits = Counter[str](), Counter[str](), set[tuple[str, Any]]()
    for document in _documents(exchanges):
        for table, row in projector.rows(document):
            rows[table.name] += 1
            if isinstance(table, Table):
                found = dict(zip((column.name for column in table.columns), row, strict=True))
                extra = json.loads(found["extra"] or "{}")
                misfits |= {(f"{table.name}.{name}", extra[name]) for name in extra.keys() & found.keys()}
                more.update(f"{table.name}.{name}" for name in extra.keys() - found.keys())
    with capsys.disabled():
        print(f"\n{rows.total()} rows of {len(rows)} tables; beside the columns: {dict(more)}")

    assert sum(rows[table.name] for table in TABLES.tables) > 2000
    assert misfits == INVENTED


INVENTED = {("users.created_at", "foobar"), ("users.name", 42)}
"""What PyGithub's authors wrote into a recording, to see what their own code does with it.

`updated_at` is 42 there, which fits: GitHub gives some moments in seconds since 1970.
"""
INVENTED_URL = "dismissed_by.url"
"""So did they here, for the URL of a user."""


def _documents(exchanges: Sequence[Exchange]) -> Iterator[Document]:
    report = Report()
    visits = [visit(request, exchange.body, exchange.link) for request, exchange in answers(exchanges)]
    visits += [visit(request, exchange.body) for request, exchange in written(exchanges)]
    for each in visits:
        outcome = report.process(each)
        if isinstance(outcome, Save):
            yield outcome.document
        for push in outcome.follow_ups if outcome else ():
            if push.request.payload is not None and push.request.type != "cursor":
                below = report.process(visit(push.request, push.request.payload.body))
                if isinstance(below, Save):
                    yield below.document


async def test_a_crawl_over_the_recordings_saves_every_recorded_thing(
    exchanges: list[Exchange], tmp_path: Path, capsys: pytest.CaptureFixture[str]
):
    replay = Replay(exchanges)
    recorded = answers(list(replay.served.values()))
    async with replaying(replay) as url:
        specs = sorted({url + exchange.path for _, exchange in recorded})
        documents, tally, letters = await crawl(url, tmp_path / "crawl.db", specs)
    saved = {name for document in documents.values() for name in _names(document.type, document.body)}
    saved |= {(document.type, _below(document.url)) for document in documents.values()}
    apart = (on_a_comment, of_a_suite)  # these are found with what they are on, never alone
    whole = [(one, exchange) for one, exchange in recorded if not any(on(exchange) for on in apart)]
    wanted = [(names, exchange.path) for one, exchange in whole for names in _recorded_things(one, exchange)]
    unsaved = [(names, path) for names, path in wanted if not names & saved]
    with capsys.disabled():
        print(f"\n{len(specs)} URLs crawled: {len(wanted)} things recorded, {len(documents)} documents")
        print(Counter(f"{letter.request.type}: {letter.reason}" for letter in letters))
        print(tally.figures())

    assert unsaved == []
    real = [letter for letter in letters if letter.request.url != INVENTED_URL]
    assert {letter.kind for letter in real} <= {"malformed", "invalid_json"}  # the latter: no JSON was recorded


async def crawl(url: str, db: Path, specs: Sequence[str]) -> tuple[Mapping[str, Document], Tally, Sequence[Deadletter]]:
    settings, _ = load(None, {}, {"sqlite.path": db, "sqlite.synchronous": "normal", "github.api_url": url} | SIMULATED)
    clock = FastClock(60)
    tally, now = Tally(), clock.now()
    async with open_service(settings, {}, tally, clock=clock) as service:
        roots = [PLATFORM.read_spec(spec, url, "default") for spec in specs]
        pushes = [Push(request=replace(root, asked_at=now), queue="immediate") for root in roots]
        await service.backend.queue.push(pushes)
        service.supervisor.start()
        await service.supervisor.until_empty(service.backend.queue, every_s=0.02)
        await service.supervisor.drain(5)
        documents = {one.urn: one async for one in service.backend.store.list(DocumentFilter())}
        letters = await service.backend.deadletters.list(DeadletterFilter(), limit=10_000)
    return documents, tally, letters


def _names(kind: str, thing: Mapping[str, Any]) -> set[tuple[str, Any]]:
    """What a thing may be known by: recordings of different years give one thing other URLs, and labels had no id."""
    url = _below(str(thing.get("url") or ""))
    found = {(kind, thing.get(name)) for name in ("sha", "id", "name", "ref")} | {(kind, url)}
    return {(kind, value) for kind, value in found if value}


def _below(url: str) -> str:
    """A URL's path, whatever its host and, for what is a document each day, its day."""
    return url.partition("//")[2].partition("/")[2].partition("#")[0].partition("?")[0]


def _recorded_things(request: Request, exchange: Exchange) -> list[set[tuple[str, Any]]]:
    """What the exchange shows: the thing itself, or the elements of a list that are whole resources."""
    body = exchange.body
    if "@" not in PLATFORM.kinds[request.type].position:
        if not isinstance(body, dict):
            return []
        type = "org" if request.type == "user" and body.get("type") == "Organization" else request.type
        return [_names(type, body) | {(type, _below(API + exchange.path))}]
    outcome = kind_of(request.type).processor(visit(request, body))
    carried = [push.request for push in outcome.follow_ups if push.request.payload is not None]
    whole = [one for one in carried if one.payload and set(one.payload.body) != {"id"} and one.type != "cursor"]
    return [_names(one.type, one.payload.body) for one in whole if one.payload]
