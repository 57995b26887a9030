"""URNs and URLs of Mastodon's accounts and statuses. Pure.

    account  urn:mastodon:HOST:account:ID    mastodon://HOST/api/v1/accounts/ID
    status   …:account:ID:status:ID          mastodon://HOST/api/v1/statuses/ID

Every host numbers what it knows for itself: one post seen through two hosts is two documents, which share the
ActivityPub `uri` among their aliases. URLs are those of the host's API, with the platform's name for a scheme; a
fragment says for which request URI a page is read, and is not sent.
"""

from __future__ import annotations

from typing import Final

from ghcrawl.values.errors import Malformed
from ghcrawl.values.jsontext import Json, JsonObject

NAME: Final = "mastodon"


def host_of(url: str) -> str:
    """The host that a URL of this platform names, with its port where it has one."""
    return url.removeprefix(f"{NAME}://").partition("/")[0]


def api(host: str, path: str) -> str:
    """The URL of an API's path."""
    return f"{NAME}://{host}/api/{path}"


def id_of(value: Json, what: str) -> str:
    """The id of a status or an account. Raises Malformed."""
    identity = value.get("id") if isinstance(value, dict) else None
    if not (isinstance(identity, str | int) and str(identity).isascii() and str(identity).isalnum()):
        raise Malformed(f"{what} has no id")
    return str(identity)


def account_urn(host: str, identity: str) -> str:
    """Of an account."""
    return f"urn:{NAME}:{host}:account:{identity}"


def account_url(host: str, identity: str) -> str:
    """Of an account."""
    return api(host, f"v1/accounts/{identity}")


def status_urn(host: str, author: str, identity: str) -> str:
    """Of a status. author: id of the account that wrote it."""
    return f"{account_urn(host, author)}:status:{identity}"


def urn_of_status(host: str, body: JsonObject) -> str:
    """Of a status that names its author. Raises Malformed."""
    return status_urn(host, id_of(body.get("account"), "the author of a status"), id_of(body, "a status"))


def status_url(host: str, identity: str) -> str:
    """Of a status."""
    return api(host, f"v1/statuses/{identity}")
