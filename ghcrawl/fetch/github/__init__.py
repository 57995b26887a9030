"""GitHub's HTTP manners: credentials, limits, conditions, and what each status means."""

from ghcrawl.fetch.github.app_auth import read_installation
from ghcrawl.fetch.github.fetcher import GitHubFetcher
from ghcrawl.fetch.github.principals import Credential, Installation, Token, Traits, fingerprint, read_tokens
from ghcrawl.fetch.github.redact import REDACTOR, Redactor, Secret
from ghcrawl.fetch.github.settings import Declared, GitHubSettings
from ghcrawl.fetch.github.views import BudgetView, PrincipalView

__all__ = [
    "REDACTOR",
    "BudgetView",
    "Credential",
    "Declared",
    "GitHubFetcher",
    "GitHubSettings",
    "Installation",
    "PrincipalView",
    "Redactor",
    "Secret",
    "Token",
    "Traits",
    "fingerprint",
    "read_installation",
    "read_tokens",
]
