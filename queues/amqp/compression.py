"""What is large travels compressed: RabbitMQ 4 takes 16 MiB a message, and a platform's delivery may be larger."""

from __future__ import annotations

import zlib
from typing import Final

from ghcrawl.values.errors import DecodeError

ABOVE_BYTES: Final = 1 << 20
"""Less than that is published as it is: anybody can read it in the broker, and it costs no time."""
MAX_BYTES: Final = 128 << 20
"""Nobody unpacks more than that, whatever a few bytes claim to hold."""
_LEVEL: Final = 1
_PACKED: Final = zlib.compress(b"", _LEVEL)[:1]


def packed(body: bytes) -> bytes:
    """`body` as it travels. Takes some tenths of a second for 20 MB, outside of Python's lock."""
    return zlib.compress(body, _LEVEL) if len(body) > ABOVE_BYTES else body


def encoding_of(body: bytes) -> str | None:
    """What a body was packed by that travels: a message is a JSON object, and begins as no packed one does."""
    return "deflate" if body.startswith(_PACKED) else None


def unpacked(body: bytes, encoding: object) -> bytes:
    """What travelled as `body`. Raises DecodeError. An encoding that is none of ours says nothing about the body."""
    if encoding != "deflate":
        return body
    stream = zlib.decompressobj()
    try:
        content = stream.decompress(body, MAX_BYTES)
    except zlib.error as error:
        raise DecodeError(f"the message says that it is compressed, and is not: {error}", body=body) from error
    if not stream.eof:
        what = f"holds more than {MAX_BYTES:,} bytes" if stream.unconsumed_tail else "is cut short"
        raise DecodeError(f"the message is compressed and {what}", body=body)
    return content
