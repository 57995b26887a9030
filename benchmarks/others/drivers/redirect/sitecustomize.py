"""Sends calls to https://api.github.com to PEER_API_URL instead, for tools that hard-code the address.

Python imports it at start where its folder is on PYTHONPATH. Nothing else of the tool is changed.
"""

import importlib.util
import os
import urllib.request
from typing import Any

GITHUB = "https://api.github.com"


def moved(url: Any) -> Any:
    """The same at the simulator."""
    return os.environ["PEER_API_URL"] + url.removeprefix(GITHUB) if str(url).startswith(GITHUB) else url


class Request(urllib.request.Request):
    """Python's own, with that one difference."""

    def __init__(self, url: str, *args: Any, **more: Any) -> None:
        super().__init__(moved(url), *args, **more)


urllib.request.Request = Request  # type: ignore[misc]  # replaced on purpose

if importlib.util.find_spec("requests"):
    from requests.models import PreparedRequest

    prepare_url = PreparedRequest.prepare_url

    def prepare_moved_url(self: PreparedRequest, url: Any, params: Any) -> None:
        """As before."""
        prepare_url(self, moved(url), params)

    PreparedRequest.prepare_url = prepare_moved_url  # type: ignore[method-assign]  # the same
