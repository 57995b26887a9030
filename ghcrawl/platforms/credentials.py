"""Credentials of a platform: where they come from, and how they are checked."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Iterable, Sequence
from datetime import datetime
from pathlib import Path

from msgspec import Struct

from ghcrawl.ports.clock import Clock
from ghcrawl.ports.source import Credential
from ghcrawl.values.errors import ConfigError
from ghcrawl.values.section import Section


class LoadedCredential(Struct, frozen=True, kw_only=True):
    """A credential as the settings have it. source: the variable or file that it comes from; traits: what it is for."""

    credential: Credential
    source: str
    traits: str = ""


def read_credentials_file(name: str, what: str) -> tuple[Path, str]:
    """Path and text of a file with credentials. what: to call it in errors. Raises ConfigError without its text."""
    path = Path(name).expanduser()
    try:
        return path, path.read_text(encoding="utf-8")
    except FileNotFoundError:
        raise ConfigError(f"{what} {path} not found") from None
    except (OSError, UnicodeDecodeError) as error:
        raise ConfigError(f"cannot read the {what} {path}: {type(error).__name__}") from None


class CredentialCheck(Struct, frozen=True, kw_only=True):
    """The API's answer about one credential.

    login: empty where it belongs to no account. limit, remaining, reset_at: of the main budget; None: it has none.
    scopes: None where the API does not tell. trouble: why it cannot be used.
    """

    label: str
    login: str = ""
    limit: int | None = None
    remaining: int | None = None
    reset_at: datetime | None = None
    scopes: tuple[str, ...] | None = None
    expires_at: datetime | None = None
    trouble: str = ""


def _no_remarks(_found: Sequence[LoadedCredential], _checks: Sequence[CredentialCheck]) -> Iterable[str]:
    return ()


class CredentialHandling(Struct, frozen=True, kw_only=True):
    """Where a platform's credentials come from.

    variable: of the environment. file: name of the setting that holds the path of a file with more; empty: no such.
    read: all of them, given the section, the text of the variable, and what to call the variable in errors.
        Raises ConfigError, which never shows a secret.
    secret: what must never be logged of one; empty: nothing.
    check: asks the API about each. Raises ConfigError, FetchError.
    remarks: what a person should change, given the credentials and what the API said of them.
    without: a few words on a crawl that has none.
    missing: what to tell a person who has none, and how to get one.
    """

    variable: str
    read: Callable[[Section, str, str], Sequence[LoadedCredential]]
    secret: Callable[[Credential], str]
    check: Callable[[Section, Sequence[Credential], Clock], AsyncIterator[CredentialCheck]]
    file: str = ""
    without: Callable[[Section], str] = lambda _section: "without credentials"
    remarks: Callable[[Sequence[LoadedCredential], Sequence[CredentialCheck]], Iterable[str]] = _no_remarks
    missing: str = ""
