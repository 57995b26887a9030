"""Who asks: credentials, what they may see, and which of them a request goes to first.

**Tokens as text** (`GHCRAWL_TOKENS`, a tokens file). Entries are separated by `;` or line ends; a line that starts
with `#` is a comment. An entry is `token` or `token#trait,trait…`. Traits:

    public        may be used for public data of any owner
    private       sees private data
    admin         sees private data and what needs administration rights
    org:NAME      made for that owner (a fine-grained token, an App installed there); may be given several times
    user:LOGIN    whose it is: all entries with the same LOGIN share one budget, as they do on GitHub

Where no credential has a trait, all may be used for everything. Otherwise:

* private data is asked for with `private`, `admin`, or `org:` of its owner, and with nothing else;
* a credential with `org:` traits serves those owners only, unless it is also `public`;
* public data that no credential serves by these rules is asked for with any: traits direct work, they are no
  fence against it.

**Principals.** A budget belongs to a user, an App's installation or an address, not to a token. A principal's `id` is
a hash that stays the same for as long as the principal exists; a *fingerprint* is the hash of one token, which a
validator needs because GitHub's ETags depend on the very `Authorization` header.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from functools import lru_cache
from hashlib import blake2b, sha256
from typing import Final, TypeAlias

from msgspec import Struct

from ghcrawl.fetch.redaction import Secret
from ghcrawl.values.errors import ConfigError

ANONYMOUS_ID: Final = "anonymous"
_FLAGS: Final = ("public", "private", "admin")


def fingerprint(text: str) -> str:
    """12 hex digits that identify `text` and do not give it away."""
    return sha256(text.encode()).hexdigest()[:12]


class Traits(Struct, frozen=True, kw_only=True):
    """What a credential was declared to see. orgs are lower case."""

    public: bool = False
    private: bool = False
    admin: bool = False
    orgs: frozenset[str] = frozenset()

    @property
    def declared(self) -> bool:
        """Whether anything was said at all."""
        return self.public or self.private or self.admin or bool(self.orgs)

    def serves(self, owner: str, *, private: bool) -> bool:
        """Whether data of `owner` (lower case, may be empty) is asked for with this credential."""
        if owner in self.orgs:
            return True
        if private:
            return self.private or self.admin
        return self.public or not self.orgs

    def sees(self, owner: str) -> int:
        """How much of `owner`'s data this credential sees, as a number to compare by."""
        if owner in self.orgs:
            return 3
        return 2 if self.admin else int(self.private)


@dataclass(frozen=True, slots=True, kw_only=True)
class Token:
    """A token as a person typed it. user: whose, in lower case, where that was said."""

    secret: Secret = field(repr=False)
    traits: Traits = field(default_factory=Traits)
    user: str = ""

    @property
    def principal_id(self) -> str:
        """Names the budget."""
        return fingerprint(f"user:{self.user}" if self.user else self.secret)

    @property
    def label(self) -> str:
        """For a person, without the token."""
        return f"user {self.user}" if self.user else f"token {fingerprint(self.secret)}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Installation:
    """A GitHub App where it is installed. app_id: the App's id or client id; private_key: PEM text."""

    app_id: str
    installation_id: int
    private_key: Secret = field(repr=False)
    traits: Traits = field(default_factory=Traits)

    @property
    def principal_id(self) -> str:
        """Names the budget."""
        return fingerprint(f"app:{self.app_id}:{self.installation_id}")

    @property
    def label(self) -> str:
        """For a person, without the key."""
        return f"app {self.app_id} installation {self.installation_id}"


class Anonymous(Struct, frozen=True, kw_only=True):
    """No credential: public data, 60 calls an hour for this address."""

    traits: Traits = Traits()
    principal_id: str = ANONYMOUS_ID
    label: str = ANONYMOUS_ID


Credential: TypeAlias = Token | Installation | Anonymous


def read_tokens(text: str, *, source: str = "the tokens", earlier: Iterable[Token] = ()) -> tuple[Token, ...]:
    """The tokens that `text` lists, by the grammar above. Raises ConfigError, which never shows one.

    source: where the text is from, for a person. earlier: those of other sources, which are not to be repeated.
    """
    lines = [line.strip() for line in text.splitlines()]
    listed = [
        (entry.strip(), line)
        for line, written in enumerate(lines, start=1)
        if not written.startswith("#")
        for entry in written.split(";")
        if entry.strip()
    ]
    several = sum(map(bool, lines)) > 1
    seen = {token.secret for token in earlier}
    tokens: list[Token] = []
    for number, (entry, line) in enumerate(listed, start=1):
        place = f"entry {number} of {source}{f' (line {line})' if several else ''}"
        token = _read_token(entry, place)
        if token.secret in seen:
            raise ConfigError(f"{place} repeats an earlier token; list each one once")
        seen.add(token.secret)
        tokens.append(token)
    return tuple(tokens)


def _read_token(entry: str, place: str) -> Token:
    secret, _, listed = entry.partition("#")
    secret = secret.strip()
    if not secret or not secret.isascii() or not secret.isprintable() or " " in secret:
        raise ConfigError(
            f"{place} has no token, or one with characters that no token has; "
            "write token[#trait,trait…], separated by ; or line ends"
        )
    flags: set[str] = set()
    orgs: set[str] = set()
    users: set[str] = set()
    for trait in filter(None, (part.strip().lower() for part in listed.split(","))):
        name, colon, value = trait.partition(":")
        if trait in _FLAGS:
            flags.add(trait)
        elif colon and value and name == "org":
            orgs.add(value)
        elif colon and value and name == "user":
            users.add(value)
        else:
            raise ConfigError(
                f"{place} has an unknown trait; there are public, private, admin, org:NAME and user:LOGIN"
            )
    if len(users) > 1:
        raise ConfigError(f"{place} belongs to two users; a token has one")
    traits = Traits(public="public" in flags, private="private" in flags, admin="admin" in flags, orgs=frozenset(orgs))
    return Token(secret=Secret(secret), traits=traits, user=next(iter(users), ""))


@lru_cache(maxsize=8192)
def affinity(scope: str, identity: str) -> int:
    """How strongly `scope` (owner/repo) is drawn to `identity`: the highest wins.

    Rendezvous hashing: every process draws the same order without talking to the others, and a credential that
    comes or goes moves only the scopes it wins or loses.
    """
    return int.from_bytes(blake2b(f"{identity}\0{scope}".encode("utf-8", "surrogatepass"), digest_size=8).digest())


def any_declared(all_traits: Iterable[Traits]) -> bool:
    """Whether traits direct anything among these."""
    return any(traits.declared for traits in all_traits)
