"""Contract tests of the store on SQLite."""

from tests.contract.store_contract import StoreContract
from tests.functional.db.stores import SqliteDatabase
from watcherlite.db.api import Store


class SqliteStoreTest(StoreContract, SqliteDatabase):
    def make_store(self) -> Store:
        return self.open_empty()
