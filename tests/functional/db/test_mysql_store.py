"""Contract tests of the store on MariaDB or MySQL."""

from tests.contract.store_contract import StoreContract
from tests.functional.db.stores import MysqlDatabase
from watcherlite.db.api import Store


class MysqlStoreTest(StoreContract, MysqlDatabase):
    def make_store(self) -> Store:
        return self.open_empty()
