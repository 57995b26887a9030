"""What guards a repository: rulesets, protected branches, advisories, and alerts for those who may see them."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Final

from ghcrawl.simulator.answers import Refusal
from ghcrawl.simulator.github.entities import Repo
from ghcrawl.simulator.github.records import Alert
from ghcrawl.simulator.github.refusals import not_found, refused
from ghcrawl.simulator.github.routes import commits
from ghcrawl.simulator.github.routes.ask import Ask, Many, One, found, number
from ghcrawl.simulator.github.routes.finders import every, guarded, listed, newest, numbered, single
from ghcrawl.simulator.github.routes.table import Finder
from ghcrawl.simulator.github.shapes import protection


def rulesets(ask: Ask, repo: Repo) -> Many[Repo]:
    """`/rulesets`."""
    return Many(elements=[repo], shape=partial(protection.listed_ruleset, ask.site))


def ruleset(ask: Ask, repo: Repo, text: str) -> One:
    """`/rulesets/{id}`."""
    if number(text) != repo.id:
        raise not_found()
    return One(body=protection.ruleset(ask.site, repo))


def branch(ask: Ask, repo: Repo, name: str) -> One:
    """`/branches/{branch}` and `/branches/{branch}/protection`: names have slashes, encoded or not."""
    bare = name.removesuffix("/protection")
    return commits.branch(ask, repo, name) if bare == name or name in repo.branches else _protection(ask, repo, bare)


def _protection(ask: Ask, repo: Repo, name: str) -> One:
    """For those who may administer."""
    ref = found(repo.branches.get(name))
    if not ask.viewer.insider(repo.owner):
        raise not_found()
    if not ref.protected:
        raise Refusal(refused(404, "Branch not protected"))
    return One(body=protection.branch_protection(ask.site, repo, ref))


def _admit_to_secrets(ask: Ask, repo: Repo) -> bool:
    """Whether the secrets themselves are hidden. Raises Refusal for all but administrators."""
    if not ask.viewer.administers(repo) or not ask.manners.alerts_shown:
        raise not_found()
    return ask.params.get("hide_secret") == "true"


def secret_scanning_alerts(ask: Ask, repo: Repo) -> Many[Alert]:
    """`/secret-scanning/alerts`, for administrators: newest first."""
    hidden, held = _admit_to_secrets(ask, repo), list(_alerts(repo))
    return Many(elements=held, shape=partial(protection.secret_scanning_alert, ask.site, repo, hidden=hidden))


def secret_scanning_alert(ask: Ask, repo: Repo, text: str) -> One:
    """`/secret-scanning/alerts/{number}`."""
    hidden, alert = _admit_to_secrets(ask, repo), found(_alert(repo, text))
    return One(body=protection.secret_scanning_alert(ask.site, repo, alert, hidden=hidden))


def _entitled(refusal: str) -> Callable[[Ask, Repo], None]:
    """A guard that admits those who may push, if alerts are shown at all. It refuses the others with this text."""

    def admit(ask: Ask, repo: Repo) -> None:
        if not ask.viewer.insider(repo.owner) or not ask.manners.alerts_shown:
            raise Refusal(refused(403, refusal))

    return admit


_alert: Final = numbered("records.alerts")
_alerts: Final = newest("records.alerts")
ROUTES: Final[dict[str, Finder]] = {
    "rulesets": rulesets,
    "rulesets/{id}": ruleset,
    "branches/{name*}": branch,
    "security-advisories": listed(every("records.advisories"), protection.advisory),
    "security-advisories/{ghsa}": single(lambda repo, text: repo.records.advisories.get(text), protection.advisory),
    "secret-scanning/alerts": secret_scanning_alerts,
    "secret-scanning/alerts/{number}": secret_scanning_alert,
    **guarded(
        _entitled("You are not authorized to read code scanning alerts."),
        {
            "code-scanning/alerts": listed(_alerts, protection.code_scanning_alert),
            "code-scanning/alerts/{number}": single(_alert, protection.code_scanning_alert),
        },
    ),
    **guarded(
        _entitled("You are not authorized to perform this operation."),
        {
            "dependabot/alerts": listed(_alerts, protection.dependabot_alert),
            "dependabot/alerts/{number}": single(_alert, protection.dependabot_alert),
        },
    ),
}
