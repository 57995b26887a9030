"""What guards a repository: rulesets, the protection of branches, and what scanners found in it."""

from __future__ import annotations

import re
from typing import Final
from urllib.parse import unquote

from ghcrawl.values.documents import Origin
from ghcrawl.values.jsontext import JsonObject
from processors.github.entity import Entity
from processors.github.graph import Node, mapping, repo_of, required, text
from processors.github.listing import Listing
from processors.github.parts import may
from processors.github.repo import in_repo

_BRANCH: Final = re.compile(r".*/branches/(?P<name>.+)/protection")


def protection_urn(body: JsonObject, qualifier: str) -> str:
    """`urn:repo:12:branch_protection:main`: by the branch, which its URL alone names."""
    return f"{repo_of(qualifier)}:branch_protection:{required(_protected(body), 'URL of its branch')}"


def _protected(body: JsonObject) -> str:
    found = _BRANCH.fullmatch(text(body.get("url")))
    return unquote(found["name"]) if found else ""


def describe_protection(node: Node) -> None:
    """A protection is of one branch."""
    node.link("branch", f"{node.repo}:branch:{_protected(node.body)}")


def secrets_are_scanned(repo: JsonObject) -> bool:
    """Whether scanning is on, as the repository tells its administrators."""
    scanning = mapping(mapping(repo.get("security_and_analysis")).get("secret_scanning"))
    return scanning.get("status") == "enabled" and may("admin")(repo)


def without_secret(body: JsonObject, _origin: Origin) -> JsonObject:
    """An alert as a list with `hide_secret` gives it: its own URL tells the secret itself, which is never stored."""
    return {name: value for name, value in body.items() if name != "secret"}


RULESET = Entity(
    type="ruleset",
    endpoint="/repos/{owner}/{repo}/rulesets/{ruleset_id}",
    urn=lambda body, qualifier: in_repo("ruleset", "id", body, qualifier),
    url=lambda body, base: f"{base}/rulesets/{body.get('id')}",
    has_url=False,
    parent="repo",
    lacks={"list": ("rules", "conditions")},
    lists=(Listing(type="rulesets", of="repo", element="ruleset", path="/rulesets"),),
)
BRANCH_PROTECTION = Entity(
    type="branch_protection",
    endpoint="/repos/{owner}/{repo}/branches/{branch...}/protection",
    urn=protection_urn,
    describe=describe_protection,
    parent="repo",
    changed=(),
)
CODE_SCANNING_ALERT = Entity(
    type="code_scanning_alert",
    endpoint="/repos/{owner}/{repo}/code-scanning/alerts/{alert_number}",
    urn=lambda body, qualifier: in_repo("code_scanning_alert", "number", body, qualifier),
    parent="repo",
    people=("dismissed_by",),
    lists=(
        Listing(
            type="code_scanning_alerts",
            of="repo",
            element="code_scanning_alert",
            path="/code-scanning/alerts",
            complete=True,
            newest_first=True,
            only_if="the token may push",
            when=may("push"),
        ),
    ),
)
SECRET_SCANNING_ALERT = Entity(
    type="secret_scanning_alert",
    endpoint="/repos/{owner}/{repo}/secret-scanning/alerts/{alert_number}",
    urn=lambda body, qualifier: in_repo("secret_scanning_alert", "number", body, qualifier),
    parent="repo",
    people=("resolved_by",),
    as_rest=without_secret,
    lists=(
        Listing(
            type="secret_scanning_alerts",
            of="repo",
            element="secret_scanning_alert",
            path="/secret-scanning/alerts",
            query="hide_secret=true",
            complete=True,
            newest_first=True,
            only_if="scanning is on; the token may administer",
            when=secrets_are_scanned,
        ),
    ),
)

ENTITIES: Final = (RULESET, BRANCH_PROTECTION, CODE_SCANNING_ALERT, SECRET_SCANNING_ALERT)
