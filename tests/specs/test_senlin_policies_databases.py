"""Policies around actions on clusters (spec 001), on databases."""

from tests.functional.db import stores
from tests.specs import test_senlin_policies as policies
from tests.specs.database_case import OnDatabase


class SqliteTheActionDataPropertyTest(
    OnDatabase, policies.TestTheActionDataProperty, stores.SqliteDatabase
):
    """`TheActionDataProperty` on SQLite."""


class SqliteLoadBalancingTest(
    OnDatabase, policies.TestLoadBalancing, stores.SqliteDatabase
):
    """`LoadBalancing` on SQLite."""


class SqliteAttachmentTest(OnDatabase, policies.TestAttachment, stores.SqliteDatabase):
    """`Attachment` on SQLite."""
