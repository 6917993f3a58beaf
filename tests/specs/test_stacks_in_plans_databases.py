"""Actions of plans on stacks, on a database server."""

from tests.functional.db.stores import POSTGRESQL
from tests.specs import test_stacks_in_plans
from tests.specs.database_case import OnDatabase


class PostgresqlLostWorkersTest(
    OnDatabase, test_stacks_in_plans.TestLostWorkers, POSTGRESQL
):
    """Fewer than in memory, where each takes a fraction of the time."""

    every = 3
