"""The page that says what is crawled of GitHub, and what it has of the predecessor's."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from processors.github import LISTINGS, PARTS
from processors.github.condition import ALWAYS
from processors.github.kinds_page import page
from tests.support.github import PLATFORM

DOCS = Path(__file__).parents[3] / "docs"
THINGS = """org user repo pull_request_commit commit pull_request_commit_comment commit_comment pull_request review
    review_comment issue issue_comment team deployment traffic referrers views clones paths"""
LINKED_ONLY = "status label"
COLLECTIONS = """collaborators commit_comments commits contributors events issues issue_comments members orgs
    pull_request_commit_comments pull_request_commits repos reviews review_comments subscribers stargazers statuses
    teams"""
RELATIONS = """org.members>user org.teams>team repo.teams>team repo.collaborators>user repo.contributors>user
    repo.subscribers>user repo.stargazers>user team.members>user team.repos>repo"""
EVENTS = """CommitComment Create Delete Deployment DeploymentStatus Fork Gollum IssueComment Issues Label Member
    Membership Milestone Organization OrgBlock PageBuild Public PullRequest PullRequestReview PullRequestReviewComment
    Push Release Repository Star Status Team TeamAdd Watch"""
LINKS = {
    "org": "user repos members teams",
    "user": "repos",
    "repo": """owner organization issues commits events teams collaborators contributors subscribers stargazers
        pull_requests referrers views clones paths""",
    "issue": "user repo assignee closed_by issue_comments assignees labels pull_request",
    "pull_request": """user merged_by assignee head base reviews review_comments statuses pull_request_commits repo
        issue issue_comments""",
    "commit": "repo author committer commit_comments",
    "commit_comment": "user commit",
    "issue_comment": "user issue",
    "review": "user pull_request",
    "review_comment": "user pull_request",
    "team": "organization members repos",
    "deployment": "creator commit",
}
"""The links of the predecessor's documents besides `self` and `siblings`; those of traffic are the repository's."""


def test_the_committed_page_is_what_the_registry_says():
    written = (DOCS / "github.md").read_text(encoding="utf-8")
    assert written == page(), "run make docs"


@pytest.mark.parametrize("kind", sorted(PLATFORM.kinds))
def test_every_kind_is_in_it(kind: str):
    assert f"`{kind}`" in page()


def predecessors(*sections: str) -> list[str]:
    """The last cells of these sections' tables, word by word, without what is in brackets."""
    lines = [part for part in page().split("\n## ") if part.partition("\n")[0] in sections]
    cells = [line.rstrip(" |").rpartition("| ")[2] for line in "\n".join(lines).splitlines() if line.startswith("| `")]
    return sorted({word.strip("`,") for cell in cells for word in re.sub(r"\(.*?\)", "", cell).split()} - {"–"})


def test_every_thing_of_the_predecessor_is_found_by_its_name_and_nothing_else_is():
    assert predecessors("Things", "Parts") == sorted([*THINGS.split(), *LINKED_ONLY.split()])


def test_every_collection_of_the_predecessor_is_found_by_its_name_and_nothing_else_is():
    assert predecessors("Lists", "Events") == sorted(COLLECTIONS.split())


def test_every_relation_of_the_predecessor_is_one_here():
    here = {f"{row.of}.{row.link}>{row.element}" for row in LISTINGS if row.relation}
    wanted = RELATIONS.split()

    assert (len(wanted), [each for each in wanted if each not in here]) == (9, [])


def test_every_event_of_the_predecessor_is_one_here():
    wanted = EVENTS.split()

    assert (len(wanted), [each for each in wanted if f"{each}Event" not in PLATFORM.kinds]) == (28, [])


@pytest.mark.parametrize("type", LINKS)
def test_documents_have_the_links_that_the_predecessors_had(type: str):
    sections = (DOCS / "documents.md").read_text(encoding="utf-8").split("\n## ")
    section = next(part for part in sections if part.partition("\n")[0] == type)
    links = re.findall(r"(?:^|[ \n;])([a-z_]+): (?:several )?(?:resource|collection|relation)", section)

    assert [name for name in LINKS[type].split() if name not in links] == []


def test_what_github_does_not_document_is_called_undocumented():
    lines = [line for line in page().splitlines() if line.startswith(("| `discussions`", "| comments in discussions"))]

    assert (len(lines), [line for line in lines if "undocumented" not in line]) == (2, [])


def test_whatever_depends_on_a_counter_says_so_in_words():
    conditions = {row.when for row in LISTINGS} | {row.when for row in PARTS}

    assert [condition for condition in conditions if not condition.words] == [ALWAYS]
    assert {condition.words or "–" for condition in conditions} <= {cell.strip() for cell in page().split("|")}
