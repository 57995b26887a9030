"""What one writes with PyGithub in an afternoon: every repository of an organisation, list by list, to JSON lines."""

import json
import sys
from collections.abc import Iterable
from pathlib import Path
from typing import Any, TextIO

from github import Auth, Github, GithubException

KINDS = {
    "labels": "label",
    "releases": "release",
    "branches": "branch",
    "tags": "tag",
    "commits": "commit",
    "issues_comments": "issue_comment",
    "pulls_comments": "review_comment",
    "issues_events": "issue_event",
}


def save(out: TextIO, kind: str, things: Iterable[Any]) -> None:
    """Write one line for each thing; skip a refused list. `raw_data` would fetch each element again, one by one."""
    try:
        for thing in things:
            body = thing.raw_data if kind == "pull_request" else thing._rawData  # noqa: SLF001  # see above
            print(json.dumps({"kind": kind, **body}), file=out)
    except GithubException as error:
        print(f"{kind}: {error.status}", file=sys.stderr)


def main(url: str, token: str, org: str, path: str) -> None:
    """Crawl it."""
    api = Github(base_url=url, auth=Auth.Token(token), per_page=100, seconds_between_requests=0)
    with Path(path).open("w", encoding="utf-8") as out:
        organization = api.get_organization(org)
        save(out, "org", [organization])
        save(out, "user", organization.get_members())
        save(out, "team", organization.get_teams())
        for repo in organization.get_repos():
            save(out, "repo", [repo])
            for part, kind in KINDS.items():
                save(out, kind, getattr(repo, f"get_{part}")())
            save(out, "milestone", repo.get_milestones(state="all"))
            save(out, "issue", repo.get_issues(state="all"))
            try:
                for pull in repo.get_pulls(state="all"):
                    save(out, "pull_request", [pull])
                    save(out, "review", pull.get_reviews())
            except GithubException as error:
                print(f"pulls: {error.status}", file=sys.stderr)


if __name__ == "__main__":
    main(*sys.argv[1:])
