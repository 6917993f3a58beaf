"""Nodes (spec 001), on databases."""

from tests.functional.db.stores import MYSQL, POSTGRESQL, SQLITE
from tests.specs.database_case import define_stories
from tests.unit.engine.clusters import test_node_lost_workers as lost
from tests.unit.engine.clusters import test_node_sizes as sizes

define_stories(
    __name__,
    {
        sizes.TestSizes: (POSTGRESQL, MYSQL),
        lost.TestLostWorkers: (SQLITE, POSTGRESQL, MYSQL),
    },
)
