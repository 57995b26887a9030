"""Logging that a test sets up, and that ends with it."""

from __future__ import annotations

import logging
from collections.abc import Iterator
from contextlib import contextmanager

import structlog


@contextmanager
def own_logging() -> Iterator[None]:
    """What is set up inside the block, for a whole process as a rule, is as it was before when the block is left."""
    root = logging.getLogger()
    handlers, level = root.handlers[:], root.level
    try:
        yield
    finally:
        root.handlers[:] = handlers
        root.setLevel(level)
        structlog.reset_defaults()
