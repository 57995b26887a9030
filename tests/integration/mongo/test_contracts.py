"""The contracts of documents, deadletters and ledgers, on MongoDB."""

from __future__ import annotations

import pytest

from tests.contracts.deadletter_contract import DeadletterContract
from tests.contracts.forms_contract import FormsContract
from tests.contracts.history_contract import HistoryContract
from tests.contracts.listing_contract import ListingContract
from tests.contracts.store_contract import StoreContract
from tests.contracts.unit_of_work_contract import LedgerContract
from tests.contracts.url_contract import UrlContract
from tests.integration.mongo.rig import mongo

on_mongo = pytest.mark.parametrize("rig", [mongo], ids=["mongo"], indirect=True)


@on_mongo
class TestStore(StoreContract, FormsContract, UrlContract, ListingContract, HistoryContract):
    pass


@on_mongo
class TestDeadletters(DeadletterContract):
    pass


@on_mongo
class TestLedger(LedgerContract):
    pass
