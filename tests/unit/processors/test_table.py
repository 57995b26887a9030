"""The page that says what is crawled of GitHub."""

from __future__ import annotations

from pathlib import Path

import pytest

from processors.github import LISTINGS, PARTS
from processors.github.listing import always
from processors.github.table import page
from tests.support.github import PLATFORM

COMMITTED = Path(__file__).parents[3] / "docs" / "github.md"
PREDECESSOR = {
    "things": """org user repo commit commit_comment pull_request review review_comment issue issue_comment team
        deployment referrers views clones paths status""",
    "collections": """collaborators commit_comments commits contributors issues issue_comments members orgs
        pull_request_commits repos reviews review_comments subscribers stargazers statuses teams""",
    "relations": "org_members org_teams repo_teams repo_collaborators team_members",
}


def test_the_committed_page_is_what_the_registry_says():
    assert COMMITTED.read_text(encoding="utf-8") == page(), "python -m processors.github.table > docs/github.md"


@pytest.mark.parametrize("kind", sorted(PLATFORM.kinds))
def test_every_kind_is_in_it(kind: str):
    assert f"`{kind}`" in page()


@pytest.mark.parametrize("family", PREDECESSOR)
def test_what_the_predecessor_had_is_found_by_its_name(family: str):
    last_cells = {line.rstrip(" |").rpartition("| ")[2] for line in page().splitlines() if line.startswith("| `")}
    words = {word.strip("`()") for cell in last_cells for word in cell.split()}

    assert set(PREDECESSOR[family].split()) <= words


def test_whatever_depends_on_a_counter_says_so_in_words():
    rows = [(row.only_if, row.when) for row in LISTINGS] + [(row.only_if, row.when) for row in PARTS]

    assert [words for words, when in rows if bool(words) == (when is always)] == []
