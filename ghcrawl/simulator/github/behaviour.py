"""How this GitHub behaves, where GitHub's own behaviour differs by place, plan or year."""

from __future__ import annotations

from typing import Final

from msgspec import Struct

FREQUENCY_CAP: Final = 10_000


class Secondary(Struct, frozen=True, kw_only=True):
    """The limits that no header shows. None: not enforced.

    concurrent: calls of one principal at a time.
    points_per_minute: calls of one principal in any 60 seconds.
    cpu_s_per_minute: summed response time of one principal in any 60 seconds.
    retry_after_s: what an answer says about it; None: nothing, and 60 s are meant.
    grace_s: a call that arrives this soon after the first refusal was on its way already and is no violation.
    """

    concurrent: int | None = 100
    points_per_minute: int | None = None
    cpu_s_per_minute: float | None = None
    retry_after_s: int | None = 60
    grace_s: float = 1.0


class Graphql(Struct, frozen=True, kw_only=True):
    """How the GraphQL API behaves.

    answers: there is one; an Enterprise server behind a proxy may have none.
    email_scope: tokens may read e-mail addresses; without it a query that asks for them fails as a whole.
    too_slow_above: a query for more ids times out after ten seconds: a 502, or with `slow_as_200` errors alone.
    resources_above: of a query for more ids the rest is refused, and the others are given.
    wrong: fields that say something else than REST does.
    """

    answers: bool = True
    email_scope: bool = True
    too_slow_above: int | None = None
    slow_as_200: bool = False
    resources_above: int | None = None
    wrong: frozenset[str] = frozenset()


class Manners(Struct, frozen=True, kw_only=True):
    """Everything that can be set. The defaults are github.com's of 2026.

    anonymous_limit: calls an hour without a token; None refuses them with 401.
    over_limit_status: 403 or 429.
    cursor_above: a list of issues longer than this is paged by cursor, and pages that end behind this element are
    refused unless a cursor leads there: page 11 of a hundred each.
    teams_denied_status: 403 or 404, to those who may not see an organisation's teams.
    alerts_shown: those who may push are shown the alerts about what a repository depends on.
    stars_cap: stargazers of a repository that are listed at most.
    pages_cap: pages of any list behind that one are refused, although the one before leads to them.
    frequency_cap: the code frequency of a repository with this many commits is refused.
    gzip: bodies are compressed for those who accept it, which makes their ETags weak.
    graphql: the other API.
    """

    anonymous_limit: int | None = 60
    over_limit_status: int = 403
    secondary: Secondary = Secondary()
    cursor_above: int = 1_000
    teams_denied_status: int = 403
    alerts_shown: bool = True
    stars_cap: int = 40_000
    pages_cap: int | None = None
    frequency_cap: int = FREQUENCY_CAP
    gzip: bool = True
    graphql: Graphql = Graphql()
