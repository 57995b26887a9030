"""Questions that people ask of a crawl of GitHub, as SQL. What is gone is left out."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from ghcrawl.platforms.questions import NOW, Asked, Question, text_literal

STALE_DAYS: Final = 30
_AUTHOR: Final = "coalesce(CAST(c.author_id AS TEXT), lower(c.author_email), c.author_name)"
_BOTS: Final = "(SELECT id FROM accounts WHERE type = 'Bot' OR login LIKE '%[bot]')"


def _among(asked: Asked, row: str, *, at: str, by: str = "") -> str:
    """What rows of `row` must be, behind a WHERE: there, and what is asked for.

    at: column with the moment that `since` is about. by: column with the id of who did it, where bots are left out.
    """
    name = text_literal(asked.within) if asked.within else ""
    found = [
        f"{row}._deleted_at IS NULL",
        f"{row}.repo_urn IN (SELECT urn FROM repos WHERE lower(full_name) = lower({name}))" if name else "",
        f"{row}.{at} >= {asked.dialect.literal(asked.since)}" if asked.since else "",
        "" if asked.bots or not by else f"({row}.{by} IS NULL OR {row}.{by} NOT IN {_BOTS})",
    ]
    return " AND ".join(filter(None, found))


def _repo(row: str) -> str:
    """The name of its repository; a selection may lack that."""
    return f"coalesce(repos.full_name, {row}.repo_urn) AS repo"


def _named(row: str) -> str:
    return f"LEFT JOIN repos ON repos.urn = {row}.repo_urn"


def _responses(asked: Asked) -> str:
    answers = [
        "SELECT a.issue_urn AS thread, a.user_id, a.created_at AS answered_at FROM issue_comments a",
        "SELECT p.issue_urn, a.user_id, a.submitted_at"
        " FROM reviews a JOIN pull_requests p ON p.urn = a.pull_request_urn",
        "SELECT p.issue_urn, a.user_id, a.created_at"
        " FROM review_comments a JOIN pull_requests p ON p.urn = a.pull_request_urn",
    ]
    whose = "a._deleted_at IS NULL" + ("" if asked.bots else f" AND coalesce(a.user_id, -1) NOT IN {_BOTS}")
    return f"""
WITH threads AS (
    SELECT i.urn AS thread, i.repo_urn, i.number, 'issue' AS kind, i.user_id, i.user_login, i.created_at FROM issues i
    WHERE i.pull_request_urn IS NULL AND {_among(asked, "i", at="created_at", by="user_id")}
    UNION ALL
    SELECT p.issue_urn, p.repo_urn, p.number, 'pull_request', p.user_id, p.user_login, p.created_at
    FROM pull_requests p WHERE {_among(asked, "p", at="created_at", by="user_id")}
), answers AS (
    {" UNION ALL ".join(f"{answer} WHERE {whose}" for answer in answers)}
), first AS (
    SELECT t.thread, min(a.answered_at) AS answered_at
    FROM threads t JOIN answers a ON a.thread = t.thread
    WHERE coalesce(a.user_id, -1) <> coalesce(t.user_id, -1) AND a.answered_at >= t.created_at
    GROUP BY t.thread
)
SELECT t.*, f.answered_at, {asked.dialect.hours("t.created_at", "f.answered_at")} AS hours
FROM threads t LEFT JOIN first f ON f.thread = t.thread"""


def _first_response(asked: Asked) -> str:
    return f"""
SELECT {_repo("t")}, t.number, t.kind, t.user_login, t.created_at, t.answered_at AS first_response_at, t.hours
FROM ({_responses(asked)}) t {_named("t")}
ORDER BY hours DESC NULLS LAST, repo, t.number"""


def _merges(asked: Asked) -> str:
    return f"""
SELECT p.repo_urn, p.number, p.user_login, p.created_at, p.merged_at,
    {asked.dialect.hours("p.created_at", "p.merged_at")} AS hours
FROM pull_requests p WHERE p.merged_at IS NOT NULL AND {_among(asked, "p", at="merged_at", by="user_id")}"""


def _merge(asked: Asked) -> str:
    return f"""
SELECT {_repo("p")}, p.number, p.user_login, p.created_at, p.merged_at, p.hours
FROM ({_merges(asked)}) p {_named("p")}
ORDER BY hours DESC NULLS LAST, repo, p.number"""


def _by_month(base: Callable[[Asked], str], at: str, counted: str) -> Callable[[Asked], str]:
    """The median of the hours that `base` finds, by repository and month of `at`, over those that have hours."""

    def sql(asked: Asked) -> str:
        return f"""
WITH dated AS (
    SELECT repo_urn, {asked.dialect.month(at)} AS month, hours FROM ({base(asked)}) b
), placed AS (
    SELECT repo_urn, month, hours,
        row_number() OVER (PARTITION BY repo_urn, month ORDER BY hours NULLS LAST) AS place,
        count(hours) OVER (PARTITION BY repo_urn, month) AS timed,
        count(*) OVER (PARTITION BY repo_urn, month) AS several
    FROM dated
), medians AS (
    SELECT repo_urn, month, max(several) AS several, max(timed) AS timed,
        round(avg(CASE WHEN place * 2 BETWEEN timed AND timed + 2 THEN hours END), 2) AS median_hours
    FROM placed GROUP BY repo_urn, month
)
SELECT {_repo("m")}, m.month, {counted}, m.median_hours
FROM medians m {_named("m")} ORDER BY repo, m.month"""

    return sql


def _review_load(asked: Asked) -> str:
    return f"""
WITH work AS (
    SELECT r.user_id, r.user_login, r.urn AS review, r.pull_request_urn AS reviewed, NULL AS waiting
    FROM reviews r JOIN pull_requests p ON p.urn = r.pull_request_urn
    WHERE r.user_id IS NOT NULL AND coalesce(p.user_id, -1) <> r.user_id
        AND {_among(asked, "r", at="submitted_at", by="user_id")}
    UNION ALL
    SELECT q.user_id, q.user_login, NULL, NULL, q.pull_request_urn
    FROM pull_request_requested_reviewers q JOIN pull_requests p ON p.urn = q.pull_request_urn
    WHERE p.state = 'open' AND {_among(asked, "p", at="created_at")}
)
SELECT max(user_login) AS reviewer, count(DISTINCT review) AS reviews,
    count(DISTINCT reviewed) AS pull_requests_reviewed, count(DISTINCT waiting) AS waiting_for_review
FROM work GROUP BY user_id ORDER BY reviews DESC, reviewer"""


def _open_issues(asked: Asked) -> str:
    return f"""
SELECT {_repo("i")}, i.number, i.title, i.user_login, i.created_at,
    {asked.dialect.days("i.created_at", NOW)} AS days_open
FROM issues i {_named("i")}
WHERE i.state = 'open' AND i.pull_request_urn IS NULL AND {_among(asked, "i", at="created_at")}
ORDER BY days_open DESC NULLS LAST, repo, i.number"""


def _commits(asked: Asked) -> str:
    """Commits by people, as their WHERE clause: some bots have no account, and only a name."""
    people = "" if asked.bots else " AND coalesce(c.author_name, '') NOT LIKE '%[bot]'"
    return f"{_among(asked, 'c', at='authored_at', by='author_id')}{people}"


def _contributors(asked: Asked) -> str:
    return f"""
SELECT {asked.dialect.month("c.authored_at")} AS month, count(DISTINCT {_AUTHOR}) AS contributors, count(*) AS commits
FROM commits c WHERE c.authored_at IS NOT NULL AND {_commits(asked)}
GROUP BY 1 ORDER BY 1"""


def _bus_factor(asked: Asked) -> str:
    return f"""
WITH authors AS (
    SELECT c.repo_urn, {_AUTHOR} AS author, count(*) AS commits FROM commits c WHERE {_commits(asked)} GROUP BY 1, 2
), ranked AS (
    SELECT repo_urn,
        row_number() OVER (PARTITION BY repo_urn ORDER BY commits DESC, author) AS place,
        sum(commits) OVER (
            PARTITION BY repo_urn ORDER BY commits DESC, author ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW
        ) AS so_far,
        sum(commits) OVER (PARTITION BY repo_urn) AS total,
        count(*) OVER (PARTITION BY repo_urn) AS authors
    FROM authors
), found AS (
    SELECT repo_urn, min(place) AS bus_factor, max(authors) AS authors, max(total) AS commits
    FROM ranked WHERE so_far * 2 >= total GROUP BY repo_urn
)
SELECT {_repo("f")}, f.bus_factor, f.authors, f.commits FROM found f {_named("f")} ORDER BY f.bus_factor, repo"""


def _stale(asked: Asked) -> str:
    days = asked.dialect.days("p.updated_at", NOW)
    return f"""
SELECT {_repo("p")}, p.number, p.title, p.user_login, p.updated_at, {days} AS days_quiet
FROM pull_requests p {_named("p")}
WHERE p.state = 'open' AND {days} >= {STALE_DAYS} AND {_among(asked, "p", at="created_at")}
ORDER BY days_quiet DESC NULLS LAST, repo, p.number"""


def _releases(asked: Asked) -> str:
    return f"""
WITH dated AS (
    SELECT repo_urn, id, tag_name, published_at, _deleted_at,
        lag(published_at) OVER (PARTITION BY repo_urn ORDER BY published_at, id) AS previous_at
    FROM releases WHERE published_at IS NOT NULL AND _deleted_at IS NULL
)
SELECT {_repo("d")}, d.tag_name, d.published_at,
    {asked.dialect.days("d.previous_at", "d.published_at")} AS days_since
FROM dated d {_named("d")} WHERE {_among(asked, "d", at="published_at")} ORDER BY repo, d.published_at, d.id"""


def _ci(asked: Asked) -> str:
    return f"""
WITH counted AS (
    SELECT c.repo_urn, c.name, count(*) AS runs,
        sum(CASE WHEN c.conclusion IN ('failure', 'timed_out', 'startup_failure') THEN 1 ELSE 0 END) AS failures
    FROM check_runs c WHERE c.status = 'completed' AND {_among(asked, "c", at="completed_at")}
    GROUP BY c.repo_urn, c.name
)
SELECT {_repo("c")}, c.name, c.runs, c.failures, round(1.0 * c.failures / c.runs, 4) AS failure_rate
FROM counted c {_named("c")} ORDER BY failure_rate DESC, repo, c.name"""


def _question(name: str, about: str, sql: Callable[[Asked], str]) -> Question:
    return Question(name=name, about=about, sql=sql, within="repos.full_name")


QUESTIONS: Final = (
    _question("time_to_first_response", "hours until another person answers", _first_response),
    _question(
        "time_to_first_response_by_month",
        "their median, by repository and month opened",
        _by_month(_responses, "created_at", "m.several AS opened, m.timed AS answered"),
    ),
    _question("time_to_merge", "hours from opening a pull request to its merge", _merge),
    _question(
        "time_to_merge_by_month",
        "their median, by repository and month merged",
        _by_month(_merges, "merged_at", "m.several AS merged"),
    ),
    _question("review_load", "reviews given and waited for, by reviewer", _review_load),
    _question("open_issue_age", "days that each open issue has been open", _open_issues),
    _question("contributors_by_month", "authors and commits by month", _contributors),
    _question("bus_factor", "fewest authors who wrote half of the commits", _bus_factor),
    _question("stale_pull_requests", f"open, and without a change for {STALE_DAYS} days", _stale),
    _question("release_cadence", "days between a release and the one before it", _releases),
    _question("ci_failure_rate", "share of completed check runs that failed", _ci),
)
"""Each is a view of its name. What bots did is left out where people are timed or counted; what is open is not."""
