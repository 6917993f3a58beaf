"""Policies around actions on clusters (spec 001), on databases."""

from tests.functional.db.stores import SQLITE
from tests.specs import test_senlin_policies as policies
from tests.specs.database_case import define_stories

define_stories(
    __name__,
    {
        policies.TestTheActionDataProperty: (SQLITE,),
        policies.TestLoadBalancing: (SQLITE,),
        policies.TestAttachment: (SQLITE,),
    },
)
