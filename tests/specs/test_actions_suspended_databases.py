"""SUSPEND and RESUME of what waits for what it derived, on each kind of database."""

from tests.functional.db.stores import MYSQL, POSTGRESQL, define_tests
from tests.specs import test_actions_suspended as told
from tests.specs.database_case import OnDatabase

define_tests(
    __name__,
    told.TestSuspendingAnActionThatDerived,
    before=(OnDatabase,),
    on=(POSTGRESQL, MYSQL),
    name='Suspending',
)
define_tests(
    __name__,
    told.TestCancellingASuspendedActionThatDerived,
    before=(OnDatabase,),
    on=(POSTGRESQL, MYSQL),
    name='Cancelling',
)
