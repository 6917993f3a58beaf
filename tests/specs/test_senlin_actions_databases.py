"""The actions of clusters (spec 001), and those of plans on them, on databases."""

from tests.functional.db.stores import MYSQL, POSTGRESQL, SQLITE, define_tests
from tests.specs import test_clusters_in_plans as plans
from tests.specs import test_senlin_actions as told
from tests.specs.database_case import OnDatabase, define_stories
from tests.unit.engine.clusters import test_marks_and_adoption as marks
from tests.unit.engine.clusters import test_operations_on_nodes as asked
from tests.unit.engine.clusters import test_specs_and_receivers as specs

define_stories(
    __name__,
    {
        told.TestActions: (SQLITE, POSTGRESQL, MYSQL),
        told.TestActionProperties: (SQLITE,),
        told.TestTheActionDataProperty: (SQLITE,),
        told.TestActionStatuses: (SQLITE,),
        told.TestCreatingAnAction: (SQLITE,),
        told.TestListingActions: (SQLITE,),
        told.TestGettingAnAction: (SQLITE,),
        told.TestSignalingAnAction: (SQLITE, POSTGRESQL, MYSQL),
        asked.TestBusy: (SQLITE,),
        asked.TestDelete: (SQLITE,),
        marks.TestMarks: (SQLITE,),
        specs.TestPolicies: (SQLITE,),
        specs.TestReceivers: (SQLITE,),
    },
)
define_tests(
    __name__, plans.TestLocks, before=(OnDatabase,), on=(SQLITE,), name='LocksForPlans'
)
