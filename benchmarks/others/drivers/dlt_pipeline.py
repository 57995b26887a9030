"""A dlt pipeline from GitHub into DuckDB by dlt's REST source, after its documentation; `count` tells what is there.

Issues and their comments are loaded incrementally, by `since`; other lists are read again.
"""

import os
import sys
from typing import Any

import dlt
from dlt.sources.rest_api import rest_api_source

LISTS = {
    "labels": {},
    "milestones": {"state": "all"},
    "releases": {},
    "branches": {},
    "tags": {},
    "commits": {},
    "comments": {},
    "issues/events": {},
    "pulls": {"state": "all"},
    "pulls/comments": {},
}
CHANGING = {"issues": {"state": "all"}, "issues/comments": {}}
KINDS = {
    "orgs": "org",
    "members": "user",
    "teams": "team",
    "repos": "repo",
    "labels": "label",
    "milestones": "milestone",
    "releases": "release",
    "branches": "branch",
    "tags": "tag",
    "commits": "commit",
    "comments": "commit_comment",
    "issues": "issue",
    "issues_comments": "issue_comment",
    "issues_events": "issue_event",
    "pulls": "pull_request",
    "pulls_comments": "review_comment",
    "reviews": "review",
    "releases__assets": "release_asset",
}
REFUSED = [{"status_code": status, "action": "ignore"} for status in (403, 404, 409, 410, 451)]


def endpoint(path: str, params: Any) -> dict[str, Any]:
    """A list by the hundred; one that is refused is left out."""
    return {"path": path, "params": {"per_page": 100, **params}, "response_actions": REFUSED}


def below(name: str, path: str, params: Any) -> dict[str, Any]:
    """A list of each thing of another list."""
    key = {"branches": ["_repos_id", "name"], "tags": ["_repos_id", "name"], "commits": ["_repos_id", "sha"]}
    return {
        "name": name,
        "primary_key": key.get(name, "id"),
        "endpoint": endpoint(path, params),
        "include_from_parent": ["id"],
    }


def resources() -> list[Any]:
    """All lists."""
    org = os.environ["PEER_ORG"]
    found: list[Any] = [{"name": "orgs", "endpoint": endpoint(f"orgs/{org}", {})}]
    found += [{"name": name, "endpoint": endpoint(f"orgs/{org}/{name}", {})} for name in ("members", "teams", "repos")]
    for path, params in (LISTS | CHANGING).items():
        whole = f"repos/{org}/{{resources.repos.name}}/{path}"
        row = below(path.replace("/", "_"), whole, params)
        if path in CHANGING:
            first = "2000-01-01T00:00:00Z"
            row["endpoint"]["incremental"] = {
                "start_param": "since",
                "cursor_path": "updated_at",
                "initial_value": first,
            }
        found.append(row)
    pull = "{resources.pulls._repos_id}/pulls/{resources.pulls.number}"
    found.append(below("reviews", f"repositories/{pull}/reviews", {}))
    return found


def pipeline() -> Any:
    """Where it goes to."""
    destination = dlt.destinations.duckdb("saved.duckdb")
    return dlt.pipeline("github", pipelines_dir="pipelines", destination=destination, dataset_name="github")


def load() -> None:
    """Run it."""
    source = rest_api_source(
        {
            "client": {
                "base_url": os.environ["PEER_API_URL"],
                "auth": {"type": "bearer", "token": os.environ["PEER_TOKEN"]},
                "paginator": "header_link",
            },
            "resource_defaults": {"primary_key": "id", "write_disposition": "merge"},
            "resources": resources(),
        },
        parallelized=True,
    )
    print(pipeline().run(source))


def count() -> None:
    """kind, key, whether it is whole."""
    with pipeline().sql_client() as client:
        tables = {row[0] for row in client.execute_sql("select table_name from information_schema.tables")}
        for table, kind in KINDS.items():
            if table in tables:
                for (key,) in client.execute_sql(f"select distinct _dlt_id from {table}"):
                    print(kind, key, 0, sep="\t")


if __name__ == "__main__":
    {"load": load, "count": count}[sys.argv[1]]()
