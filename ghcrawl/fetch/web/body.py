"""Bodies within their limit, decompressed."""

from __future__ import annotations

import zlib
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    import aiohttp


_WINDOWS: Final = {"gzip": 31, "x-gzip": 31, "deflate": 15}
CODINGS: Final = "gzip, deflate"
_STEP: Final = 65_536


class TooLarge(ValueError):
    """The body is longer than allowed."""


async def read_body(response: aiohttp.ClientResponse, limit: int) -> bytes:
    """The decompressed body. The answer must not have been decompressed yet.

    Raises TooLarge as soon as it is longer than `limit` bytes, however little came; ValueError where it is broken.
    """
    coding = response.headers.get("Content-Encoding", "").strip().lower()
    unpack = _Unpacked(limit, coding)
    if coding not in _WINDOWS and (response.content_length or 0) > limit:
        raise TooLarge
    async for chunk in response.content.iter_any():
        unpack.feed(chunk)
    return unpack.done()


class _Unpacked:
    """What came so far. Never holds more than `limit` bytes and one step."""

    def __init__(self, limit: int, coding: str) -> None:
        if coding not in _WINDOWS and coding not in ("", "identity"):
            raise ValueError(f"content coding {coding[:40]!r} was not asked for")
        self._limit = limit
        self._parts = bytearray()
        self._coding = coding
        self._stream = zlib.decompressobj(_WINDOWS[coding]) if coding in _WINDOWS else None
        self._began = False

    def feed(self, chunk: bytes) -> None:
        if self._stream is None:
            self._add(chunk)
            return
        if not self._began:
            self._began = True
            if self._coding == "deflate" and chunk[:1] and chunk[0] & 0x0F != 8:
                self._stream = zlib.decompressobj(-15)  # many servers send it without the zlib header
        data = chunk
        while data:
            self._add(self._unpack(data))
            data = self._stream.unconsumed_tail

    def _unpack(self, data: bytes) -> bytes:
        assert self._stream is not None, "only compressed bodies come here"
        try:
            return self._stream.decompress(data, _STEP)
        except zlib.error as error:
            raise ValueError(f"the compressed body is broken: {error}") from error

    def _add(self, data: bytes) -> None:
        self._parts += data
        if len(self._parts) > self._limit:
            raise TooLarge

    def done(self) -> bytes:
        return bytes(self._parts)
