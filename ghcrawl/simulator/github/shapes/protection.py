"""What guards a repository: a ruleset, protected branches, advisories, and the alerts of every scanner."""

from __future__ import annotations

from ghcrawl.simulator.github.code import Ref
from ghcrawl.simulator.github.entities import Repo
from ghcrawl.simulator.github.records import Advisory, Alert
from ghcrawl.simulator.github.shapes.accounts import maybe_user
from ghcrawl.simulator.github.shapes.site import Body, Site, dated, ids, quoted_ref


def listed_ruleset(site: Site, repo: Repo) -> Body:
    """The repository's one ruleset as an element of a list: without its rules."""
    return {
        **ids("RRS", repo.id),
        "name": "main",
        "target": "branch",
        "source_type": "Repository",
        "source": repo.full_name,
        "enforcement": "active",
        "_links": {
            "self": {"href": f"{site.repo(repo)}/rulesets/{repo.id}"},
            "html": {"href": f"{site.page(repo)}/rules/{repo.id}"},
        },
        "created_at": repo.created_at,
        "updated_at": repo.created_at,
    }


def ruleset(site: Site, repo: Repo) -> Body:
    """The same alone: with its rules, and the branches that they are for."""
    where = {"ref_name": {"include": ["~DEFAULT_BRANCH"], "exclude": []}}
    return {**listed_ruleset(site, repo), "conditions": where, "rules": [{"type": "non_fast_forward"}]}


def branch_protection(site: Site, repo: Repo, ref: Ref) -> Body:
    """What protects a branch."""
    url = f"{site.repo(repo)}/branches/{quoted_ref(ref.name)}/protection"
    return {
        "url": url,
        "enforce_admins": {"url": f"{url}/enforce_admins", "enabled": True},
        "required_linear_history": {"enabled": False},
        "allow_force_pushes": {"enabled": False},
        "allow_deletions": {"enabled": False},
        "required_signatures": {"url": f"{url}/required_signatures", "enabled": False},
    }


def advisory(site: Site, repo: Repo, advisory: Advisory) -> Body:
    """A published advisory: the same alone and in lists."""
    unknown = ("cve_id", "publisher", "closed_at", "withdrawn_at", "submission", "cvss", "cwes", "cwe_ids")
    more = ("credits", "credits_detailed", "collaborating_users", "collaborating_teams", "private_fork", "author")
    return {
        "ghsa_id": advisory.ghsa_id,
        "url": f"{site.repo(repo)}/security-advisories/{advisory.ghsa_id}",
        "html_url": f"{site.page(repo)}/security/advisories/{advisory.ghsa_id}",
        "summary": advisory.summary,
        "description": advisory.summary,
        "severity": advisory.severity,
        "identifiers": [{"type": "GHSA", "value": advisory.ghsa_id}],
        "state": "published",
        **dated(advisory),
        "published_at": advisory.created_at,
        "vulnerabilities": [],
        **dict.fromkeys((*unknown, *more)),
    }


def _alert(site: Site, repo: Repo, alert: Alert, scanner: str) -> Body:
    """The fields that alerts of all scanners share."""
    return {
        "number": alert.number,
        **dated(alert),
        "url": f"{site.repo(repo)}/{scanner}/alerts/{alert.number}",
        "html_url": f"{site.page(repo)}/security/{scanner}/{alert.number}",
    }


def _dismissal(site: Site, alert: Alert, reason: str) -> Body:
    """Whether an alert was dismissed, by whom, when and why."""
    return {
        "state": "dismissed" if alert.dismissed_by else "open",
        "fixed_at": None,
        "dismissed_by": maybe_user(site, alert.dismissed_by),
        "dismissed_at": alert.updated_at if alert.dismissed_by else None,
        "dismissed_reason": reason if alert.dismissed_by else None,
        "dismissed_comment": None,
    }


def dependabot_alert(site: Site, repo: Repo, alert: Alert) -> Body:
    """A weakness of a dependency: the same alone and in lists."""
    package = {"ecosystem": "pip", "name": alert.package}
    vulnerability = {
        "package": package,
        "severity": alert.severity,
        "vulnerable_version_range": "< 2.0",
        "first_patched_version": {"identifier": "2.0"},
    }
    identity = f"GHSA-0000-0000-{alert.number:04d}"
    return {
        **_alert(site, repo, alert, "dependabot"),
        **_dismissal(site, alert, "tolerable_risk"),
        "dependency": {"package": package, "manifest_path": "requirements.txt", "scope": "runtime"},
        "security_advisory": {
            "ghsa_id": identity,
            "cve_id": None,
            "summary": f"{alert.package} is weak",
            "description": "Very.",
            "vulnerabilities": [vulnerability],
            "severity": alert.severity,
            "cvss": {"score": 0.0, "vector_string": None},
            "cwes": [],
            "identifiers": [{"type": "GHSA", "value": identity}],
            "references": [],
            "published_at": alert.created_at,
            "updated_at": alert.created_at,
            "withdrawn_at": None,
        },
        "security_vulnerability": vulnerability,
    }


def code_scanning_alert(site: Site, repo: Repo, alert: Alert) -> Body:
    """What a scanner found in the code."""
    body, ref = _alert(site, repo, alert, "code-scanning"), f"refs/heads/{repo.default_branch}"
    return {
        **body,
        **_dismissal(site, alert, "won't fix"),
        "instances_url": f"{body['url']}/instances",
        "rule": {"id": "py/weak", "severity": "error", "description": f"{alert.package} is weak", "name": "py/weak"},
        "tool": {"name": "CodeQL", "guid": None, "version": "2.17.0"},
        "most_recent_instance": {"ref": ref, "analysis_key": "codeql.yml", "environment": "", "state": "open"},
    }


def secret_scanning_alert(site: Site, repo: Repo, alert: Alert, *, hidden: bool) -> Body:
    """A secret that was found in the code. hidden: it is asked for without the secret itself."""
    body = _alert(site, repo, alert, "secret-scanning")
    body |= {
        "locations_url": f"{body['url']}/locations",
        "state": "resolved" if alert.dismissed_by else "open",
        "resolution": "revoked" if alert.dismissed_by else None,
        "resolved_at": alert.updated_at if alert.dismissed_by else None,
        "resolved_by": maybe_user(site, alert.dismissed_by),
        "resolution_comment": None,
        "secret_type": "mailchimp_api_key",
        "secret_type_display_name": "Mailchimp API Key",
        "push_protection_bypassed": False,
        "push_protection_bypassed_by": None,
        "push_protection_bypassed_at": None,
        "validity": "unknown",
        "publicly_leaked": False,
        "multi_repo": False,
        "is_base64_encoded": False,
    }
    return body if hidden else {**body, "secret": f"{'0' * 31}{alert.number % 10}-us2"}


def sbom(_site: Site, repo: Repo) -> Body | None:
    """What the repository is made of; None where it is empty."""
    if not repo.commits:
        return None
    packages = [
        {"SPDXID": f"SPDXRef-{name}", "name": name, "versionInfo": "1.0", "filesAnalyzed": False}
        for name in sorted({alert.package for alert in repo.records.alerts.values()})
    ]
    return {
        "sbom": {
            "SPDXID": "SPDXRef-DOCUMENT",
            "spdxVersion": "SPDX-2.3",
            "creationInfo": {"created": repo.pushed_at, "creators": ["Tool: GitHub.com-Dependency-Graph"]},
            "name": f"com.github.{repo.full_name}",
            "dataLicense": "CC0-1.0",
            "documentNamespace": f"https://spdx.org/spdxdocs/protobom/{repo.id}",
            "packages": packages,
            "relationships": [],
        }
    }
