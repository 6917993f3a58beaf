"""Actions of plans on stacks, on database servers."""

from tests.functional.db.stores import POSTGRESQL
from tests.specs import test_stacks_in_plans as stories
from tests.specs.database_case import define_stories

define_stories(
    __name__,
    {
        stories.TestUpdate: (POSTGRESQL,),
        stories.TestCancel: (POSTGRESQL,),
        stories.TestLostWorkers: (POSTGRESQL,),
    },
)
