"""Nodes of lost workers (spec 001), on database servers."""

from tests.functional.db.stores import MYSQL, POSTGRESQL
from tests.specs.database_case import define_stories
from tests.unit.engine.clusters import test_node_lost_workers as lost

define_stories(__name__, {lost.TestLostWorkers: (POSTGRESQL, MYSQL)})
