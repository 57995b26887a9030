"""Allow-lists and exclude patterns."""

from __future__ import annotations

import pytest

from ghcrawl.values.scope import Scope


@pytest.mark.parametrize(
    ("allow", "exclude", "scope", "admitted"),
    [
        ((), (), "acme/web", True),
        (("acme",), (), "acme/web", True),
        (("ACME",), (), "acme", True),
        (("acme",), (), "other/web", False),
        (("acme/web*",), (), "acme/web-old", True),
        (("acme/web*",), (), "acme/api", False),
        (("acme/web",), (), "acme", True),
        ((), ("*/secret-*",), "acme/secret-plans", False),
        ((), ("*/secret-*",), "acme/plans", True),
        (("acme",), ("acme/old",), "acme/old", False),
        (("acme",), (), "", True),
    ],
)
def test_patterns_admit_owners_and_repositories(
    allow: tuple[str, ...], exclude: tuple[str, ...], scope: str, admitted: bool
):
    assert Scope(allow=allow, exclude=exclude).admits(scope) is admitted
