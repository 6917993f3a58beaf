"""Actions on clusters (spec 001), on databases."""

from tests.functional.db.stores import MYSQL, POSTGRESQL
from tests.specs import test_senlin_actions as senlin_actions
from tests.specs.database_case import define_database_tests

define_database_tests(
    __name__,
    {
        senlin_actions.TestActions: (POSTGRESQL, MYSQL),
        senlin_actions.TestSignalingAnAction: (POSTGRESQL,),
    },
)
