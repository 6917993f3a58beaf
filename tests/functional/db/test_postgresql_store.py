"""The store on PostgreSQL keeps the store's contract."""

from tests.contract.store_contract import StoreContract
from tests.contract.store_links import StoreLinksContract
from tests.functional.db.stores import PostgresqlDatabase
from watcherlite.db.api import Store


class PostgresqlStoreTest(StoreContract, StoreLinksContract, PostgresqlDatabase):
    def make_store(self) -> Store:
        return self.open_empty()
