"""What every test shares: how hard hypothesis looks, and an environment free of the developer's own settings."""

from __future__ import annotations

import gc
import os
from collections.abc import Iterator

import pytest
from hypothesis import HealthCheck, settings
from xdist.remote import Producer  # type: ignore[import-untyped]
from xdist.scheduler import LoadScopeScheduling  # type: ignore[import-untyped]

ROOMS = "tests/integration/"

# `thorough` is for a nightly run or a hunt: HYPOTHESIS_PROFILE=thorough.
settings.register_profile("quick", max_examples=30, deadline=None, database=None)
settings.register_profile(
    "thorough", max_examples=2000, deadline=None, database=None, suppress_health_check=[HealthCheck.too_slow]
)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "quick"))

gc.set_threshold(20_000, 10, 10)  # garbage was looked for so often that it took a tenth of the time


class _ByRoom(LoadScopeScheduling):  # type: ignore[misc]  # the library has no types
    """The tests of one room of servers run in one process, which starts those servers once."""

    def _split_scope(self, nodeid: str) -> str:
        path = nodeid.partition("::")[0]
        folder, _, _ = path.rpartition("/")
        return folder if folder.startswith(ROOMS) else path


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config: pytest.Config, log: Producer) -> LoadScopeScheduling | None:
    """For `--dist loadscope`: its own scopes are modules and classes."""
    return _ByRoom(config, log) if config.getvalue("dist") == "loadscope" else None


def pytest_collection_finish() -> None:
    """Thousands of tests live until the end: whoever looks for garbage need not look there."""
    gc.freeze()


@pytest.fixture(autouse=True, scope="session")
def _own_environment() -> Iterator[None]:
    """A developer's GHCRAWL_… variables and proxies are not part of any test."""
    with pytest.MonkeyPatch.context() as patch:
        for name in list(os.environ):
            ours = name.startswith("GHCRAWL_") and not name.startswith("GHCRAWL_TEST_")
            if ours or name.lower().endswith("_proxy"):
                patch.delenv(name)
        yield
