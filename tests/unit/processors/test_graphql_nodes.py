from __future__ import annotations

from typing import Any

import pytest

from processors.github import graphql_nodes

API = "https://api.github.com"
SIMPLE: dict[str, Any] = {
    "login": "anna",
    "id": 5,
    "node_id": "U_5",
    "avatar_url": "https://avatars.githubusercontent.com/u/5?v=4",
    "gravatar_id": "",
    "url": f"{API}/users/anna",
    "html_url": "https://github.com/anna",
    "followers_url": f"{API}/users/anna/followers",
    "following_url": f"{API}/users/anna/following{{/other_user}}",
    "gists_url": f"{API}/users/anna/gists{{/gist_id}}",
    "starred_url": f"{API}/users/anna/starred{{/owner}}{{/repo}}",
    "subscriptions_url": f"{API}/users/anna/subscriptions",
    "organizations_url": f"{API}/users/anna/orgs",
    "repos_url": f"{API}/users/anna/repos",
    "events_url": f"{API}/users/anna/events{{/privacy}}",
    "received_events_url": f"{API}/users/anna/received_events",
    "type": "User",
    "user_view_type": "public",
    "site_admin": False,
}
ACTOR: dict[str, Any] = {
    "__typename": "User",
    "id": "U_5",
    "databaseId": 5,
    "login": "anna",
    "url": "https://github.com/anna",
    "avatarUrl": "https://avatars.githubusercontent.com/u/5?u=b590c0ffee&v=4",
    "isSiteAdmin": False,
}
PROFILE: dict[str, Any] = {
    "login": "anna",
    "databaseId": 5,
    "name": "",
    "company": None,
    "websiteUrl": None,
    "location": "Bergen",
    "email": "",
    "isHireable": False,
    "bio": "",
    "twitterUsername": None,
    "createdAt": "2020-01-01T00:00:00Z",
    "updatedAt": "2025-01-01T00:00:00Z",
    "repositories": {"totalCount": 3},
    "gists": {"totalCount": 0},
    "followers": {"totalCount": 2},
    "following": {"totalCount": 1},
}
ELEMENT: dict[str, Any] = {
    "url": f"{API}/repos/acme/web/pulls/7",
    "number": 7,
    "state": "closed",
    "updated_at": "2025-01-01T00:00:00Z",
    "merged_at": "2025-01-01T00:00:00Z",
    "head": {"sha": "abc"},
}
PULL: dict[str, Any] = {
    "updatedAt": "2025-01-01T00:00:00Z",
    "headRefOid": "abc",
    "mergedBy": ACTOR,
    "maintainerCanModify": False,
    "additions": 1,
    "deletions": 2,
    "changedFiles": 3,
    "comments": {"totalCount": 4},
    "commits": {"totalCount": 5},
    "reviews": {"totalCount": 0},
    "reviewThreads": {"totalCount": 2, "nodes": [{"comments": {"totalCount": 2}}, {"comments": {"totalCount": 1}}]},
}


def test_a_profile_is_the_account_of_a_list_and_what_only_the_profile_has():
    found = graphql_nodes.user({**SIMPLE, "contributions": 40}, PROFILE)

    assert found == {
        **SIMPLE,
        "name": None,
        "company": None,
        "blog": "",
        "location": "Bergen",
        "email": None,
        "hireable": None,
        "bio": None,
        "twitter_username": None,
        "public_repos": 3,
        "public_gists": 0,
        "followers": 2,
        "following": 1,
        "created_at": "2020-01-01T00:00:00Z",
        "updated_at": "2025-01-01T00:00:00Z",
    }


@pytest.mark.parametrize(
    "node",
    [
        {**PROFILE, "login": "anna2"},
        {**PROFILE, "databaseId": 6},
        {key: value for key, value in PROFILE.items() if key != "email"},
        {**PROFILE, "followers": None},
        {"id": "O_9"},
    ],
    ids=["renamed", "another", "no address was asked for", "no counter", "no user"],
)
def test_a_profile_in_doubt_is_left_to_rest(node: dict[str, Any]):
    assert graphql_nodes.user(SIMPLE, node) is None


def test_a_pull_request_is_the_element_of_the_list_and_twelve_fields_more():
    found = graphql_nodes.pull_request(ELEMENT, PULL, {}, is_open=False)

    assert found == {
        **ELEMENT,
        "merged": True,
        "merged_by": SIMPLE,
        "mergeable": None,
        "rebaseable": None,
        "mergeable_state": "unknown",
        "comments": 4,
        "review_comments": 3,
        "maintainer_can_modify": False,
        "commits": 5,
        "additions": 1,
        "deletions": 2,
        "changed_files": 3,
    }


@pytest.mark.parametrize(
    ("said", "mergeable", "rebaseable"),
    [("MERGEABLE", True, True), ("CONFLICTING", False, True), ("UNKNOWN", None, None)],
)
def test_whether_an_open_one_can_be_merged_is_as_it_is_now(said: str, mergeable: bool | None, rebaseable: bool | None):
    node = {**PULL, "mergedBy": None, "mergeable": said, "canBeRebased": True, "mergeStateStatus": "HAS_HOOKS"}
    found = graphql_nodes.pull_request({**ELEMENT, "merged_at": None, "state": "open"}, node, {}, is_open=True)

    assert found is not None
    assert (found["mergeable"], found["rebaseable"], found["mergeable_state"]) == (mergeable, rebaseable, "has_hooks")


@pytest.mark.parametrize(
    "node",
    [
        {**PULL, "updatedAt": "2025-01-01T00:00:01Z"},
        {**PULL, "headRefOid": "abd"},
        {**PULL, "mergedBy": None},
        {**PULL, "mergedBy": {"__typename": "Bot", "login": "merge", "databaseId": 8}},
        {**PULL, "reviewThreads": {"totalCount": 21, "nodes": []}},
        {**PULL, "additions": None},
    ],
    ids=["changed since", "pushed to since", "merged by a ghost", "merged by a bot", "many threads", "no figure"],
)
def test_a_pull_request_in_doubt_is_left_to_rest(node: dict[str, Any]):
    assert graphql_nodes.pull_request(ELEMENT, node, {}, is_open=False) is None


def test_a_bot_that_rest_named_on_the_page_is_written_as_there():
    bot = {**SIMPLE, "login": "merge[bot]", "id": 8, "type": "Bot"}
    node = {**PULL, "mergedBy": {"__typename": "Bot", "login": "merge", "databaseId": 8}}
    found = graphql_nodes.pull_request(ELEMENT, node, {8: bot}, is_open=False)
    assert found is not None
    assert found["merged_by"] == bot


REVIEW: dict[str, Any] = {
    "id": "PRR_1",
    "fullDatabaseId": "1540000001",
    "author": ACTOR,
    "body": "",
    "state": "APPROVED",
    "url": "https://github.com/acme/web/pull/7#pullrequestreview-1540000001",
    "submittedAt": "2025-01-01T00:00:00Z",
    "commit": {"oid": "abc"},
    "authorAssociation": "MEMBER",
}


def test_reviews_are_as_the_list_of_rest_writes_them():
    pending = {**REVIEW, "state": "PENDING", "submittedAt": None, "author": None, "commit": None}
    shown = {"reviews": {"totalCount": 2, "nodes": [REVIEW, pending]}}
    first, second = graphql_nodes.reviews(ELEMENT["url"], shown) or ()

    assert (first["id"], first["user"], first["submitted_at"]) == (1540000001, SIMPLE, "2025-01-01T00:00:00Z")
    assert first["_links"] == {"html": {"href": REVIEW["url"]}, "pull_request": {"href": ELEMENT["url"]}}
    assert "submitted_at" not in second
    assert (second["user"], second["commit_id"]) == (None, None)


@pytest.mark.parametrize(
    "shown",
    [
        {"totalCount": 101, "nodes": [REVIEW] * 100},
        {"totalCount": 1, "nodes": [None]},
        {"totalCount": 1, "nodes": [{**REVIEW, "author": {"__typename": "Bot", "login": "x", "databaseId": 8}}]},
        {"totalCount": 1, "nodes": [{**REVIEW, "fullDatabaseId": None}]},
    ],
    ids=["more than a page", "hidden", "by a bot", "without a number"],
)
def test_reviews_in_doubt_are_left_to_rest(shown: dict[str, Any]):
    assert graphql_nodes.reviews(ELEMENT["url"], {"reviews": shown}) is None
