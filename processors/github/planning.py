"""Projects of organisations, security advisories and Dependabot alerts."""

from __future__ import annotations

from typing import Final

from ghcrawl.values.jsontext import JsonObject
from processors.fields import number, text
from processors.github.entity import Entity
from processors.github.names import owner_kind, repo_of, required
from processors.github.repo import in_repo


def project_urn(body: JsonObject, qualifier: str) -> str:
    """`urn:org:9:project:3`, by number."""
    owner = required(qualifier if owner_kind(qualifier) in ("org", "user") else "", "owner")
    return f"{owner}:project:{required(number(body.get('number')), 'number')}"


def project_url(body: JsonObject, base: str) -> str:
    """Projects do not say where they live."""
    return f"{base}/projectsV2/{body.get('number')}"


def project_item_urn(body: JsonObject, qualifier: str) -> str:
    """`urn:org:9:project:3:project_item:17`."""
    project = required(qualifier if owner_kind(qualifier) == "project" else "", "project")
    return f"{project}:project_item:{required(number(body.get('id')), 'id')}"


def project_item_url(body: JsonObject, base: str) -> str:
    """Some items do not say where they live."""
    return text(body.get("item_url")) or f"{base}/items/{body.get('id')}"


def advisory_urn(body: JsonObject, qualifier: str) -> str:
    """`urn:repo:12:security_advisory:GHSA-…`."""
    return f"{repo_of(qualifier)}:security_advisory:{required(text(body.get('ghsa_id')), 'ghsa_id')}"


# fmt: off
PROJECT = Entity("project", "/orgs/{org}/projectsV2/{project_number}", project_urn, url=project_url, parent="org",
    has_url=False, people=("creator",))
PROJECT_ITEM = Entity("project_item", "/orgs/{org}/projectsV2/{project_number}/items/{item_id}", project_item_urn,
    url=project_item_url, parent="project", has_url=False, people=("creator",))
SECURITY_ADVISORY = Entity("security_advisory", "/repos/{owner}/{repo}/security-advisories/{ghsa}", advisory_urn,
    plural="security_advisories", parent="repo", people=("author", "publisher"))
DEPENDABOT_ALERT = Entity("dependabot_alert", "/repos/{owner}/{repo}/dependabot/alerts/{alert_number}",
    in_repo("dependabot_alert", "number"), parent="repo", people=("dismissed_by",))
# fmt: on

ENTITIES: Final = (PROJECT, PROJECT_ITEM, SECURITY_ADVISORY, DEPENDABOT_ALERT)
