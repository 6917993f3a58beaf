"""Nodes of lost workers (spec 001), on database servers."""

from tests.functional.db.stores import MYSQL, POSTGRESQL
from tests.functional.engine.clusters import test_node_lost_workers as lost
from tests.specs.database_case import define_database_tests

define_database_tests(__name__, {lost.TestLostWorkers: (POSTGRESQL, MYSQL)})
