"""The guarantees that depend on the database, on each kind of database."""

from tests.functional.db.stores import MYSQL, POSTGRESQL, SQLITE, define_tests
from tests.specs.database_case import OnDatabase
from tests.specs.test_promises import Promises
from tests.worlds import WorldCase


class DatabasePromises(OnDatabase, Promises):
    """The suite on a database; precedes WorldCase and the database mixin."""

    #: Fewer than in memory, where each takes a fraction of the time.
    disorders = 2
    every = 9


define_tests(
    __name__,
    DatabasePromises,
    after=(WorldCase,),
    on=(SQLITE, POSTGRESQL, MYSQL),
    name='Promises',
)
