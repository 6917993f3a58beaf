"""Policies around actions on clusters (spec 001), on databases."""

from tests.specs import test_senlin_policies as policies
from tests.specs.database_case import OnDatabase, SqliteDatabase


class SqliteTheActionDataPropertyTest(
    OnDatabase, policies.TestTheActionDataProperty, SqliteDatabase
):
    """`TheActionDataProperty` on SQLite."""


class SqliteLoadBalancingTest(OnDatabase, policies.TestLoadBalancing, SqliteDatabase):
    """`LoadBalancing` on SQLite."""


class SqliteAttachmentTest(OnDatabase, policies.TestAttachment, SqliteDatabase):
    """`Attachment` on SQLite."""
