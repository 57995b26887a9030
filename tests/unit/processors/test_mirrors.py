"""A mirror or a proxy of GitHub's API repeats its URLs: the crawl stays where it was sent."""

from __future__ import annotations

import pytest

from processors.github.names import here

GITHUB = "https://api.github.com"


@pytest.mark.parametrize(
    ("asked", "url", "followed"),
    [
        ("http://mirror/orgs/acme", f"{GITHUB}/orgs/acme/repos", "http://mirror/orgs/acme/repos"),
        ("http://proxy/gh/repos/a/b", f"{GITHUB}/users/ada", "http://proxy/gh/users/ada"),
        ("http://mirror/repositories/7/issues?page=2", f"{GITHUB}/repos/a/b", "http://mirror/repos/a/b"),
        (f"{GITHUB}/orgs/acme", f"{GITHUB}/users/ada", f"{GITHUB}/users/ada"),
        ("https://ghe/api/v3/users/ada", "https://ghe/api/v3/users/bob", "https://ghe/api/v3/users/bob"),
        ("http://mirror/rate_limit", f"{GITHUB}/users/ada", f"{GITHUB}/users/ada"),
    ],
)
def test_what_github_says_of_itself_is_looked_for_where_it_was_asked(asked: str, url: str, followed: str):
    assert here(asked, url) == followed
