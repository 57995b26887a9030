from __future__ import annotations

import pytest

pytest.register_assert_rewrite("tests.faults.crawl")

from tests.support.services.fixtures import broker, mongo_server, mongo_url, rabbitmq  # noqa: E402

__all__ = ["broker", "mongo_server", "mongo_url", "rabbitmq"]
