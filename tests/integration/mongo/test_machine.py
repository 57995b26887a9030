"""Any sequence of saves, touches and crashes, on MongoDB."""

from __future__ import annotations

from hypothesis import settings

from tests.contracts.machine import case_of
from tests.contracts.test_store_machine import StoreMachine
from tests.integration.mongo.rig import mongo

TestMongo = case_of(StoreMachine, mongo)
TestMongo.settings = settings(TestMongo.settings, max_examples=max(5, settings().max_examples // 6))
"""Fewer examples than elsewhere: every step asks a server some twenty times."""
