"""Contract tests of the store on PostgreSQL."""

from tests.contract.store_chain_commit import StoreChainCommitContract
from tests.contract.store_contract import StoreContract
from tests.functional.db.stores import PostgresqlDatabase
from watcherlite.db.api import Store


class PostgresqlStoreTest(StoreContract, StoreChainCommitContract, PostgresqlDatabase):
    def make_store(self) -> Store:
        return self.open_empty()
