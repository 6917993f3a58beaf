"""SUSPEND and RESUME of actions with derived actions, on each kind of database."""

from tests.functional.db.stores import MYSQL, POSTGRESQL
from tests.specs import test_actions_suspended as outcome
from tests.specs.database_case import define_database_tests

define_database_tests(
    __name__,
    {
        outcome.TestSuspend: (POSTGRESQL, MYSQL),
        outcome.TestCancelWhileSuspended: (POSTGRESQL, MYSQL),
    },
)
