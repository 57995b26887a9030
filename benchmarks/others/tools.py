"""The tools: where each comes from, what a person types to copy an organisation, and where its output is."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Final

from msgspec import Struct

from benchmarks.others.counting import WHOLE, Thing, lines, rows, things
from benchmarks.others.organisation import ORG, TOKEN
from benchmarks.others.running import Command

DRIVERS: Final = Path(__file__).with_name("drivers")
REDIRECT: Final = DRIVERS / "redirect"


class Place(Struct, frozen=True, kw_only=True):
    """Where one tool works. repos: the names of the repositories; last: when its last whole run began."""

    programs: Path
    folder: Path
    url: str
    repos: Sequence[str] = ()
    last: str = ""


class Tool(Struct, frozen=True, kw_only=True):
    """packages: pinned, for `uv pip install`; none for ghcrawl. redirected: it can only call api.github.com.

    count: what prints its output as lines, where nothing but the tool reads it; it is not measured.
    """

    name: str
    run: Callable[[Place], Iterator[Command]]
    found: Callable[[Place], Iterator[Thing]]
    packages: Sequence[str] = ()
    redirected: bool = False
    env: Mapping[str, str] = {}
    count: Callable[[Place], Command] | None = None


# ghcrawl ------------------------------------------------------------------------------------------------------------

FREE: Final = {"GHCRAWL_GITHUB__CALLS_PER_MIN": "0", "GHCRAWL_GITHUB__RESPONSE_S_PER_MIN": "0"}
LEAN: Final = {"GHCRAWL_GITHUB__PULL_REQUESTS": "list", "GHCRAWL_GITHUB__USERS": "list"}
NO_THINGS: Final = ("cursor", "reconciliation", "topics")
"""What is kept besides; topics are within a repository's own body, and others have them so."""
ALONE: Final = {"GHCRAWL_GITHUB__BATCHES": "off"}


def _ghcrawl(name: str, env: Mapping[str, str], *options: str) -> Tool:
    program = [sys.executable, "-m", "ghcrawl"]

    def run(place: Place) -> Iterator[Command]:
        yield Command(argv=[*program, "crawl", ORG, *options, "--api-url", place.url, "--db", "ghcrawl.db", "--quiet"])

    def count(place: Place) -> Command:
        argv = [*program, "documents", "export", "--db", "ghcrawl.db"]
        return Command(argv=argv, stdout=place.folder / "counted")

    def found(place: Place) -> Iterator[Thing]:
        for document in lines(place.folder / "counted"):
            known = document["_metadata"]
            if ":page" not in known["urn"] and known["type"] not in NO_THINGS and not known.get("deletedAt"):
                kind = known["type"]
                yield Thing(kind, known["urn"], kind not in WHOLE or document.get(WHOLE[kind]) is not None)

    return Tool(name=name, run=run, found=found, env={"GHCRAWL_TOKENS": TOKEN, **FREE, **env}, count=count)


# Others -------------------------------------------------------------------------------------------------------------

PARTS: Final = ("issues", "pull-requests", "issue-comments", "commits", "releases", "tags")
TABLES: Final = {
    "repos": "repo",
    "users": "user",
    "labels": "label",
    "milestones": "milestone",
    "releases": "release",
    "assets": "release_asset",
    "tags": "tag",
    "issues": "issue",
    "issue_comments": "issue_comment",
    "pull_requests": "pull_request",
    "commits": "commit",
}


def _github_to_sqlite(place: Place) -> Iterator[Command]:
    (place.folder / "auth.json").write_text(json.dumps({"github_personal_token": TOKEN}))
    program = str(place.programs / "github-to-sqlite")
    yield Command(argv=[program, "repos", "github.db", ORG, "--auth", "auth.json"])
    for repo in place.repos:
        for part in PARTS:
            yield Command(argv=[program, part, "github.db", f"{ORG}/{repo}", "--auth", "auth.json"])


STREAMS: Final = {
    "organizations": "org",
    "organization_members": "user",
    "teams": "team",
    "repositories": "repo",
    "labels": "label",
    "milestones": "milestone",
    "releases": "release",
    "branches": "branch",
    "tags": "tag",
    "commits": "commit",
    "commit_comments": "commit_comment",
    "issues": "issue",
    "issue_comments": "issue_comment",
    "issue_events": "issue_event",
    "pull_requests": "pull_request",
    "reviews": "review",
    "review_comments": "review_comment",
}


def _tap_github(place: Place) -> Iterator[Command]:
    """To a file, without a target; it goes on from the last state that it told."""
    config = {
        "organizations": [ORG],
        "auth_token": TOKEN,
        "api_url_base": place.url,
        "stream_options": {"milestones": {"state": "all"}},
    }
    (place.folder / "config.json").write_text(json.dumps(config))
    program = [str(place.programs / "python"), str(DRIVERS / "tap_going_on.py"), "--config", "config.json"]
    catalog, out, state = (place.folder / name for name in ("catalog.json", "saved.jsonl", "state.json"))
    if not catalog.exists():
        yield Command(argv=[*program, "--discover"], stdout=catalog)
        catalog.write_text(json.dumps(_selected(json.loads(catalog.read_text()), STREAMS)))
    states = [line["value"] for line in lines(out) if line["type"] == "STATE"]
    state.write_text(json.dumps(states[-1] if states else {}))
    yield Command(argv=[*program, "--catalog", catalog.name, "--state", state.name], stdout=out)


def _selected(catalog: Any, wanted: Iterable[str]) -> Any:
    for stream in catalog["streams"]:
        for entry in stream["metadata"]:
            if not entry["breadcrumb"]:
                entry["metadata"]["selected"] = stream["tap_stream_id"] in wanted
    return catalog


def _tapped_things(place: Place) -> Iterator[Thing]:
    for line in lines(place.folder / "saved.jsonl"):
        if line["type"] == "RECORD" and line["stream"] in STREAMS:
            yield from _tapped_thing(STREAMS[line["stream"]], line["record"])


def _tapped_thing(kind: str, record: Mapping[str, Any]) -> Iterator[Thing]:
    if kind in ("branch", "tag"):
        yield Thing(kind, f"{record['repo']}#{record['name']}")
    else:
        yield from things(kind, record)


def _dlt(place: Place) -> Iterator[Command]:
    yield Command(argv=[str(place.programs / "python"), str(DRIVERS / "dlt_pipeline.py"), "load"])


def _dlt_counts(place: Place) -> Command:
    argv = [str(place.programs / "python"), str(DRIVERS / "dlt_pipeline.py"), "count"]
    return Command(argv=argv, stdout=place.folder / "counted")


def _dlt_things(place: Place) -> Iterator[Thing]:
    for line in (place.folder / "counted").read_text().splitlines():
        kind, key, whole = line.split("\t")
        yield Thing(kind, key, whole == "1")


WANTED: Final = (
    *("--issues", "--issue-comments", "--issue-events", "--pulls", "--pull-comments", "--pull-reviews"),
    *("--pull-details", "--labels", "--milestones", "--releases", "--private", "--fork", "--incremental"),
)
CARRIED: Final = {
    "issues": {"comment_data": "issue_comment", "event_data": "issue_event"},
    "pulls": {"comment_data": "review_comment", "comment_regular_data": "issue_comment", "review_data": "review"},
}
IN_FOLDER: Final = {"issues": "issue", "pulls": "pull_request", "milestones": "milestone", "releases": "release"}


def _github_backup(place: Place) -> Iterator[Command]:
    for repo in place.repos:
        where = ["--token", TOKEN, "--organization", "--repository", repo, "--output-directory", "backup"]
        yield Command(argv=[str(place.programs / "github-backup"), ORG, *where, *WANTED])


def _backed_up(place: Place) -> Iterator[Thing]:
    for folder, kind in IN_FOLDER.items():
        for path in place.folder.glob(f"backup/repositories/*/{folder}/*.json"):
            body = _json(path)
            yield from things(kind, body) if body else ()
            for key, of in CARRIED.get(folder, {}).items():
                yield from (one for each in body.get(key) or () for one in things(of, each))
    for path in place.folder.glob("backup/repositories/*/labels/labels.json"):
        yield from (one for label in _json(path) or () for one in things("label", label))


def _json(path: Path) -> Any:
    try:
        return json.loads(path.read_bytes())
    except ValueError:  # cut off by a kill
        return {}


CATEGORIES: Final = {"repository": "repo", "issue": "issue", "pull_request": "pull_request"}
WITHIN: Final = {
    "issue": {"comments_data": "issue_comment", "user_data": "user"},
    "pull_request": {"reviews_data": "review", "review_comments_data": "review_comment", "user_data": "user"},
}


def _perceval(place: Place) -> Iterator[Command]:
    for repo in place.repos:
        for category in CATEGORIES:
            since = ["--from-date", place.last] if place.last and category != "repository" else []
            where = ["github", ORG, repo, "--category", category, "-t", TOKEN, "--no-archive", "--json-line"]
            where += ["--sleep-time", "0"]  # else half a minute for each list of a blocked repository
            argv = [str(place.programs / "perceval"), *where, *since]
            yield Command(argv=argv, stdout=place.folder / f"{repo}.{category}.jsonl")


def _perceived(place: Place) -> Iterator[Thing]:
    for category, kind in CATEGORIES.items():
        for path in place.folder.glob(f"*.{category}.jsonl"):
            for item in lines(path):
                body = item["data"]
                yield from things(kind, body)
                for key, of in WITHIN.get(category, {}).items():
                    found = body.get(key) or []
                    for each in [found] if isinstance(found, dict) else found:
                        yield from things(of, each)


def _pygithub(place: Place) -> Iterator[Command]:
    driver = str(DRIVERS / "pygithub_loop.py")
    yield Command(argv=[str(place.programs / "python"), driver, place.url, TOKEN, ORG, "saved.jsonl"])


def _scrapy(*options: str) -> Callable[[Place], Iterator[Command]]:
    def run(place: Place) -> Iterator[Command]:
        spider = [str(place.programs / "scrapy"), "runspider", str(DRIVERS / "scrapy_spider.py")]
        yield Command(argv=[*spider, "-O", "saved.jsonl", "-L", "ERROR", *options])

    return run


def _saved_lines(place: Place) -> Iterator[Thing]:
    for body in lines(place.folder / "saved.jsonl"):
        yield from things(body["kind"], body)


SCRAPY: Final = ("Scrapy==2.19.0",)
RFC2616: Final = ("-s", "HTTPCACHE_ENABLED=1", "-s", "HTTPCACHE_POLICY=scrapy.extensions.httpcache.RFC2616Policy")
TOOLS: Final = (
    _ghcrawl("ghcrawl", {}),
    _ghcrawl("ghcrawl, batches off", ALONE),
    _ghcrawl("ghcrawl, as listed", LEAN),
    _ghcrawl("ghcrawl, as listed, batches off", LEAN | ALONE),
    _ghcrawl("ghcrawl, everything", {}, "--scenario", "everything"),
    _ghcrawl("ghcrawl, everything, batches off", ALONE, "--scenario", "everything"),
    Tool(
        name="github-to-sqlite",
        packages=("github-to-sqlite==2.9.1",),
        run=_github_to_sqlite,
        found=lambda place: rows(place.folder / "github.db", TABLES),
        redirected=True,
    ),
    Tool(
        name="tap-github",
        packages=("meltanolabs-tap-github==1.30.1",),
        run=_tap_github,
        found=_tapped_things,
        redirected=True,
    ),
    Tool(name="dlt", packages=("dlt[duckdb]==1.31.0",), run=_dlt, found=_dlt_things, count=_dlt_counts),
    Tool(
        name="github-backup",
        packages=("github-backup==0.65.1",),
        run=_github_backup,
        found=_backed_up,
        redirected=True,
    ),
    Tool(name="perceval", packages=("perceval==1.6.1",), run=_perceval, found=_perceived, redirected=True),
    Tool(name="PyGithub loop", packages=("PyGithub==2.10.0",), run=_pygithub, found=_saved_lines),
    Tool(name="Scrapy spider", packages=SCRAPY, run=_scrapy(), found=_saved_lines),
    Tool(name="Scrapy spider, RFC 2616 cache", packages=SCRAPY, run=_scrapy(*RFC2616), found=_saved_lines),
)
