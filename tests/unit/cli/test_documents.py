from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest

from ghcrawl.platforms.naming import NAMES
from ghcrawl.values.documents import Document, Link
from stores.sqlite.documents import SqliteStore
from tests.support.builders import API, a_document, at
from tests.support.github import saved
from tests.unit.cli.conftest import Command, Fill

REPO = a_document(
    type="repo", urn="urn:repo:12", url=f"{API}/repos/acme/web", body={"id": 12, "full_name": "acme/web", "name": "web"}
)
COMMIT = a_document(
    type="commit",
    urn="urn:repo:12:commit:" + "a" * 40,
    url=f"{API}/repos/acme/web/commits/{'a' * 40}",
    body={"sha": "a" * 40, "commit": {"message": "Fix it\n\nIn many words"}},
)
PAGE = a_document(
    type="issues",
    urn="urn:repo:12:issues:page:1",
    url=f"{API}/repos/acme/web/issues?per_page=100",
    body={"elements": []},
)
GONE = a_document(9, title="gone", deleted_at=at(5), deleted_reason="404 Not Found")
OTHER = a_document(type="repo", urn="urn:repo:120", url=f"{API}/repos/acme/api", body={"full_name": "acme/api"})
ALL = [REPO, a_document(34, title="first\tof\nall"), a_document(5), COMMIT, PAGE, GONE, OTHER]
CRAWLS = {
    "unfinished": [],
    "last": {
        "specs": ["acme"],
        "policy": "default",
        "api_url": API,
        "asked_at": "2026-11-21T12:00:00.000Z",
        "command": "ghcrawl crawl acme",
        "finished_at": "2026-11-21T12:01:00.000Z",
    },
}


@pytest.fixture
def db(filled: Fill) -> Path:
    return filled(documents=ALL, crawls=CRAWLS)


# list ------------------------------------------------------------------------------------------------------------


def test_documents_are_named_a_line_each_with_tabs_into_a_pipe(ghcrawl: Command, db: Path) -> None:
    ran = ghcrawl("documents", "list", "--type", "issue", "--type", "commit")
    assert ran.status == 0
    assert ran.rows == [
        ["commit", COMMIT.urn, COMMIT.url, "Fix it In many words"],
        ["issue", "urn:repo:12:issue:34", f"{API}/repos/acme/web/issues/34", "first of all"],
        ["issue", "urn:repo:12:issue:5", f"{API}/repos/acme/web/issues/5", "first"],
        ["issue", "urn:repo:12:issue:9", f"{API}/repos/acme/web/issues/9", "gone"],
    ]


def test_pages_are_listed_only_where_they_are_asked_for(ghcrawl: Command, db: Path) -> None:
    assert "issues" not in [row[0] for row in ghcrawl("documents", "list").rows]
    assert "issues" in [row[0] for row in ghcrawl("documents", "list", "--lists").rows]
    assert [row[1] for row in ghcrawl("documents", "list", "--type", "issues").rows] == [PAGE.urn]


@pytest.mark.parametrize("under", ["urn:repo:12", f"{API}/repos/acme/web", "acme/web"])
def test_what_lies_below_a_thing_is_listed_however_that_is_called(ghcrawl: Command, db: Path, under: str) -> None:
    urns = [row[1] for row in ghcrawl("documents", "list", "--under", under).rows]
    assert len(urns) == 5
    assert "urn:repo:120" not in urns


def test_an_unknown_thing_to_look_under_is_an_error(ghcrawl: Command, db: Path) -> None:
    ran = ghcrawl("documents", "list", "--under", "acme/nothing")
    assert (ran.status, ran.out, ran.err) == (
        2,
        "",
        f"ghcrawl: document acme/nothing not found; name {NAMES}\n",
    )


def test_a_list_that_was_cut_says_so(ghcrawl: Command, db: Path) -> None:
    ran = ghcrawl("documents", "list", "--limit", "2")
    assert len(ran.rows) == 2
    assert ran.err == "Showing the first 2; --limit 0 shows all, --type and --under filter.\n"
    assert len(ghcrawl("documents", "list", "--limit", "0").rows) == 6


def test_a_list_as_json_is_one_array(ghcrawl: Command, db: Path) -> None:
    (gone, *_), rest = [one for one in ghcrawl("documents", "list", "--json").json if one["deletedAt"]], ALL
    assert gone == {
        "platform": "github",
        "type": "issue",
        "urn": "urn:repo:12:issue:9",
        "url": GONE.url,
        "title": "gone",
        "observedAt": "2026-11-21T12:00:00.000Z",
        "deletedAt": "2026-11-21T12:00:05.000Z",
    }
    assert len(ghcrawl("documents", "list", "--json").json) == len(rest) - 1
    assert ghcrawl("documents", "list", "--json", "--type", "milestone").json == []


def test_nothing_to_list_is_said(ghcrawl: Command, db: Path) -> None:
    ran = ghcrawl("documents", "list", "--type", "milestone")
    assert (ran.status, ran.out, ran.err) == (0, "", "No documents match.\n")


# show ------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["urn:repo:12", f"{API}/repos/acme/web", "acme/web"])
def test_a_document_is_shown_however_it_is_called(ghcrawl: Command, db: Path, name: str) -> None:
    ran = ghcrawl("documents", "show", name, "--json")
    assert ran.status == 0
    assert Document.from_json(ran.json).urn == "urn:repo:12"


@pytest.mark.parametrize(
    ("name", "urn"),
    [("ACME/Web", "urn:repo:12"), (f"{API}/repos/acme/WEB", "urn:repo:12"), ("Acme/WEB#9", "urn:repo:12:issue:9")],
)
def test_names_at_github_are_found_in_any_case(ghcrawl: Command, db: Path, name: str, urn: str) -> None:
    assert Document.from_json(ghcrawl("documents", "show", name, "--json").json).urn == urn
    missing = ghcrawl("documents", "show", "ACME/Web#99")
    assert (missing.status, missing.err.startswith("ghcrawl: document ACME/Web#99 not found")) == (1, True)


def test_for_a_person_it_is_shown_with_where_it_leads(ghcrawl: Command, filled: Fill) -> None:
    links = {
        "self": Link(type="resource", href="urn:repo:12"),
        "assignees": Link(type="resource", hrefs=("urn:user:1", "urn:user:2")),
    }
    filled(documents=[a_document(7, links=links, aliases=(f"{API}/old",), body={"title": "ünïcode \ud800", "n": None})])
    ran = ghcrawl("documents", "show", "urn:repo:12:issue:7")
    lines = ran.out.splitlines()
    assert lines[:3] == [
        "type  issue",
        "urn   urn:repo:12:issue:7",
        f"url   {API}/repos/acme/web/issues/7",
    ]
    assert f"also  {API}/old" in lines
    assert lines[lines.index("Links") + 1 :][:3] == [
        "self       urn:repo:12",
        "assignees  urn:user:1",
        "           urn:user:2",
    ]
    assert '  "n": null' in lines
    assert "ünïcode" in ran.out


def test_what_is_not_there_is_said_with_exit_status_1(ghcrawl: Command, db: Path) -> None:
    ran = ghcrawl("documents", "show", "acme/nothing", "--json")
    assert (ran.status, ran.out) == (1, "")
    assert ran.err == f"ghcrawl: document acme/nothing not found in ghcrawl.db; name {NAMES}\n"


def test_where_a_url_leads_to_several_things_the_type_chooses(ghcrawl: Command, filled: Fill) -> None:
    page = a_document(type="issues", urn="urn:repo:12:issues:page:1", body={"elements": []})
    filled(documents=[page, a_document(1)])
    ran = ghcrawl("documents", "show", f"{API}/repos/acme/web/issues/1")
    assert ran.out.startswith("type  issue\n"), "things come before pages"
    assert ran.err == "The name also matches issues; choose with --type.\n"
    assert ghcrawl("documents", "show", page.url, "--type", "issues").out.startswith("type  issues\n")
    ran = ghcrawl("documents", "show", page.url, "--type", "repo")
    assert (ran.status, ran.out, ran.err) == (1, "", f"ghcrawl: {page.url} matches no repo, but issue, issues\n")


# follow ----------------------------------------------------------------------------------------------------------

ORG = a_document(
    type="org",
    urn="urn:org:9",
    url=f"{API}/orgs/acme",
    body={"login": "acme"},
    links={
        "siblings": Link(type="collection", href="urn:orgs"),
        "repos": Link(type="collection", href="urn:org:9:repos"),
        "members": Link(type="relation", href="urn:org:9:members:pages"),
    },
)
OWNED = a_document(
    type="repo",
    urn="urn:repo:12",
    url=f"{API}/repos/acme/web",
    body={"full_name": "acme/web"},
    links={
        "siblings": Link(type="collection", href="urn:org:9:repos"),
        "owner": Link(type="resource", href="urn:org:9"),
        "issues": Link(type="collection", href="urn:repo:12:issues"),
        "assignees": Link(type="resource", hrefs=("urn:user:5", "urn:user:6")),
    },
)
REPOS = a_document(
    type="repos",
    urn="urn:org:9:repos:page:1",
    url=f"{API}/orgs/acme/repos",
    links={"resources": Link(type="resource", hrefs=("urn:repo:12", "urn:repo:13", "urn:repo:12", "urn:repo:120"))},
)
ISSUES = a_document(
    type="issues",
    urn="urn:repo:12:issues:page:1",
    url=f"{API}/repos/acme/web/issues",
    links={
        "siblings": Link(type="collection", href="urn:repo:12:issues"),
        "resources": Link(type="resource", hrefs=("urn:repo:12:issue:7",)),
    },
)
MEMBERS = a_document(
    type="members",
    urn="urn:org:9:members:pages:20261121T120000000Z:page:1",
    url=f"{API}/orgs/acme/members",
    links={"resources": Link(type="resource", hrefs=("urn:user:5",))},
)
USER = a_document(type="user", urn="urn:user:5", url=f"{API}/users/ann", body={"login": "ann"})
ISSUE = a_document(
    7,
    links={
        "siblings": Link(type="collection", href="urn:repo:12:issues"),
        "issue_comments": Link(type="collection", href="urn:repo:12:issue:7:issue_comments"),
    },
)
COMMENT = a_document(
    type="issue_comment",
    urn="urn:repo:12:issue:7:issue_comment:1",
    url=f"{API}/repos/acme/web/issues/comments/1",
    body={"body": "me too"},
    links={"siblings": Link(type="collection", href="urn:repo:12:issue:7:issue_comments")},
)


@pytest.fixture
def linked(filled: Fill) -> Path:
    return filled(documents=[ORG, OWNED, REPOS, ISSUES, MEMBERS, USER, ISSUE, COMMENT, OTHER], crawls=CRAWLS)


@pytest.mark.parametrize(
    ("name", "link", "found"),
    [
        ("acme", "repos", ["urn:repo:12", "urn:repo:120"]),
        ("acme/web", "issues", ["urn:repo:12:issue:7"]),
        ("acme", "members", ["urn:user:5"]),
        ("acme/web", "owner", ["urn:org:9"]),
        ("acme/web", "assignees", ["urn:user:5"]),
        ("urn:repo:12:issue:7", "issue_comments", [COMMENT.urn]),
        (COMMENT.url, "siblings", [COMMENT.urn]),
    ],
)
def test_a_link_is_followed_to_what_lies_behind_it(
    ghcrawl: Command, linked: Path, name: str, link: str, found: list[str]
) -> None:
    assert [one["urn"] for one in ghcrawl("documents", "follow", name, link, "--json").json] == found
    assert [row[1] for row in ghcrawl("documents", "follow", name, link).rows] == found


def test_a_link_that_is_not_there_is_said_with_those_that_are(ghcrawl: Command, linked: Path) -> None:
    ran = ghcrawl("documents", "follow", "acme", "teams")
    assert (ran.status, ran.out) == (1, "")
    assert ran.err == "ghcrawl: urn:org:9 has no link teams; it has siblings, repos, members\n"
    assert ghcrawl("documents", "follow", "nobody", "teams").status == 1


def test_what_lies_below_an_organisation_includes_its_repositories_and_not_its_people(
    ghcrawl: Command, linked: Path
) -> None:
    found = [one["urn"] for one in ghcrawl("documents", "list", "--under", "acme", "--json").json]
    assert found == ["urn:org:9", "urn:repo:12", "urn:repo:12:issue:7", COMMENT.urn]


# count -----------------------------------------------------------------------------------------------------------


def test_documents_are_counted_by_type_things_first(ghcrawl: Command, db: Path) -> None:
    ran = ghcrawl("documents", "count")
    assert ran.rows == [["repo", "2"], ["issue", "2"], ["commit", "1"], ["issues", "1"]]
    assert ran.err == "5 entities, and 1 list page or cursor.\n"
    assert ghcrawl("documents", "count", "--json").json == {
        "total": 6,
        "entities": 5,
        "by_type": {"repo": 2, "issue": 2, "commit": 1, "issues": 1},
    }


SHAS = ("1a2b3c4d5e", "1a2b3c4fff", "9f00000000")


@pytest.mark.parametrize("words", [("documents", "show"), ("documents", "list", "--under")])
def test_things_are_named_as_people_name_them(ghcrawl: Command, filled: Fill, words: tuple[str, ...]) -> None:
    base = "https://api.github.com/repos/acme/web"
    repo = a_document(type="repo", urn="urn:repo:12", url=base, body={"full_name": "acme/web"})
    issue = a_document(5, url=f"{base}/issues/5")
    commits = [
        a_document(type="commit", urn=f"urn:repo:12:commit:{sha:0<40}", url=f"{base}/commits/{sha:0<40}")
        for sha in SHAS
    ]
    filled(documents=[repo, issue, *commits])

    def told(name: str) -> str:
        ran = ghcrawl(*words, name, "--json")
        return str(re.findall(r'"urn": ?"(urn:repo:12:[^"]*)"', ran.out)[0]) if ran.status == 0 else ran.err

    assert told("acme/web#5") == told("https://github.com/acme/web/issues/5") == issue.urn
    assert told("acme/web@9f00000") == told(f"acme/web@{SHAS[2]:0<40}") == commits[2].urn
    assert told("acme/web@1a2b3c4d") == commits[0].urn
    assert f"there are {SHAS[0]:0<40}, {SHAS[1]:0<40}" in told("acme/web@1a2b3c4")
    assert "not found" in told("acme/web@1a2b3c5")
    assert told("ACME/Web#5") == told("https://GitHub.com/ACME/WEB/issues/5") == issue.urn
    assert told("ACME/WEB@1a2b3c4d") == commits[0].urn


@pytest.fixture
def numbered(filled: Fill) -> None:
    """A pull request 5 with its issue and what belongs to each, issue 6, and a pull request 7 without its issue."""
    base = "https://api.github.com/repos/acme/web"
    issues = [a_document(number, url=f"{base}/issues/{number}") for number in (5, 6)]
    pulls = [
        a_document(
            type="pull_request",
            urn=f"urn:repo:12:pull_request:{number}",
            url=f"{base}/pulls/{number}",
            links={"issue": Link(type="resource", href=f"urn:repo:12:issue:{number}")},
        )
        for number in (5, 7)
    ]
    comment = a_document(type="issue_comment", urn="urn:repo:12:issue:5:issue_comment:1", url=f"{base}/c/1")
    review = a_document(type="review", urn="urn:repo:12:pull_request:5:review:2", url=f"{base}/r/2")
    filled(documents=[*issues, *pulls, comment, review])


@pytest.mark.parametrize(
    ("name", "types"),
    [
        ("acme/web#5", ["pull_request", "issue"]),
        ("https://github.com/acme/web/pull/5/files#diff-1", ["pull_request", "issue"]),
        ("https://github.com/acme/web/issues/5", ["issue", "pull_request"]),
        ("https://api.github.com/repos/acme/web/issues/5", ["issue", "pull_request"]),
        ("acme/web#6", ["issue"]),
        ("https://github.com/acme/web/pull/6", ["issue"]),
        ("acme/web#7", ["pull_request"]),
        ("ACME/web#7", ["pull_request"]),
    ],
)
@pytest.mark.usefixtures("numbered")
def test_a_number_is_an_issue_and_a_pull_request(ghcrawl: Command, name: str, types: list[str]) -> None:
    ran = ghcrawl("documents", "show", name)
    assert ran.out.split()[:2] == ["type", types[0]]
    assert ran.err == "".join(f"The name also matches {type}; choose with --type.\n" for type in types[1:])
    for type in types:
        assert ghcrawl("documents", "show", name, "--type", type, "--json").json["_metadata"]["type"] == type


@pytest.mark.usefixtures("numbered")
def test_what_belongs_to_both_lies_under_their_number(ghcrawl: Command) -> None:
    rows = ghcrawl("documents", "list", "--under", "acme/web#5").rows
    assert sorted(row[0] for row in rows) == ["issue", "issue_comment", "pull_request", "review"]
    followed = ghcrawl("documents", "follow", "https://github.com/acme/web/issues/5", "issue").rows
    assert [row[1] for row in followed] == ["urn:repo:12:issue:5"]


TEAM = a_document(
    type="team",
    urn="urn:team:7",
    url="https://api.github.com/organizations/9/team/7",
    body={"slug": "core", "html_url": "https://github.com/orgs/acme/teams/core"},
)


def a_part(type: str, name: str, url: str, **body: str) -> Document:
    return a_document(type=type, urn=f"urn:repo:12:{type}{name}", url=f"{WEB}{url}", body=dict(body))


WEB = "https://api.github.com/repos/acme/web"
PARTS = (
    a_document(type="repo", urn="urn:repo:12", url=WEB, body={"full_name": "acme/web"}),
    a_part("release", ":3", "/releases/3", tag_name="v1.0"),
    a_part("release", ":4", "/releases/4", tag_name="v1.0/rc 1"),
    a_part("review", ":2", "/pulls/5/reviews/2"),
    a_part("commit_comment", ":9", "/comments/9"),
    a_part("issue_event", ":8", "/issues/events/8"),
    a_part("workflow", ":6", "/actions/workflows/6", path=".github/workflows/ci.yml"),
    a_part("workflow_job", ":11", "/actions/jobs/11"),
    a_part("discussion", ":5", "/discussions/5"),
    a_part("readme", "", "/readme", path="README.md"),
    a_part("codeowners", "", "/contents/.github/CODEOWNERS", path=".github/CODEOWNERS"),
    a_part("dependabot_alert", ":1", "/dependabot/alerts/1"),
    TEAM,
)


@pytest.mark.parametrize(
    ("page", "type"),
    [
        ("acme/web/releases/tag/v1.0", "release"),
        ("acme/web/releases/tag/v1.0/rc%201", "release"),
        ("acme/web/pull/5#pullrequestreview-2", "review"),
        ("acme/web/pull/5/files#pullrequestreview-2", "review"),
        ("acme/web/commit/1a2b3c4#commitcomment-9", "commit_comment"),
        ("acme/web/issues/5#event-8", "issue_event"),
        ("acme/web/actions/workflows/ci.yml", "workflow"),
        ("acme/web/actions/runs/1/job/11#step:3:1", "workflow_job"),
        ("acme/web/discussions/5", "discussion"),
        ("acme/web/discussions/5#discussioncomment-1", "discussion"),
        ("acme/web/blob/main/README.md?plain=1#L3", "readme"),
        ("ACME/web/blob/main/.github/CODEOWNERS", "codeowners"),
        ("acme/web/security/dependabot/1", "dependabot_alert"),
        ("orgs/acme/teams/core", "team"),
        ("orgs/ACME/teams/Core", "team"),
    ],
)
def test_pages_of_a_browser_are_names(ghcrawl: Command, filled: Fill, page: str, type: str) -> None:
    filled(documents=PARTS)
    ran = ghcrawl("documents", "show", f"https://github.com/{page}", "--json")
    assert ran.json["_metadata"]["type"] == type, ran.err


@pytest.mark.parametrize(
    ("body", "title"),
    [
        ({"text": "a comment\non two lines"}, "a comment on two lines"),
        ({"record": {"text": "a post"}, "uri": "at://x"}, "a post"),
        ({"handle": "alice.test", "displayName": "Alice"}, "Alice"),
        ({"login": "ada", "name": None}, "ada"),
        ({"commit": {"message": "Fix it"}, "sha": "1a2b"}, "Fix it"),
    ],
)
def test_things_of_every_platform_have_a_title(ghcrawl: Command, filled: Fill, body: Any, title: str) -> None:
    filled(documents=[a_document(1, body=body)])
    assert ghcrawl("documents", "list").rows[0][3] == title


def test_a_type_that_several_platforms_have_is_told_with_its_platform(ghcrawl: Command, filled: Fill) -> None:
    filled(documents=[*PLACES, *PARTS])
    rows = {urn: type for type, urn, *_ in ghcrawl("documents", "list").rows}
    assert (rows[PLACES[1].urn], rows[PLACES[4].urn]) == ("bluesky/post", "web/post")
    assert (rows[PLACES[2].urn], rows["urn:repo:12"]) == ("mastodon/status", "repo")
    assert ghcrawl("documents", "show", PLACES[4].url).out.splitlines()[0] == "type  web/post"
    (row,) = ghcrawl("documents", "list", "--type", "web/post", "--json").json
    assert (row["platform"], row["type"]) == ("web", "post")


POST = "bluesky:profile/did:plc:abc/post/3k00000000009"
PLACES = (
    a_document(
        platform="bluesky",
        type="profile",
        urn="urn:atproto:did:plc:abc",
        url="bluesky:profile/did:plc:abc",
        aliases=("https://bsky.app/profile/alice.test",),
    ),
    a_document(platform="bluesky", type="post", urn="urn:atproto:did:plc:abc:post:3k00000000009", url=POST),
    a_document(
        platform="mastodon",
        type="status",
        urn="urn:mastodon:social.example:account:1:status:2",
        url="mastodon://social.example/api/v1/statuses/2",
        aliases=("https://social.example/@alice/2",),
    ),
    a_document(platform="web", type="page", urn="urn:web:blog.example:page:/", url="https://blog.example/"),
    a_document(platform="web", type="post", urn="urn:web:blog.example:post:/a/", url="https://blog.example/a/"),
)


@pytest.mark.parametrize(
    ("name", "urn"),
    [
        ("https://bsky.app/profile/alice.test", 0),
        ("profile/Alice.test", 0),
        ("https://bsky.app/profile/Alice.test/post/3k00000000009", 1),
        ("https://bsky.app/profile/did:plc:abc/post/3k00000000009", 1),
        ("at://did:plc:abc/app.bsky.feed.post/3k00000000009", 1),
        ("https://social.example/@alice/2", 2),
        ("https://Social.example/@alice/2", 2),
        ("https://blog.example", 3),
        ("web:https://blog.example/", 3),
        ("https://Blog.example/a/", 4),
        ("https://blog.example/a", 4),
        ("https://blog.example/a/#more", 4),
    ],
)
def test_pages_of_other_platforms_are_names(ghcrawl: Command, filled: Fill, name: str, urn: int) -> None:
    filled(documents=PLACES)
    ran = ghcrawl("documents", "show", name, "--json")
    assert ran.status == 0, ran.err
    assert ran.json["_metadata"]["urn"] == PLACES[urn].urn


@pytest.mark.parametrize("name", ["acme/web", "ACME/WEB", "https://GITHUB.com/acme/web"])
def test_a_name_is_found_whatever_its_case(ghcrawl: Command, filled: Fill, name: str) -> None:
    place = "https://api.github.com/repos/Acme/Web"
    repo = saved("repo", {"id": 12, "full_name": "Acme/Web", "name": "Web", "url": place}, url=place).document
    issue = a_document(5, url=f"{place}/issues/5", urn=f"{repo.urn}:issue:5")
    filled(documents=[repo, issue])
    assert ghcrawl("documents", "show", name, "--json").json["_metadata"]["urn"] == repo.urn
    of_it = f"{name}/issues/5" if "://" in name else f"{name}#5"
    assert ghcrawl("documents", "show", of_it, "--json").json["_metadata"]["urn"] == issue.urn


# export ----------------------------------------------------------------------------------------------------------


def test_everything_is_exported_a_document_a_line(ghcrawl: Command, db: Path) -> None:
    lines = ghcrawl("documents", "export", "--format", "jsonl").out.splitlines()
    documents = [Document.from_json(json.loads(line)) for line in lines]
    assert sorted(documents, key=lambda one: one.urn) == sorted(ALL, key=lambda one: one.urn)


def test_an_export_may_choose(ghcrawl: Command, db: Path) -> None:
    lines = ghcrawl("documents", "export", "--type", "issue", "--no-deleted", "-o", "-").out.splitlines()
    assert [json.loads(line)["number"] for line in lines] == [34, 5]
    assert len(ghcrawl("documents", "export", "--under", "urn:repo:120").out.splitlines()) == 1


def test_an_export_may_choose_by_when_things_were_saved(ghcrawl: Command, filled: Fill) -> None:
    filled(documents=[a_document(1), a_document(2, processed_at=at(60)), a_document(3, processed_at=at(3600))])
    filled(documents=[a_document(1, observed_at=at(7200), processed_at=at(7200))])

    def seen(*words: str) -> list[int]:
        lines = ghcrawl("documents", "export", *words).out.splitlines()
        return [json.loads(line)["number"] for line in lines]

    assert seen("--since", "2026-11-21T12:01:00Z") == [2, 3]
    assert seen("--until", "2026-11-21T12:01:00+00:00") == [1]
    assert seen("--since", "2026-11-21", "--until", "2026-11-22") == [1, 2, 3]
    assert seen("--since", "2026-11-22") == []
    gone = a_document(1, deleted_at=at(86_400), observed_at=at(86_400), processed_at=at(86_400))
    filled(documents=[a_document(2, title="changed", processed_at=at(90_000), observed_at=at(90_000)), gone])
    assert seen("--since", "2026-11-22") == [1, 2]
    assert seen("--since", "2026-11-22", "--no-deleted") == [2]
    assert seen("--until", "2026-11-22") == [3]
    ran = ghcrawl("documents", "export", "--since", "yesterday")
    assert (ran.status, ran.err) == (
        2,
        "ghcrawl: 'yesterday' is not a date; write 2026-11-01, 2026-11-01T12:00Z, or 7d for 7 days ago\n",
    )


def test_a_flat_export_is_things_as_the_platform_sent_them_with_urn_and_type(ghcrawl: Command, db: Path) -> None:
    lines = ghcrawl("documents", "export", "--flat", "--no-deleted").out.splitlines()
    bodies = [
        {**one.body, "_urn": one.urn, "_type": one.type, "_repo": one.body.get("full_name", "acme/web")}
        for one in ALL
        if one not in (PAGE, GONE)
    ]
    assert sorted(map(json.loads, lines), key=str) == sorted(bodies, key=str)


def test_an_export_may_leave_out_all_that_only_helps_to_find_things(ghcrawl: Command, db: Path) -> None:
    assert len(ghcrawl("documents", "export", "--no-lists").out.splitlines()) == len(ALL) - 1


def test_a_type_that_is_mistyped_is_said(ghcrawl: Command, db: Path) -> None:
    ran = ghcrawl("documents", "export", "--type", "isue")
    assert (ran.status, ran.out, ran.err) == (2, "", "ghcrawl: unknown type isue; did you mean issue?\n")


def test_an_export_into_a_file_says_what_it_wrote(ghcrawl: Command, db: Path) -> None:
    ran = ghcrawl("documents", "export", "--output", "all.jsonl")
    assert (ran.status, ran.out, ran.err) == (0, "", "7 documents written to all.jsonl.\n")
    assert len(Path("all.jsonl").read_text().splitlines()) == 7
    assert sorted(path.name for path in Path().iterdir() if "jsonl" in path.name) == ["all.jsonl"]


def test_an_export_that_cannot_be_written_leaves_nothing(ghcrawl: Command, db: Path) -> None:
    ran = ghcrawl("documents", "export", "--output", "nowhere/all.jsonl")
    assert ran.status == 2
    assert ran.err == "ghcrawl: cannot write nowhere/all.jsonl: No such file or directory\n"
    Path("there").mkdir()
    assert ghcrawl("documents", "export", "--output", "there").status == 2
    assert not list(Path().glob("*.partial"))


# a file that is not there ----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "words",
    [
        ("documents", "list"),
        ("documents", "show", "urn:repo:1"),
        ("documents", "count"),
        ("documents", "export"),
        ("deadletters", "list"),
        ("queue",),
        ("requests", "peek", "soon"),
        ("status",),
        ("config", "set", "crawl.loops", "3"),
    ],
)
def test_looking_makes_no_file(ghcrawl: Command, words: tuple[str, ...]) -> None:
    ran = ghcrawl(*words)
    assert (ran.status, ran.out) == (2, "")
    assert ran.err == (
        "ghcrawl: file ghcrawl.db not found; create it with `ghcrawl crawl`, or choose another with --db\n"
    )
    assert not list(Path().glob("ghcrawl*"))


def test_only_for_a_type_that_the_platform_has_not_all_documents_are_counted(
    ghcrawl: Command, filled: Fill, monkeypatch: pytest.MonkeyPatch
) -> None:
    filled(documents=[REPO, a_document(1, type="of_another_version")], crawls=CRAWLS)
    assert [row[0] for row in ghcrawl("documents", "list", "--type", "of_another_version").rows] == [
        "of_another_version"
    ]
    monkeypatch.setattr(SqliteStore, "counts", None)
    assert [row[1] for row in ghcrawl("documents", "list", "--type", "repo").rows] == [REPO.urn]
