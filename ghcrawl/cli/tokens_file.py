"""The tokens file of a running service: writing it replaces the credentials, but never by none.

Without a credential, private things look deleted. So a file that was emptied, is missing or is half written changes
nothing: the credentials read last stay in use.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping, Sequence
from functools import partial
from pathlib import Path

import structlog

from ghcrawl.admin.secret_lines import Stamp, stamp_of
from ghcrawl.ports.source import Credential
from ghcrawl.settings.sections import Settings
from ghcrawl.values.errors import ConfigError
from ghcrawl.wiring import Service, credential_file, read_credentials

log = structlog.stdlib.get_logger(__name__)


def rotations(service: Service, settings: Settings, environ: Mapping[str, str]) -> Sequence[Rotation]:
    """One for every platform that has credentials."""
    return [
        Rotation(credential_file(settings, name), partial(_read, settings, environ, name), opened.source.use)
        for name, opened in service.opened.items()
        if opened.platform.credentials is not None
    ]


def _read(settings: Settings, environ: Mapping[str, str], name: str) -> Sequence[Credential]:
    return read_credentials(settings, environ)[name]


class Rotation:
    """Looks whether the file at `path` (as typed; empty: none) is another one. Looking is cheap.

    read: all credentials of this moment. Raises ConfigError for what cannot be used. use: takes them from now on.
    """

    def __init__(
        self,
        path: str,
        read: Callable[[], Sequence[Credential]],
        use: Callable[[Sequence[Credential]], Awaitable[None]],
    ) -> None:
        self._path = Path(path).expanduser() if path else None
        self._read = read
        self._use = use
        self._stamp = self._look()
        self._refused = ""

    async def follow(self) -> None:
        """What the file says is used from now on. What cannot be is said once, and looked at again each time."""
        stamp = self._look()
        if stamp == self._stamp:
            self._refused = ""
            return
        try:
            credentials = self._read()
            await self._use(credentials)
        except ConfigError as error:
            if self._refused != str(error):
                self._refused = str(error)
                log.warning("tokens_refused", error=str(error), instead="keeping the previous tokens")
            return
        self._stamp, self._refused = stamp, ""
        log.info("tokens_read", count=len(credentials))

    def _look(self) -> Stamp | None:
        try:
            return stamp_of(self._path) if self._path else None
        except OSError:
            return None
