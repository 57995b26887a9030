"""A crawl's tables, held to the simulated world: every document a row, every key resolved, every question answered.

The truth is computed from the world's own objects, not from bodies, documents or tables.
"""

from __future__ import annotations

import asyncio
import csv
import io
import json
import sqlite3
import subprocess
import sys
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import closing
from datetime import datetime
from importlib import import_module
from pathlib import Path
from statistics import median
from typing import Any

import pytest

from ghcrawl.cli import asking, export, tables
from ghcrawl.cli.commands.documents import Export, Which
from ghcrawl.cli.options import Place
from ghcrawl.platforms.tables import primary_key
from ghcrawl.simulator.github.code import Commit
from ghcrawl.simulator.github.entities import Issue, Repo
from ghcrawl.simulator.github.generation.size import SMALL
from ghcrawl.simulator.github.people import User
from ghcrawl.tables import asking as answers
from processors.github.tables import OUTSIDE, TABLES
from tests.support.all_tables import EVERYTHING
from tests.support.crawling import Crawled, Stage, stage

pytest.importorskip("duckdb", reason="the extra `tables` is not installed")
FORMATS = ("acme.sqlite", "acme.duckdb", "parquet")


@pytest.fixture(scope="module")
def crawled(tmp_path_factory: pytest.TempPathFactory) -> tuple[Stage, Crawled, Path]:
    """The world, what a crawl of everything found of it, and where its tables are."""
    return asyncio.run(_crawled(tmp_path_factory.mktemp("tables")))


async def _crawled(folder: Path) -> tuple[Stage, Crawled, Path]:
    async with stage(folder, SMALL) as it:
        found = await it.crawl(policy="default:everything/")
        for name in FORMATS:
            await fill(it.db, folder / name)
        return it, found, folder


async def fill(db: Path, to: Path, **which: Any) -> None:
    wanted = tables.Wanted(to=to, which=Which(**which))
    assert await tables.fill(Place(db=db), wanted, json=False) == 0


def told(to: Path, question: str, capsys: pytest.CaptureFixture[str], *, bots: bool = False) -> list[dict[str, str]]:
    """What the command line answers, as CSV."""
    capsys.readouterr()
    assert asking.answer(EVERYTHING, question, to, asking.Narrowed(bots=bots), limit=0, json=False) == 0
    return list(csv.DictReader(io.StringIO(capsys.readouterr().out)))


def written(to: Path) -> str:
    ((at,),) = ask(to, "SELECT written_at FROM _ghcrawl")
    return str(at)


def hours(start: str, end: str) -> float:
    return (datetime.fromisoformat(end) - datetime.fromisoformat(start)).total_seconds() / 3600


def repos(it: Stage) -> list[Repo]:
    viewer = it.viewers[0]
    owned = it.world.repos_of(it.world.org("acme"))
    return [repo for repo in owned if viewer.sees(repo) and repo.standing == "fine"]


def threads(it: Stage) -> Iterator[tuple[Repo, Issue]]:
    for repo in repos(it):
        for issue in repo.issues.values():
            if issue.pull is not None or repo.has_issues:
                yield repo, issue


def test_every_document_is_a_row_of_its_kinds_table(crawled: Any) -> None:
    _it, found, folder = crawled
    wanted = by_table(found)
    assert len(wanted) > 30
    for name in FORMATS:
        for table, count in wanted.items():
            (row,) = ask(folder / name, f"SELECT count(*) AS n FROM {table}")
            assert int(row[0]) == count, (name, table)


def by_table(found: Crawled) -> Counter[str]:
    """Rows of each table: one for each document, and for each element of a relation's pages."""
    counts: Counter[str] = Counter()
    for one in found.documents.values():
        if table := TABLES.by_kind.get(one.type_name):
            counts[table.name] += len(one.body["elements"]) if table.pages_of else 1
    return +counts


def ask(to: Path, sql: str) -> Sequence[tuple[Any, ...]]:
    with answers.opened(to, EVERYTHING) as tables:
        return tables.run(sql, 0).rows


@pytest.mark.parametrize("name", FORMATS)
def test_every_key_is_found_or_its_column_says_why_it_may_lie_outside(crawled: Any, name: str) -> None:
    _, _, folder = crawled
    references = [
        (f"{table.name}.{column.name}", column.references)
        for table in TABLES.everything
        for column in table.columns
        if column.references
    ]
    counts = [_unresolved(column, to) for column, to in references]
    ((*found,),) = ask(folder / name, f"SELECT {', '.join(counts)}")
    unresolved = {column for (column, _), count in zip(references, found, strict=True) if count}
    assert len(references) > 150
    assert sorted(unresolved - OUTSIDE.keys()) == []


def test_sqlite_itself_finds_no_other_key_without_a_row(crawled: Any) -> None:
    _, _, folder = crawled
    with closing(sqlite3.connect(folder / "acme.sqlite")) as file:
        lists = {name: file.execute(f"PRAGMA foreign_key_list({name})").fetchall() for name in names(file)}
        columns = {(table, key[0]): key[3] for table, keys in lists.items() for key in keys}
        found = {f"{table}.{columns[table, key]}" for table, _, _, key in file.execute("PRAGMA foreign_key_check")}
    assert len(columns) > 100
    assert sorted(found - OUTSIDE.keys()) == []


def names(file: sqlite3.Connection) -> Sequence[str]:
    return [name for (name,) in file.execute("SELECT name FROM sqlite_master WHERE type = 'table'")]


def test_each_page_of_a_relation_is_in_its_table(crawled: Any) -> None:
    it, _, folder = crawled
    org = it.world.org("acme")
    to = folder / "acme.sqlite"
    stars = {(f"urn:repo:{repo.id}", star.user.id) for repo in repos(it) for star in repo.records.stars.values()}
    assert stars == {*ask(to, "SELECT repo_urn, user_id FROM stargazers")}
    assert org.members.keys() == {id for (id,) in ask(to, "SELECT user_id FROM org_members")}


def _unresolved(column: str, to: str) -> str:
    table, (other, _, key) = column.partition(".")[0], to.partition(".")
    sql = f"SELECT count(*) FROM {table} WHERE {column} IS NOT NULL AND {column} NOT IN"
    return f"({sql} (SELECT o.{key} FROM {other} AS o WHERE o.{key} IS NOT NULL))"


@pytest.mark.parametrize("name", FORMATS)
def test_every_primary_key_is_there_once(crawled: Any, name: str) -> None:
    _, _, folder = crawled
    for table in TABLES.everything:
        key = ", ".join(primary_key(table))
        several = f"SELECT {key} FROM {table.name} GROUP BY {key} HAVING count(*) > 1"
        missing = " OR ".join(f"{each} IS NULL" for each in primary_key(table))
        assert ask(folder / name, several) == [], table.name
        assert ask(folder / name, f"SELECT {key} FROM {table.name} WHERE {missing}") == [], table.name


def test_nothing_of_a_simulated_answer_lands_in_extra(crawled: Any) -> None:
    _, _, folder = crawled
    for table in TABLES.tables:
        assert ask(folder / "acme.sqlite", f"SELECT extra FROM {table.name} WHERE extra IS NOT NULL LIMIT 1") == []


def counts(user: User | None, *, bots: bool) -> bool:
    return bots or user is None or user.type != "Bot"


def first_responses(it: Stage, *, bots: bool) -> Mapping[tuple[str, int], tuple[str, float | None]]:
    """When each thread was opened, and the hours to the first answer by another."""
    truth = {}
    for repo, issue in threads(it):
        if not counts(issue.user, bots=bots):
            continue
        answers = [(comment.user, comment.created_at) for comment in issue.comments]
        if issue.pull:
            answers += [(review.user, review.submitted_at) for review in issue.pull.reviews]
            answers += [(comment.user, comment.created_at) for comment in issue.pull.comments]
        people = [(user, at) for user, at in answers if counts(user, bots=bots)]
        others = [at for user, at in people if user is not issue.user and at >= issue.created_at]
        found = hours(issue.created_at, min(others)) if others else None
        truth[repo.full_name, issue.number] = (issue.created_at, found)
    return truth


BOTS = pytest.mark.parametrize("bots", [False, True], ids=["people", "bots"])


@BOTS
@pytest.mark.parametrize("name", FORMATS)
def test_hours_to_first_response(crawled: Any, name: str, capsys: pytest.CaptureFixture[str], bots: bool) -> None:
    it, _, folder = crawled
    truth = first_responses(it, bots=bots)
    rows = told(folder / name, "time_to_first_response", capsys, bots=bots)
    assert {(row["repo"], int(row["number"])) for row in rows} == truth.keys()
    for row in rows:
        _, expected = truth[row["repo"], int(row["number"])]
        assert (float(row["hours"]) if row["hours"] else None) == pytest.approx(expected, abs=0.01)


@pytest.mark.parametrize("name", FORMATS)
def test_median_hours_to_first_response(crawled: Any, name: str, capsys: pytest.CaptureFixture[str]) -> None:
    it, _, folder = crawled
    opened: dict[tuple[str, str], list[float | None]] = defaultdict(list)
    for (repo, _), (at, found) in first_responses(it, bots=False).items():
        opened[repo, at[:7]].append(found)
    truth = {key: sorted(each for each in found if each is not None) for key, found in opened.items()}
    rows = told(folder / name, "time_to_first_response_by_month", capsys)
    assert {(row["repo"], row["month"]): int(row["opened"]) for row in rows} == {
        key: len(found) for key, found in opened.items()
    }
    for row in rows:
        timed = truth[row["repo"], row["month"]]
        assert int(row["answered"]) == len(timed)
        expected = median(timed) if timed else None
        assert (float(row["median_hours"]) if row["median_hours"] else None) == pytest.approx(expected, abs=0.02)


def merged(it: Stage, *, bots: bool) -> Mapping[tuple[str, int], tuple[str, float]]:
    """When each pull request was merged, and the hours to that."""
    return {
        (repo.full_name, issue.number): (issue.pull.merged_at, hours(issue.created_at, issue.pull.merged_at))
        for repo, issue in threads(it)
        if issue.pull and issue.pull.merged_at and counts(issue.user, bots=bots)
    }


@BOTS
@pytest.mark.parametrize("name", FORMATS)
def test_hours_to_merge(crawled: Any, name: str, capsys: pytest.CaptureFixture[str], bots: bool) -> None:
    it, _, folder = crawled
    truth = {key: found for key, (_, found) in merged(it, bots=bots).items()}
    rows = told(folder / name, "time_to_merge", capsys, bots=bots)
    assert truth
    assert {(row["repo"], int(row["number"])): float(row["hours"]) for row in rows} == pytest.approx(truth, abs=0.01)


@pytest.mark.parametrize("name", FORMATS)
def test_median_hours_to_merge(crawled: Any, name: str, capsys: pytest.CaptureFixture[str]) -> None:
    it, _, folder = crawled
    several: dict[tuple[str, str], list[float]] = defaultdict(list)
    for (repo, _), (at, found) in merged(it, bots=False).items():
        several[repo, at[:7]].append(found)
    rows = told(folder / name, "time_to_merge_by_month", capsys)
    assert max(map(len, several.values())) > 1
    assert {(row["repo"], row["month"]): int(row["merged"]) for row in rows} == {
        key: len(found) for key, found in several.items()
    }
    assert {(row["repo"], row["month"]): float(row["median_hours"]) for row in rows} == pytest.approx(
        {key: median(found) for key, found in several.items()}, abs=0.02
    )


@BOTS
@pytest.mark.parametrize("name", FORMATS)
def test_review_load(crawled: Any, name: str, capsys: pytest.CaptureFixture[str], bots: bool) -> None:
    it, _, folder = crawled
    given: Counter[str] = Counter()
    waiting: Counter[str] = Counter()
    reviewed: dict[str, set[int]] = defaultdict(set)
    for _, issue in threads(it):
        if issue.pull is None:
            continue
        for review in issue.pull.reviews:
            if review.user is not None and review.user is not issue.user and counts(review.user, bots=bots):
                given[review.user.login] += 1
                reviewed[review.user.login].add(issue.pull.id)
        waiting.update(user.login for user in issue.pull.requested_reviewers if issue.state == "open")
    truth = {one: (given[one], len(reviewed[one]), waiting[one]) for one in {*given, *waiting}}
    names = ("reviews", "pull_requests_reviewed", "waiting_for_review")
    rows = told(folder / name, "review_load", capsys, bots=bots)
    assert {row["reviewer"]: tuple(int(row[each]) for each in names) for row in rows} == truth


@pytest.mark.parametrize("name", FORMATS)
def test_age_of_open_issues(crawled: Any, name: str, capsys: pytest.CaptureFixture[str]) -> None:
    it, _, folder = crawled
    now = written(folder / name)
    truth = {
        (repo.full_name, issue.number): hours(issue.created_at, now) / 24
        for repo, issue in threads(it)
        if issue.state == "open" and not issue.pull
    }
    rows = told(folder / name, "open_issue_age", capsys)
    assert truth
    assert {(row["repo"], int(row["number"])): float(row["days_open"]) for row in rows} == pytest.approx(
        truth, abs=0.02
    )


def history(it: Stage) -> Mapping[tuple[str, str], Commit]:
    """Every commit that a crawl of everything finds, by repository and sha."""
    found: dict[tuple[str, str], Commit] = {}
    for repo in repos(it):
        commits = [*repo.history(repo.head), *(one for issue in repo.pulls if issue.pull for one in issue.pull.commits)]
        found |= {(repo.full_name, one.sha): one for one in commits}
    return found


def author(commit: Commit) -> str:
    return str(commit.author.id) if commit.author else commit.author_email.lower()


@BOTS
@pytest.mark.parametrize("name", FORMATS)
def test_contributors_by_month(crawled: Any, name: str, capsys: pytest.CaptureFixture[str], bots: bool) -> None:
    it, _, folder = crawled
    people: dict[str, set[str]] = defaultdict(set)
    commits: Counter[str] = Counter()
    for commit in history(it).values():
        if not counts(commit.author, bots=bots) or (not bots and commit.author_name.endswith("[bot]")):
            continue
        people[commit.authored_at[:7]].add(author(commit))
        commits[commit.authored_at[:7]] += 1
    truth = [(month, len(people[month]), commits[month]) for month in sorted(commits)]
    rows = told(folder / name, "contributors_by_month", capsys, bots=bots)
    assert [(row["month"], int(row["contributors"]), int(row["commits"])) for row in rows] == truth


@pytest.mark.parametrize("name", FORMATS)
def test_bus_factor(crawled: Any, name: str, capsys: pytest.CaptureFixture[str]) -> None:
    it, _, folder = crawled
    by_repo: dict[str, Counter[str]] = defaultdict(Counter)
    for (repo, _), commit in history(it).items():
        by_repo[repo][author(commit)] += 1
    truth = {}
    for repo, counts in by_repo.items():
        so_far, few = 0, 0
        for _, count in counts.most_common():
            so_far, few = so_far + count, few + 1
            if so_far * 2 >= counts.total():
                break
        truth[repo] = (few, len(counts), counts.total())
    rows = told(folder / name, "bus_factor", capsys, bots=True)
    found = {row["repo"]: (int(row["bus_factor"]), int(row["authors"]), int(row["commits"])) for row in rows}
    assert found == truth


@pytest.mark.parametrize("name", FORMATS)
def test_stale_pull_requests(crawled: Any, name: str, capsys: pytest.CaptureFixture[str]) -> None:
    it, _, folder = crawled
    now = written(folder / name)
    quiet = {
        (repo.full_name, issue.number): hours(issue.updated_at, now) / 24
        for repo, issue in threads(it)
        if issue.pull and issue.state == "open"
    }
    truth = {key: days for key, days in quiet.items() if days >= 30}
    rows = told(folder / name, "stale_pull_requests", capsys)
    assert truth
    assert {(row["repo"], int(row["number"])): float(row["days_quiet"]) for row in rows} == pytest.approx(
        truth, abs=0.02
    )


@pytest.mark.parametrize("name", FORMATS)
def test_release_cadence(crawled: Any, name: str, capsys: pytest.CaptureFixture[str]) -> None:
    it, _, folder = crawled
    truth: dict[tuple[str, str], float | None] = {}
    for repo in repos(it):
        dated = sorted((one.published_at, one.id, one.tag_name) for one in repo.releases.values() if one.published_at)
        before = None
        for at, _, tag in dated:
            truth[repo.full_name, tag] = hours(before, at) / 24 if before else None
            before = at
    rows = told(folder / name, "release_cadence", capsys)
    assert {(row["repo"], row["tag_name"]) for row in rows} == truth.keys()
    for row in rows:
        days = float(row["days_since"]) if row["days_since"] else None
        assert days == pytest.approx(truth[row["repo"], row["tag_name"]], abs=0.01)


@pytest.mark.parametrize("name", FORMATS)
def test_ci_failure_rate(crawled: Any, name: str, capsys: pytest.CaptureFixture[str]) -> None:
    it, _found, folder = crawled
    seen = {sha for _, sha in history(it)}
    runs: Counter[tuple[str, str]] = Counter()
    failed: Counter[tuple[str, str]] = Counter()
    for repo in repos(it):
        for suite in suites(repo):
            for run in suite.runs:
                if run.completed_at and suite.sha in seen:
                    runs[repo.full_name, run.name] += 1
                    failed[repo.full_name, run.name] += run.conclusion in ("failure", "timed_out", "startup_failure")
    truth = {key: failed[key] / count for key, count in runs.items()}
    rows = told(folder / name, "ci_failure_rate", capsys)
    assert truth
    found_rates = {(row["repo"], row["name"]): float(row["failure_rate"]) for row in rows}
    assert found_rates == pytest.approx(truth, abs=0.001)


def suites(repo: Repo) -> Iterable[Any]:
    return repo.records.check_suites.values()


def test_datasette_serves_and_searches_it(crawled: Any) -> None:
    _, found, folder = crawled
    datasette = Path(sys.executable).with_name("datasette")

    def get(path: str) -> Any:
        words = [str(datasette), "acme.sqlite", "-m", "acme.metadata.json", "--get", path]
        return json.loads(subprocess.run(words, cwd=folder, capture_output=True, text=True, check=True).stdout)

    issues = [one for (type, _), one in found.documents.items() if type == "issue"]
    assert get("/acme/issues.json?_size=0")["filtered_table_rows_count"] == len(issues)
    word = max(str(issues[0].body["title"]).split(), key=len)
    titles = {one.body["title"] for one in issues if word.lower() in f"{one.body['title']} {one.body['body']}".lower()}
    rows = get(f"/acme/issues.json?_size=max&_shape=objects&_search={word}")["rows"]
    assert issues[0].body["title"] in {row["title"] for row in rows} <= titles
    assert get("/acme/time_to_merge.json?_shape=objects&_size=1")["rows"][0]["hours"] > 0


def test_pandas_reads_it(crawled: Any) -> None:
    pandas: Any = import_module("pandas")
    _, found, folder = crawled
    count = sum(type == "pull_request" for type, _ in found.documents)
    frame = pandas.read_parquet(folder / "parquet" / "pull_requests")
    assert len(frame) == count
    assert str(frame["created_at"].dtype) == "datetime64[us, UTC]"
    assert str(frame["id"].dtype) == "int64"
    with closing(sqlite3.connect(folder / "acme.sqlite")) as file:
        told = pandas.read_sql_query("SELECT * FROM pull_requests", file, parse_dates=["created_at"])
    assert (told["created_at"] == frame["created_at"]).all()


def test_a_singer_target_takes_everything(crawled: Any, tmp_path: Path) -> None:
    it, found, _ = crawled
    wanted = Export(format="singer", output=tmp_path / "messages")
    assert asyncio.run(export.export(Place(db=it.db), Which(), wanted)) == 0
    (tmp_path / "config.json").write_text('{"destination_path": "", "do_timestamp_file": false}')
    target = Path(sys.executable).with_name("target-jsonl")
    with (tmp_path / "messages").open() as file:
        subprocess.run([target, "-c", "config.json"], cwd=tmp_path, stdin=file, capture_output=True, check=True)
    rows = Counter({path.stem: len(path.read_text().splitlines()) for path in tmp_path.glob("*.jsonl")})
    people = rows.pop("accounts")
    assert rows == by_table(found)
    assert people == len(ask(crawled[2] / "acme.sqlite", "SELECT id FROM accounts"))
