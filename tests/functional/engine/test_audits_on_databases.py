"""Audits of lost workers, on database servers."""

from tests.functional.db.stores import MYSQL, POSTGRESQL
from tests.specs import test_audits_continuous, test_audits_lost_workers
from tests.specs.database_case import define_database_tests

define_database_tests(
    __name__,
    {
        test_audits_continuous.TestInterval: (MYSQL,),
        test_audits_lost_workers.TestLostWorkers: (POSTGRESQL, MYSQL),
    },
)
