"""Questions that people ask of a crawl, as SQL. What is gone is left out; "now" is when anything was last observed."""

from __future__ import annotations

from typing import Final

from ghcrawl.platforms.tables import Dialect, Question

STALE_DAYS: Final = 30
_NOW: Final = "(SELECT max(_observed_at) FROM repos)"
_AUTHOR: Final = "coalesce(CAST(author_id AS TEXT), lower(author_email), author_name)"


def _first_response(sql: Dialect) -> str:
    return f"""
WITH threads AS (
    SELECT urn AS thread, repo_urn, number, 'issue' AS kind, user_id, created_at FROM issues
    WHERE pull_request_urn IS NULL AND _deleted_at IS NULL
    UNION ALL
    SELECT issue_urn, repo_urn, number, 'pull_request', user_id, created_at FROM pull_requests
    WHERE _deleted_at IS NULL
), answers AS (
    SELECT issue_urn AS thread, user_id, created_at AS answered_at FROM issue_comments WHERE _deleted_at IS NULL
    UNION ALL
    SELECT p.issue_urn, r.user_id, r.submitted_at FROM reviews r JOIN pull_requests p ON p.urn = r.pull_request_urn
    WHERE r._deleted_at IS NULL
    UNION ALL
    SELECT p.issue_urn, c.user_id, c.created_at
    FROM review_comments c JOIN pull_requests p ON p.urn = c.pull_request_urn
    WHERE c._deleted_at IS NULL
), first AS (
    SELECT t.thread, min(a.answered_at) AS answered_at
    FROM threads t JOIN answers a ON a.thread = t.thread
    WHERE coalesce(a.user_id, -1) <> coalesce(t.user_id, -1) AND a.answered_at >= t.created_at
    GROUP BY t.thread
)
SELECT repos.full_name AS repo, t.number, t.kind, t.created_at, f.answered_at AS first_response_at,
    {sql.hours("t.created_at", "f.answered_at")} AS hours
FROM threads t LEFT JOIN first f ON f.thread = t.thread LEFT JOIN repos ON repos.urn = t.repo_urn
ORDER BY hours DESC NULLS LAST, repo, t.number"""


def _merge(sql: Dialect) -> str:
    return f"""
SELECT repos.full_name AS repo, p.number, p.user_login, p.created_at, p.merged_at,
    {sql.hours("p.created_at", "p.merged_at")} AS hours
FROM pull_requests p LEFT JOIN repos ON repos.urn = p.repo_urn
WHERE p.merged_at IS NOT NULL AND p._deleted_at IS NULL
ORDER BY hours DESC NULLS LAST, repo, p.number"""


def _review_load(_: Dialect) -> str:
    return """
WITH work AS (
    SELECT r.user_id, r.user_login, r.urn AS review, r.pull_request_urn AS reviewed, NULL AS waiting
    FROM reviews r JOIN pull_requests p ON p.urn = r.pull_request_urn
    WHERE r.user_id IS NOT NULL AND r._deleted_at IS NULL AND coalesce(p.user_id, -1) <> r.user_id
    UNION ALL
    SELECT q.user_id, q.user_login, NULL, NULL, q.pull_request_urn
    FROM pull_request_requested_reviewers q JOIN pull_requests p ON p.urn = q.pull_request_urn
    WHERE p.state = 'open' AND p._deleted_at IS NULL
)
SELECT max(user_login) AS reviewer, count(DISTINCT review) AS reviews,
    count(DISTINCT reviewed) AS pull_requests_reviewed, count(DISTINCT waiting) AS waiting_for_review
FROM work GROUP BY user_id ORDER BY reviews DESC, reviewer"""


def _open_issues(sql: Dialect) -> str:
    return f"""
SELECT repos.full_name AS repo, i.number, i.title, i.user_login, i.created_at,
    {sql.days("i.created_at", _NOW)} AS days_open
FROM issues i LEFT JOIN repos ON repos.urn = i.repo_urn
WHERE i.state = 'open' AND i.pull_request_urn IS NULL AND i._deleted_at IS NULL
ORDER BY days_open DESC NULLS LAST, repo, i.number"""


def _contributors(sql: Dialect) -> str:
    return f"""
SELECT {sql.month("authored_at")} AS month, count(DISTINCT {_AUTHOR}) AS contributors, count(*) AS commits
FROM commits WHERE authored_at IS NOT NULL AND _deleted_at IS NULL
GROUP BY 1 ORDER BY 1"""


def _bus_factor(_: Dialect) -> str:
    return f"""
WITH authors AS (
    SELECT repo_urn, {_AUTHOR} AS author, count(*) AS commits FROM commits
    WHERE _deleted_at IS NULL GROUP BY 1, 2
), ranked AS (
    SELECT repo_urn,
        row_number() OVER (PARTITION BY repo_urn ORDER BY commits DESC, author) AS place,
        sum(commits) OVER (
            PARTITION BY repo_urn ORDER BY commits DESC, author ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW
        ) AS so_far,
        sum(commits) OVER (PARTITION BY repo_urn) AS total,
        count(*) OVER (PARTITION BY repo_urn) AS authors
    FROM authors
)
SELECT repos.full_name AS repo, min(place) AS bus_factor, max(authors) AS authors, max(total) AS commits
FROM ranked LEFT JOIN repos ON repos.urn = ranked.repo_urn
WHERE so_far * 2 >= total GROUP BY repos.full_name ORDER BY bus_factor, repo"""


def _stale(sql: Dialect) -> str:
    return f"""
SELECT repos.full_name AS repo, p.number, p.title, p.user_login, p.updated_at,
    {sql.days("p.updated_at", _NOW)} AS days_quiet
FROM pull_requests p LEFT JOIN repos ON repos.urn = p.repo_urn
WHERE p.state = 'open' AND p._deleted_at IS NULL AND {sql.days("p.updated_at", _NOW)} >= {STALE_DAYS}
ORDER BY days_quiet DESC NULLS LAST, repo, p.number"""


def _releases(sql: Dialect) -> str:
    return f"""
WITH dated AS (
    SELECT repo_urn, id, tag_name, published_at,
        lag(published_at) OVER (PARTITION BY repo_urn ORDER BY published_at, id) AS previous_at
    FROM releases WHERE published_at IS NOT NULL AND _deleted_at IS NULL
)
SELECT repos.full_name AS repo, d.tag_name, d.published_at, {sql.days("d.previous_at", "d.published_at")} AS days_since
FROM dated d LEFT JOIN repos ON repos.urn = d.repo_urn ORDER BY repo, d.published_at, d.id"""


def _ci(_: Dialect) -> str:
    return """
SELECT repos.full_name AS repo, c.name, count(*) AS runs,
    sum(CASE WHEN c.conclusion IN ('failure', 'timed_out', 'startup_failure') THEN 1 ELSE 0 END) AS failures,
    round(sum(CASE WHEN c.conclusion IN ('failure', 'timed_out', 'startup_failure') THEN 1.0 ELSE 0 END)
        / count(*), 4) AS failure_rate
FROM check_runs c LEFT JOIN repos ON repos.urn = c.repo_urn
WHERE c.status = 'completed' AND c._deleted_at IS NULL
GROUP BY repos.full_name, c.name ORDER BY failure_rate DESC, repo, c.name"""


QUESTIONS: Final = (
    Question(
        "time_to_first_response",
        "hours from opening an issue or pull request to the first answer by another person",
        _first_response,
    ),
    Question("time_to_merge", "hours from opening a pull request to its merge", _merge),
    Question("review_load", "reviews given, and reviews that are waited for, by reviewer", _review_load),
    Question("open_issue_age", "days that each open issue has been open", _open_issues),
    Question("contributors_by_month", "authors and commits by month", _contributors),
    Question("bus_factor", "the fewest authors who wrote half of a repository's commits", _bus_factor),
    Question("stale_pull_requests", f"open pull requests without a change for {STALE_DAYS} days", _stale),
    Question("release_cadence", "days between a release and the one before it", _releases),
    Question("ci_failure_rate", "share of completed check runs that failed, by name", _ci),
)
"""Each is a view of its name."""
