"""How large a generated world is."""

from __future__ import annotations

from typing import Final

from msgspec import Struct

from ghcrawl.values.frozen import replace


class WorldSize(Struct, frozen=True, kw_only=True):
    """Sizes of a world. Counts per repository are exact, means are means.

    orgs: the first is the large one; every other has a quarter of its repositories.
    repos: of the first organisation, besides the odd ones of `quirks`.
    owners: users who own a repository of their own.
    issues: per repository, pull requests included; pull_share of them are pull requests.
    commits: per repository, straight to the default branch; pull requests bring theirs, `pull_commits` on average.
    stars: at the most, and half as many who watch. reactions: on each thing that people said.
    projects: of each organisation.
    quirks: also make what a crawler meets once in a thousand: an empty repository, a renamed one, a blocked one, …
    """

    orgs: int = 2
    repos: int = 4
    owners: int = 2
    users: int = 30
    teams: int = 4
    issues: int = 20
    pull_share: float = 0.4
    comments: float = 3.0
    pull_commits: float = 2.0
    reviews: float = 1.5
    review_comments: float = 1.5
    commits: int = 40
    commit_comments: float = 0.05
    labels: int = 9
    milestones: int = 3
    releases: int = 4
    assets: int = 2
    branches: int = 3
    tags: int = 5
    stars: int = 12
    reactions: float = 0.1
    deployments: int = 2
    workflow_runs: int = 6
    alerts: int = 2
    discussions: int = 2
    projects: int = 1
    quirks: bool = True

    @classmethod
    def about(cls, entities: int) -> WorldSize:
        """A size at which the first organisation has about `entities` things, within a tenth.

        The pages of lists that a crawl keeps as well are about a tenth more. The odd repositories alone have
        hundreds of things, so a smaller world has none.
        """
        repos = max(1, min(60, round((entities / 400) ** 0.6)))
        quirks = entities >= ODD_FROM
        odd, odd_scaled = (ODD, ODD_SCALED) if quirks else (0, 0)
        scale = max(0.1, (entities - odd - repos * PER_REPO) / (odd_scaled + repos * PER_REPO_SCALED))
        base = cls(quirks=quirks)
        return replace(
            base,
            repos=repos,
            users=max(10, min(2000, entities // 60)),
            teams=max(2, min(50, repos)),
            issues=max(1, round(base.issues * scale)),
            commits=max(2, round(base.commits * scale)),
            branches=max(1, round(base.branches * min(scale, 10))),
            tags=max(1, round(base.tags * min(scale, 10))),
            releases=max(1, round(base.releases * min(scale, 10))),
        )


ODD_FROM: Final = 1_500
"""The number of things from which on odd repositories are among them."""
ODD, ODD_SCALED, PER_REPO, PER_REPO_SCALED = 420, 70, 30, 235
"""Things, as counted in generated worlds: in all odd repositories together and in each other one; and in both, how
many more for each time that issues, commits and refs are as many as by default."""

TINY: Final = WorldSize(repos=1, users=8, teams=1, issues=6, commits=8, quirks=False)
"""About a hundred documents: for tests that look at one thing."""
SMALL: Final = WorldSize()
"""About a thousand documents, and everything odd."""
