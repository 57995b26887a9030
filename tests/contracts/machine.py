"""What the state machines share: an adapter that a synchronous machine can drive."""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine
from contextlib import AsyncExitStack
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, TypeVar

from hypothesis import settings
from hypothesis.stateful import RuleBasedStateMachine

from tests.contracts.adapters import Opener, Rig

T = TypeVar("T")


class RigMachine(RuleBasedStateMachine):
    """Opens its adapter when an example begins and closes it when that ends."""

    opener: Opener
    rig: Rig

    def __init__(self) -> None:
        super().__init__()
        self._runner = asyncio.Runner()
        self._loop = self._runner.get_loop()
        self._stack = AsyncExitStack()
        self._directory = TemporaryDirectory()
        self.rig = self.run(self._stack.enter_async_context(type(self).opener(Path(self._directory.name))))

    def run(self, work: Coroutine[Any, Any, T]) -> T:
        return self._loop.run_until_complete(work)  # `Runner.run` minds signals each time: half of what a step takes

    def teardown(self) -> None:
        self.run(self._stack.aclose())
        self._runner.close()
        self._directory.cleanup()


def case_of(machine: type[RigMachine], opener: Opener) -> type[Any]:
    """The test that drives `machine` on one adapter."""
    case: Any = type(machine.__name__, (machine,), {"opener": staticmethod(opener)})
    case.TestCase.settings = settings(stateful_step_count=25)
    return case.TestCase  # type: ignore[no-any-return]  # hypothesis makes it on the class
