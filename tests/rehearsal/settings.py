"""The settings file and the secrets that a rehearsal's replicas find."""

from __future__ import annotations

from collections.abc import Mapping
from secrets import token_hex
from typing import Final

CONFIG: Final = """
[crawl]
loops = {loops}
shutdown_grace_s = 15.0

[queue]
provider = "amqp"

[store]
provider = "mongo"

[amqp]
url_file = "/etc/ghcrawl/secrets/amqp-url"

[mongo]
url_file = "/etc/ghcrawl/secrets/mongo-url"
database = "{database}"

[github]
api_url = "{api_url}"
tokens_file = "/etc/ghcrawl/secrets/tokens"
concurrency = 1

[service]
host = "0.0.0.0"
admin_tokens_file = "/etc/ghcrawl/secrets/admin-tokens"
webhook_secrets_file = "/etc/ghcrawl/secrets/webhook-secrets"
"""


def config(*, loops: int, api_url: str, database: str) -> str:
    """The file, for so many loops in each replica."""
    return CONFIG.format(loops=loops, api_url=api_url, database=database)


def secrets(*, amqp_url: str, mongo_url: str) -> Mapping[str, str]:
    """New ones of each."""
    return {
        "tokens": f"ghp_first{token_hex(12)}",
        "webhook-secrets": token_hex(16),
        "admin-tokens": token_hex(16),
        "amqp-url": amqp_url,
        "mongo-url": mongo_url,
    }
