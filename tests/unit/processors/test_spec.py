"""What a person types, read."""

from __future__ import annotations

import pytest

from ghcrawl.values.errors import SpecError
from processors.github.spec import user_instead
from tests.support.builders import API
from tests.support.github import PLATFORM, a_repo, asked, saved


def read(typed: str, api: str = API) -> tuple[str, str]:
    request = PLATFORM.read_spec(typed, api, "default")
    return request.type, request.url.removeprefix(api)


@pytest.mark.parametrize(
    ("typed", "type", "path"),
    [
        ("acme", "org", "/orgs/acme"),
        ("acme/web", "repo", "/repos/acme/web"),
        ("acme/web.site_2", "repo", "/repos/acme/web.site_2"),
        ("acme/web.git", "repo", "/repos/acme/web"),
        ("https://example.test/acme/web.git", "repo", "/repos/acme/web"),
        (f"user:{API}/users/ada", "user", "/users/ada"),
        (f"{API}/orgs/acme", "org", "/orgs/acme"),
        (f"{API}/repositories/12", "repo", "/repositories/12"),
        (f"{API}/orgs/acme/teams/core", "team", "/orgs/acme/teams/core"),
        ("https://example.test/acme", "org", "/orgs/acme"),
        ("https://example.test/acme/web", "repo", "/repos/acme/web"),
        ("https://example.test/orgs/acme", "org", "/orgs/acme"),
    ],
)
def test_roots_are_asked_for_directly(typed: str, type: str, path: str):
    assert read(typed) == (type, path)


@pytest.mark.parametrize(
    ("typed", "type", "path"),
    [
        ("https://example.test/acme/web/issues/34", "issue", "/repos/acme/web/issues/34"),
        ("https://example.test/acme/web/pull/34", "pull_request", "/repos/acme/web/pulls/34"),
        ("https://example.test/acme/web/commit/abc", "commit", "/repos/acme/web/commits/abc"),
        ("https://example.test/acme/web/milestone/3", "milestone", "/repos/acme/web/milestones/3"),
        ("https://example.test/acme/web/tree/fix/x", "branch", "/repos/acme/web/branches/fix/x"),
        (
            "https://example.test/acme/web/issues/3#issuecomment-5",
            "issue_comment",
            "/repos/acme/web/issues/comments/5",
        ),
        ("https://example.test/acme/web/pull/3#discussion_r5", "review_comment", "/repos/acme/web/pulls/comments/5"),
        ("https://example.test/acme/web/pull/34/files#diff-1", "pull_request", "/repos/acme/web/pulls/34"),
        ("https://example.test/acme/web/pull/34/commits/1a2b3c4", "commit", "/repos/acme/web/commits/1a2b3c4"),
        ("https://example.test/acme/web/releases/tag/v1/x", "release", "/repos/acme/web/releases/tags/v1/x"),
        ("https://example.test/acme/web/runs/5", "check_run", "/repos/acme/web/check-runs/5"),
        ("https://example.test/acme/web/rules/5", "ruleset", "/repos/acme/web/rulesets/5"),
        (
            "https://example.test/acme/web/security/code-scanning/5",
            "code_scanning_alert",
            "/repos/acme/web/code-scanning/alerts/5",
        ),
        ("acme/web#5", "issue", "/repos/acme/web/issues/5"),
        ("acme/web.site#5", "issue", "/repos/acme/web.site/issues/5"),
        ("acme/web@1A2b3c4", "commit", "/repos/acme/web/commits/1a2b3c4"),
        (f"issue_comment:{API}/repos/acme/web/issues/comments/5", "issue_comment", "/repos/acme/web/issues/comments/5"),
        (f"{API}/repos/acme/web/branches/fix/x", "branch", "/repos/acme/web/branches/fix/x"),
        (f"{API}/repos/acme/web/releases/latest", "release", "/repos/acme/web/releases/latest"),
        (f"{API}/repos/acme/web/releases/tags/v1/x", "release", "/repos/acme/web/releases/tags/v1/x"),
        (f"{API}/repos/acme/web/events", "events", "/repos/acme/web/events?per_page=100"),
        (f"events:{API}/repos/acme/web/events", "events", "/repos/acme/web/events?per_page=100"),
        (
            f"{API}/repos/acme/web/branches/main/protection",
            "branch_protection",
            "/repos/acme/web/branches/main/protection",
        ),
        (
            f"{API}/repos/acme/web/branches/fix/x/protection",
            "branch_protection",
            "/repos/acme/web/branches/fix/x/protection",
        ),
        (f"{API}/repos/acme/web/git/tags/abc", "tag_object", "/repos/acme/web/git/tags/abc"),
        (f"{API}/repos/acme/web/labels", "labels", "/repos/acme/web/labels?per_page=100"),
        (
            f"{API}/repos/acme/web/issues?state=open",
            "issues",
            "/repos/acme/web/issues?state=open&per_page=100",
        ),
    ],
)
def test_what_is_named_after_its_repository_is_reached_through_it(typed: str, type: str, path: str):
    request = PLATFORM.read_spec(typed, API, "default")
    assert (request.type, request.policy) == ("repo", "default:self")

    outcome = saved("repo", a_repo(), policy=request.policy, then=request.context.then)

    (push,) = outcome.follow_ups
    assert (push.request.type, push.request.url) == (type, API + path)
    assert push.request.context.qualifier == "urn:repo:12"


@pytest.mark.parametrize(
    ("path", "type"),
    [
        ("/users/ada", "user"),
        ("/users/teamwork", "user"),
        ("/users/organic", "user"),
        ("/user/5", "user"),
        ("/orgs/acme", "org"),
        ("/orgs/teams", "org"),
        ("/organizations/9", "org"),
    ],
)
def test_a_list_of_an_account_is_reached_through_it_whatever_it_is_called(path: str, type: str):
    assert read(f"{API}{path}/repos") == (type, path)


@pytest.mark.parametrize("path", ["/orgs/acme/teams/core", "/orgs/acme/teams/users", "/organizations/9/team/7"])
def test_a_list_of_a_team_is_reached_through_the_team(path: str):
    assert read(f"{API}{path}/members") == ("team", path)


@pytest.mark.parametrize(
    ("path", "type", "above"),
    [
        ("/pulls/34/reviews", "reviews", "pull_request:34"),
        ("/pulls/34/files", "pull_request_files", "pull_request:34"),
        ("/actions/runs/7/jobs", "workflow_jobs", "workflow_run:7"),
        ("/actions/runs/7/artifacts", "artifacts", "workflow_run:7"),
        (f"/commits/{'a' * 40}/pulls", "commit_pull_requests", f"commit:{'a' * 40}"),
    ],
)
def test_a_list_below_something_in_a_repository_is_named_after_that(path: str, type: str, above: str):
    request = PLATFORM.read_spec(f"{API}/repos/acme/web{path}", API, "default")
    (push,) = saved("repo", a_repo(), policy=request.policy, then=request.context.then).follow_ups

    assert (push.request.type, push.request.context.qualifier) == (type, f"urn:repo:12:{above}")


@pytest.mark.parametrize(
    ("above", "body", "below"),
    [
        ("/check-suites/7", {"id": 7, "head_sha": "abc"}, "/check-runs"),
        ("/check-runs/7", {"id": 7, "head_sha": "abc"}, "/annotations"),
        ("/pulls/comments/7", {"id": 7, "pull_request_url": f"{API}/repos/acme/web/pulls/3"}, "/reactions"),
        ("/issues/comments/7", {"id": 7, "issue_url": f"{API}/repos/acme/web/issues/3"}, "/reactions"),
        ("/comments/7", {"id": 7, "commit_id": "abc"}, "/reactions"),
    ],
)
def test_a_list_below_what_only_an_answer_names_is_asked_for_once_that_is_named(
    above: str, body: dict[str, object], below: str
):
    url = f"{API}/repos/acme/web{above}"
    root = PLATFORM.read_spec(url + below, API, "default")
    (push,) = saved("repo", a_repo(), policy=root.policy, then=root.context.then).follow_ups
    assert (push.request.url, push.request.policy) == (url, "default:self")

    named = push.request
    outcome = saved(
        named.type, body | {"url": url}, url=url, policy=named.policy, qualifier="urn:repo:12", then=named.context.then
    )

    (asked_for,) = [push.request for push in outcome.follow_ups if push.request.url.startswith(url + below)]
    assert asked_for.context.qualifier == outcome.document.urn
    assert asked_for.policy == "default"


def test_two_things_of_one_repository_are_two_requests():
    one = PLATFORM.read_spec(f"{API}/repos/acme/web/issues/1", API, "default")
    two = PLATFORM.read_spec(f"{API}/repos/acme/web/issues/2", API, "default")

    assert one.key != two.key


def test_a_name_that_is_no_organisation_may_be_a_user():
    other = user_instead(PLATFORM.read_spec("ada", API, "default"))

    assert other is not None
    assert (other.type, other.url) == ("user", f"{API}/users/ada")
    assert asked(saved("user", {"id": 5, "url": other.url, "public_repos": 1}))


@pytest.mark.parametrize(
    "typed",
    [
        "",
        "two words",
        "a/b/c",
        "-acme",
        "https://elsewhere.test/acme",
        f"planet:{API}/orgs/acme",
        f"issue:{API}/orgs/acme",
        f"{API}/repos/acme/web/unheard-of",
        "ftp://example.test/acme",
    ],
)
def test_what_nobody_can_read_is_refused_with_a_sentence(typed: str):
    with pytest.raises(SpecError) as refusal:
        read(typed)

    assert len(str(refusal.value)) > 20


@pytest.mark.parametrize(
    ("typed", "says"),
    [
        ("isue", "unknown type 'isue'; did you mean issue?"),
        ("xyzzy", "unknown type 'xyzzy'; known types: "),
    ],
)
def test_a_type_with_a_typo_is_told_the_nearest_and_not_all_there_are(typed: str, says: str):
    with pytest.raises(SpecError) as refusal:
        read(f"{typed}:{API}/repos/acme/web")

    assert str(refusal.value).startswith(says)
    assert len(str(refusal.value)) < 200


def test_a_policy_with_a_typo_is_refused_at_once():
    with pytest.raises(SpecError, match="refersh"):
        PLATFORM.read_spec("acme", API, "refersh")
