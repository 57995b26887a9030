"""The contracts, bound to the adapters."""

from __future__ import annotations

import pytest

from tests.contracts.adapters import DEADLETTERS, LEDGERS, QUEUES, STORES
from tests.contracts.deadletter_contract import DeadletterContract
from tests.contracts.forms_contract import FormsContract
from tests.contracts.history_contract import HistoryContract
from tests.contracts.listing_contract import ListingContract
from tests.contracts.patience_contract import PatienceContract
from tests.contracts.queue_contract import QueueContract
from tests.contracts.store_contract import StoreContract
from tests.contracts.unit_of_work_contract import LedgerContract
from tests.contracts.url_contract import UrlContract


@pytest.mark.parametrize("rig", QUEUES.values(), ids=QUEUES, indirect=True)
class TestQueues(QueueContract, PatienceContract):
    pass


@pytest.mark.parametrize("rig", STORES.values(), ids=STORES, indirect=True)
class TestStores(StoreContract, FormsContract, UrlContract, ListingContract, HistoryContract):
    pass


@pytest.mark.parametrize("rig", DEADLETTERS.values(), ids=DEADLETTERS, indirect=True)
class TestDeadletters(DeadletterContract):
    pass


@pytest.mark.parametrize("rig", LEDGERS.values(), ids=LEDGERS, indirect=True)
class TestLedgers(LedgerContract):
    pass
