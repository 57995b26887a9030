"""The keys of GitHub Apps: made once for all tests of a process, because making one takes a while."""

from __future__ import annotations

from functools import cache
from typing import Literal

from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric.ec import EllipticCurvePrivateKey
from cryptography.hazmat.primitives.asymmetric.rsa import RSAPrivateKey, generate_private_key


@cache
def rsa_key(whose: Literal["ours", "another's"] = "ours") -> RSAPrivateKey:
    """The same each time."""
    return generate_private_key(public_exponent=65537, key_size=2048)


def as_pem(key: RSAPrivateKey | EllipticCurvePrivateKey) -> str:
    """As GitHub hands it out."""
    form = serialization.PrivateFormat.TraditionalOpenSSL
    return key.private_bytes(serialization.Encoding.PEM, form, serialization.NoEncryption()).decode()


def public_pem(key: RSAPrivateKey) -> str:
    """Its public half, as GitHub keeps it."""
    form = serialization.PublicFormat.SubjectPublicKeyInfo
    return key.public_key().public_bytes(serialization.Encoding.PEM, form).decode()
