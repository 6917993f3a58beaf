"""What plans do with stacks, on databases."""

from tests.functional.db.stores import MYSQL, POSTGRESQL
from tests.specs import test_locks_for_plans as locks
from tests.specs import test_stacks_in_plans as stories
from tests.specs.database_case import define_stories

define_stories(
    __name__,
    {
        stories.TestUpdate: (POSTGRESQL, MYSQL),
        locks.TestLocks: (POSTGRESQL,),
        stories.TestCancel: (POSTGRESQL,),
        stories.TestLostWorkers: (POSTGRESQL,),
    },
)
