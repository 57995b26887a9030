"""What guards a repository: one ruleset, protected branches, and an alert of a scanner for each dependabot alert."""

from __future__ import annotations

from ghcrawl.simulator.github.entities import Ref, Repo
from ghcrawl.simulator.github.records import Alert
from ghcrawl.simulator.github.shapes.accounts import maybe_user
from ghcrawl.simulator.github.shapes.site import Body, Site, node_id, quoted_ref


def listed_ruleset(site: Site, repo: Repo) -> Body:
    """The repository's one ruleset as an element of a list: without its rules."""
    return {
        "id": repo.id,
        "name": "main",
        "target": "branch",
        "source_type": "Repository",
        "source": repo.full_name,
        "enforcement": "active",
        "node_id": node_id("RRS", repo.id),
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


def code_scanning_alert(site: Site, repo: Repo, alert: Alert) -> Body:
    """What a scanner found in the code."""
    url, ref = f"{site.repo(repo)}/code-scanning/alerts/{alert.number}", f"refs/heads/{repo.default_branch}"
    return {
        "number": alert.number,
        "created_at": alert.created_at,
        "updated_at": alert.updated_at,
        "url": url,
        "html_url": f"{site.page(repo)}/security/code-scanning/{alert.number}",
        "instances_url": f"{url}/instances",
        "state": "dismissed" if alert.dismissed_by else "open",
        "fixed_at": None,
        "dismissed_by": maybe_user(site, alert.dismissed_by),
        "dismissed_at": alert.updated_at if alert.dismissed_by else None,
        "dismissed_reason": "won't fix" if alert.dismissed_by else None,
        "dismissed_comment": None,
        "rule": {"id": "py/weak", "severity": "error", "description": f"{alert.package} is weak", "name": "py/weak"},
        "tool": {"name": "CodeQL", "guid": None, "version": "2.17.0"},
        "most_recent_instance": {"ref": ref, "analysis_key": "codeql.yml", "environment": "", "state": "open"},
    }


def secret_scanning_alert(site: Site, repo: Repo, alert: Alert, *, hidden: bool) -> Body:
    """A secret that was found in the code. hidden: it is asked for without the secret itself."""
    url = f"{site.repo(repo)}/secret-scanning/alerts/{alert.number}"
    body: Body = {
        "number": alert.number,
        "created_at": alert.created_at,
        "updated_at": alert.updated_at,
        "url": url,
        "html_url": f"{site.page(repo)}/security/secret-scanning/{alert.number}",
        "locations_url": f"{url}/locations",
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
