"""Where GitHub's credentials come from, and what a person should know of them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from pathlib import Path

from pydantic import PositiveInt

from ghcrawl.fetch.github.app_auth import read_installation
from ghcrawl.fetch.github.principals import Installation, Token, Traits, read_tokens
from ghcrawl.platforms.credentials import CredentialCheck, LoadedCredential, read_credentials_file
from ghcrawl.values.errors import ConfigError
from ghcrawl.values.section import Section


class AppSettings(Section):
    """One installation of a GitHub App."""

    app_id: str
    installation_id: PositiveInt
    private_key_file: Path
    orgs: tuple[str, ...] = ()
    public: bool = True
    private: bool = True


def read(text: str, variable: str, *, tokens_file: str, apps: Iterable[AppSettings]) -> Sequence[LoadedCredential]:
    """The tokens of the variable and of the tokens file, and the Apps. Raises ConfigError."""
    tokens = read_tokens(text, source=variable)
    found = [_sourced(token, variable) for token in tokens]
    found += [_sourced(token, tokens_file) for token in _tokens_file(tokens_file, tokens)]
    for app in apps:
        orgs = frozenset(name.lower() for name in app.orgs)
        traits = Traits(public=app.public, private=app.private, orgs=orgs)
        key_file = app.private_key_file.expanduser()
        installation = read_installation(app.app_id, app.installation_id, key_file, traits)
        found.append(_sourced(installation, "github.apps"))
    return found


def _sourced(credential: Token | Installation, source: str) -> LoadedCredential:
    traits = credential.traits
    flags = [name for name in ("public", "private", "admin") if getattr(traits, name)]
    words = ", ".join([*flags, *(f"org:{org}" for org in sorted(traits.orgs))])
    return LoadedCredential(credential=credential, source=source, traits=words)


def _tokens_file(name: str, earlier: Sequence[Token]) -> Sequence[Token]:
    """The tokens in that file; none where none is set. Raises ConfigError, also where there is no such file."""
    if not name:
        return ()
    path, text = read_credentials_file(name, "tokens file")
    found = read_tokens(text, source=f"the tokens file {path}", earlier=earlier)
    if not found:
        raise ConfigError(f"the tokens file {path} contains no token; write one per line, or unset github.tokens_file")
    return found


def remarks(found: Sequence[LoadedCredential], checked: Sequence[CredentialCheck]) -> Iterable[str]:
    """Tokens of one user have one budget, and must be said to."""
    logins = [one.login for one in checked]
    principals: dict[str, set[str]] = {}
    for one, login in zip(found, logins, strict=False):
        if login:
            principals.setdefault(login, set()).add(one.credential.principal_id)
    counts = Counter(filter(None, logins))
    for login, ids in principals.items():
        if len(ids) > 1:
            yield f"{counts[login]} tokens belong to {login} and share one rate limit; append #user:{login} to each."
    for one, login in zip(found, logins, strict=False):
        declared = getattr(one.credential, "user", "")
        if declared and login and declared != login.lower():
            yield f"{one.credential.label} belongs to {login}, not {declared}; correct its #user trait."
