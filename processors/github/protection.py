"""Rulesets, branch protection, and alerts of code and secret scanning."""

from __future__ import annotations

import re
from typing import Final
from urllib.parse import unquote

from ghcrawl.values.documents import Origin
from ghcrawl.values.jsontext import JsonObject
from processors.fields import at, mapping, text
from processors.github.condition import MAY_PUSH, Condition, may
from processors.github.document_graph import Node
from processors.github.entity import Entity
from processors.github.listing import Listing
from processors.github.names import repo_of, required
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


def _secrets_are_scanned(repo: JsonObject) -> bool:
    """Whether scanning is on, as the repository tells its administrators."""
    scanning = mapping(at(repo, "security_and_analysis", "secret_scanning"))
    return scanning.get("status") == "enabled" and may("admin").holds(repo)


SECRETS_ARE_SCANNED: Final = Condition("scanning is on; the token may administer", _secrets_are_scanned)


def without_secret(body: JsonObject, _origin: Origin) -> JsonObject:
    """An alert as a list with `hide_secret` gives it: its own URL tells the secret itself, which is never stored."""
    return {name: value for name, value in body.items() if name != "secret"}


# fmt: off
RULESET = Entity("ruleset", "/repos/{owner}/{repo}/rulesets/{ruleset_id}", in_repo("ruleset", "id"),
    url=lambda body, base: f"{base}/rulesets/{body.get('id')}", has_url=False, parent="repo",
    lacks={"list": ("rules", "conditions")},
    lists=(Listing("repo", "rulesets", "ruleset", "/rulesets"),))
BRANCH_PROTECTION = Entity("branch_protection", "/repos/{owner}/{repo}/branches/{branch...}/protection", protection_urn,
    describe=describe_protection, parent="repo", changed=())
CODE_SCANNING_ALERT = Entity("code_scanning_alert", "/repos/{owner}/{repo}/code-scanning/alerts/{alert_number}",
    in_repo("code_scanning_alert", "number"), parent="repo", people=("dismissed_by",),
    lists=(
        Listing("repo", "code_scanning_alerts", "code_scanning_alert", "/code-scanning/alerts", complete=True,
                newest_first=True, when=MAY_PUSH),
    ))
SECRET_SCANNING_ALERT = Entity("secret_scanning_alert", "/repos/{owner}/{repo}/secret-scanning/alerts/{alert_number}",
    in_repo("secret_scanning_alert", "number"), parent="repo", people=("resolved_by",), as_rest=without_secret,
    lists=(
        Listing("repo", "secret_scanning_alerts", "secret_scanning_alert", "/secret-scanning/alerts",
                query="hide_secret=true", complete=True, newest_first=True, when=SECRETS_ARE_SCANNED),
    ))
# fmt: on

ENTITIES: Final = (RULESET, BRANCH_PROTECTION, CODE_SCANNING_ALERT, SECRET_SCANNING_ALERT)
