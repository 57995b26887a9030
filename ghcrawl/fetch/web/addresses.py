"""Which addresses may be asked: what a page links to must not lead into our own network."""

from __future__ import annotations

import socket
from ipaddress import IPv6Address, ip_address
from typing import Final
from urllib.parse import urlsplit

_PORTS: Final = {"http": 80, "https": 443}


class PrivateAddressError(OSError):
    """The host's address is not public."""


def is_public(address: str) -> bool:
    """Whether `address` is one of the public internet; also where an IPv6 address only wraps one of IPv4."""
    try:
        ip = ip_address(address.partition("%")[0])
    except ValueError:
        return False
    if isinstance(ip, IPv6Address):
        wrapped = ip.ipv4_mapped or ip.sixtofour or (ip.teredo[1] if ip.teredo else None)
        if wrapped is not None:
            return is_public(str(wrapped))
        if ip in _NAT64 or ip.is_site_local:
            return False
    return ip.is_global and not ip.is_multicast and not ip.is_reserved and not ip.is_unspecified


class _Nat64:
    """64:ff9b::/96 wraps any IPv4 address."""

    prefix: Final = bytes.fromhex("0064ff9b0000000000000000")

    def __contains__(self, ip: IPv6Address) -> bool:
        return ip.packed.startswith(self.prefix)


_NAT64: Final = _Nat64()


def origin(url: str) -> tuple[str, str, int]:
    """Scheme, host and port of an http(s) URL. Raises ValueError for any other."""
    parts = urlsplit(url)
    if parts.scheme not in _PORTS or not parts.hostname:
        raise ValueError(f"{url[:200]!r} is not an http or https URL")
    if parts.username is not None or parts.password is not None:
        raise ValueError("the URL contains credentials")
    return parts.scheme, parts.hostname.lower(), parts.port or _PORTS[parts.scheme]


def is_literal(host: str) -> bool:
    """Whether `host` is an address rather than a name; also in the short and numeric forms that `inet_aton` reads."""
    try:
        ip_address(host)
    except ValueError:
        try:
            socket.inet_aton(host)
        except OSError:
            return False
    return True
