"""Verifies the signature of a delivery against all secrets. Answers yes or no, never with the expected value."""

from __future__ import annotations

import hmac
import re
from collections.abc import Sequence
from hashlib import sha256

_SIGNATURE = re.compile(r"sha256=([0-9a-f]{64})", re.IGNORECASE)


def is_signed(body: bytes, signature: str, secrets: Sequence[str]) -> bool:
    """Whether `signature` (`sha256=<hex>`) is that of `body` under any of `secrets`.

    The time it takes says nothing about how much of it was right, nor under which secret.
    """
    found = _SIGNATURE.fullmatch(signature.strip())
    given = found[1].lower() if found else ""
    signed = False
    for secret in secrets:
        expected = hmac.new(secret.encode(), body, sha256).hexdigest()
        signed |= hmac.compare_digest(expected, given)
    return signed
