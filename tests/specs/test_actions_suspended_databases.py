"""SUSPEND and RESUME of actions with derived actions, on each kind of database."""

from tests.functional.db.stores import MYSQL, POSTGRESQL
from tests.specs import test_actions_suspended as outcome
from tests.specs.database_case import define_stories

define_stories(
    __name__,
    {
        outcome.TestSuspend: (POSTGRESQL, MYSQL),
        outcome.TestCancelWhileSuspended: (POSTGRESQL, MYSQL),
    },
)
