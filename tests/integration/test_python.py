"""The Python API on a simulated GitHub: every example of its manual runs, and says what is true."""

from __future__ import annotations

import asyncio
import re
import threading
from collections.abc import Iterator
from concurrent.futures import Future
from datetime import UTC, date, datetime
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest

import ghcrawl
from tests.support.crawling import TOKEN, Stage, stage
from tests.support.logs import own_logging

MANUAL = (Path(__file__).parents[2] / "docs" / "python.md").read_text(encoding="utf-8")
EXAMPLES = re.findall(r"```python\n(.*?)```", MANUAL, re.DOTALL)
FIRST, READ, FOLLOW, FRAME = EXAMPLES


@pytest.fixture(scope="module")
def github(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Stage]:
    """A simulated GitHub, which another thread serves."""
    found: Future[Stage] = Future()
    stop = threading.Event()

    async def serve() -> None:
        async with stage(tmp_path_factory.mktemp("python")) as it:
            found.set_result(it)
            await asyncio.to_thread(stop.wait)

    thread = threading.Thread(target=lambda: asyncio.run(serve()))
    thread.start()
    yield found.result(timeout=60)
    stop.set()
    thread.join()


@pytest.fixture
def here(github: Stage, monkeypatch: pytest.MonkeyPatch) -> Iterator[Stage]:
    monkeypatch.chdir(github.db.parent)
    monkeypatch.setenv("GHCRAWL_TOKENS", TOKEN)
    monkeypatch.setenv("GHCRAWL_GITHUB__API_URL", github.server.url)
    monkeypatch.setenv("GHCRAWL_GITHUB__CALLS_PER_MIN", "0")
    monkeypatch.setenv("GHCRAWL_GITHUB__RESPONSE_S_PER_MIN", "0")
    with own_logging():
        yield github


@pytest.fixture
def crawled(here: Stage, capsys: pytest.CaptureFixture[str]) -> Stage:
    if not Path("acme.db").exists():
        run(FIRST, capsys)
    return here


def run(example: str, capsys: pytest.CaptureFixture[str]) -> str:
    capsys.readouterr()
    exec(example, {})  # our own manual
    return capsys.readouterr().out


def issues(it: Stage) -> dict[str, str]:
    """URN to title of what the example crawls."""
    (repo,) = (one for one in it.world.repos_of(it.world.org("acme")) if one.full_name == "acme/web")
    return {f"urn:repo:{repo.id}:issue:{one.number}": one.title for one in repo.issues.values()}


def test_a_crawl_in_three_lines(here: Stage, capsys: pytest.CaptureFixture[str]) -> None:
    Path("acme.db").unlink(missing_ok=True)
    before = here.server.journal.total
    said = run(FIRST, capsys)
    assert said == f"True {len(issues(here))} issues with {here.server.journal.total - before} calls\n"
    assert run(FIRST.replace('["issue"]', '.get("issue", 0)'), capsys).startswith("True 0 issues with ")


def test_documents_are_read(crawled: Stage, capsys: pytest.CaptureFixture[str]) -> None:
    count, *lines = run(READ, capsys).splitlines()
    told = {line.split(" ", 2)[0]: line.split(" ", 2)[2].rsplit(" ", 2)[0] for line in lines}
    assert told == issues(crawled)
    assert int(count) == len(told)


def test_links_are_followed(crawled: Stage, capsys: pytest.CaptureFixture[str]) -> None:
    (repo,) = (one for one in crawled.world.repos_of(crawled.world.org("acme")) if one.full_name == "acme/web")
    truth = {f"{one.number} {one.user.login}" for one in repo.issues.values() if one.pull and one.user}
    assert {*run(FOLLOW, capsys).splitlines()} == truth


def test_a_frame_has_the_types_of_the_table(crawled: Stage, capsys: pytest.CaptureFixture[str]) -> None:
    assert "user_login" in run(FRAME, capsys)
    with ghcrawl.open("acme.db") as saved:
        frame = saved.frame("issue")
        empty = saved.frame("issue", since="2999-01-01")
    assert dict(zip(frame["urn"], frame["title"], strict=True)) == issues(crawled)
    types = {name: str(frame[name].dtype) for name in ("id", "locked", "created_at", "title")}
    assert types == {"id": "Int64", "locked": "boolean", "created_at": "datetime64[us, UTC]", "title": "string"}
    assert (len(empty), list(empty.dtypes)) == (0, list(frame.dtypes))


def test_a_frame_of_polars_has_them_too(crawled: Stage) -> None:
    polars: Any = pytest.importorskip("polars")
    with ghcrawl.open("acme.db") as saved:
        frame = saved.frame("issue", library="polars")
        empty = saved.frame("issue", since="2999-01-01", library="polars")
    assert dict(zip(frame["urn"], frame["title"], strict=True)) == issues(crawled)
    moment = polars.Datetime("us", "UTC")
    expected = {"id": polars.Int64, "locked": polars.Boolean, "created_at": moment, "title": polars.String}
    assert {name: frame.schema[name] for name in expected} == expected
    assert (len(empty), empty.schema) == (0, frame.schema)


def test_a_frame_is_called_as_its_table_is(crawled: Stage) -> None:
    pytest.importorskip("pandas")
    with ghcrawl.open("acme.db") as saved:
        assert saved.frame("issues").equals(saved.frame("issue"))
        labels, accounts = saved.frame("issue_labels"), saved.frame("accounts")
        found = {(one.urn, at) for one in saved.documents("issue") for at, _ in enumerate(one.body["labels"])}
        authors = {one.body["user"]["id"] for one in saved.documents("issue") if one.body["user"]}
        nearby = saved.frame("issue_labels", under=labels["issue_urn"][0])
    assert set(zip(labels["issue_urn"], labels["position"], strict=True)) == found
    assert 0 < len(nearby) < len(labels)
    assert str(labels["position"].dtype) == "Int64"
    assert authors <= set(accounts["id"])
    assert accounts["id"].is_unique


def test_moments_are_dates_or_text(crawled: Stage) -> None:
    with ghcrawl.open("acme.db") as saved:
        whole = list(saved.documents("issue"))
        last = max(one.processed_at for one in whole)
        assert list(saved.documents("issue", since=datetime(2999, 1, 1, tzinfo=UTC))) == []
        assert list(saved.documents("issue", until=date(2999, 1, 1))) == whole
        assert [one for one in whole if one.processed_at == last] == list(saved.documents("issue", since=last))


def test_names_of_all_kinds_are_understood(crawled: Stage) -> None:
    with ghcrawl.open("acme.db") as saved:
        repo = saved.get("acme/web")
        assert repo is not None
        assert saved.get(repo.urn) == saved.get(repo.url) == repo
        issue = next(iter(saved.documents("issue", under="acme/web")))
        name = f"acme/web#{issue.body['number']}"
        assert saved.get(name, "issue") == issue
        pull_request = next(iter(saved.documents("pull_request", under="acme/web")))
        name = f"acme/web#{pull_request.body['number']}"
        assert saved.get(name) == saved.get(name, "pull_request") == pull_request
        assert pull_request in list(saved.documents(under=name))
        commit = next(iter(saved.documents("commit", under="acme/web")))
        assert saved.get(f"acme/web@{commit.body['sha'][:7]}") == saved.get(f"acme/web@{commit.body['sha']}") == commit
        assert [one for one in map(saved.get, ("acme/nothing", "acme/web#0", "acme/web@0000000")) if one] == []
        assert saved.where.endswith("acme.db")


async def test_it_works_where_a_loop_runs_already_as_in_a_notebook(crawled: Stage) -> None:
    with ghcrawl.open("acme.db") as saved:
        first = next(iter(saved.documents("issue")))
        assert first.type == "issue"


def test_what_is_wrong_is_one_of_its_errors(crawled: Stage) -> None:
    with pytest.raises(ghcrawl.ConfigError, match="not found"):
        ghcrawl.open("nowhere.db")
    with pytest.raises(ghcrawl.SpecError, match="nothing to crawl"):
        ghcrawl.crawl("what is this")
    with ghcrawl.open("acme.db") as saved:
        with pytest.raises(ghcrawl.SpecError, match="did you mean issue"):
            list(saved.documents("isue"))
        with pytest.raises(ghcrawl.SpecError, match="unknown type github/isue; did you mean github/issue"):
            list(saved.documents("github/isue"))
        with pytest.raises(ghcrawl.SpecError, match="isue; did you mean issue"):
            saved.get("acme/web", "isue")
        with pytest.raises(ghcrawl.SpecError, match="isue_labels has no table; did you mean issue_labels"):
            saved.frame("isue_labels")
        with pytest.raises(ghcrawl.ConfigError, match="unknown library numpy; use pandas or polars"):
            saved.frame("issue", library="numpy")  # type: ignore[arg-type]  # what a notebook may say
        with pytest.raises(ghcrawl.SpecError, match="has no link isues; did you mean issues"):
            list(saved.follow(next(iter(saved.documents("repo"))), "isues"))
    with pytest.raises(ghcrawl.StoreError, match="closed"):
        saved.get("acme/web")
    saved.close()
    with pytest.raises(AttributeError, match="has no attribute"):
        _ = ghcrawl.nothing


def test_all_that_it_promises_is_there_and_in_the_manual() -> None:
    package: Any = import_module("ghcrawl")
    assert [name for name in package.__all__ if not hasattr(package, name)] == []
    for name in package.__all__:
        assert name == "__version__" or f"`{name}`" in MANUAL or f"ghcrawl.{name}" in MANUAL, name
