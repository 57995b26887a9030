"""GitHub's HTTP manners: credentials, limits, conditions, and what each status means."""

from ghcrawl.fetch.github.app_auth import read_installation
from ghcrawl.fetch.github.fetcher import GitHubFetcher
from ghcrawl.fetch.github.principals import Credential, Installation, Token, Traits, fingerprint, read_tokens
from ghcrawl.fetch.github.settings import GitHubSettings
from ghcrawl.fetch.redaction import REDACTOR, Redactor, Secret

__all__ = [
    "REDACTOR",
    "Credential",
    "GitHubFetcher",
    "GitHubSettings",
    "Installation",
    "Redactor",
    "Secret",
    "Token",
    "Traits",
    "fingerprint",
    "read_installation",
    "read_tokens",
]
