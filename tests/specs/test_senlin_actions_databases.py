"""The actions of clusters (spec 001), and those of plans on them, on databases."""

from tests.functional.db import stores
from tests.specs import test_clusters_in_plans as plans
from tests.specs import test_senlin_actions as told
from tests.specs.database_case import OnDatabase
from tests.unit.engine.clusters import test_marks_and_adopting as marks
from tests.unit.engine.clusters import test_operations_on_nodes as asked
from tests.unit.engine.clusters import test_specs_and_receivers as specs


class SqliteActionsTest(OnDatabase, told.TestActions, stores.SqliteDatabase):
    """`Actions` on SQLite."""


class SqliteActionPropertiesTest(
    OnDatabase, told.TestActionProperties, stores.SqliteDatabase
):
    """`ActionProperties` on SQLite."""


class SqliteTheActionDataPropertyTest(
    OnDatabase, told.TestTheActionDataProperty, stores.SqliteDatabase
):
    """`TheActionDataProperty` on SQLite."""


class SqliteActionStatusesTest(
    OnDatabase, told.TestActionStatuses, stores.SqliteDatabase
):
    """`ActionStatuses` on SQLite."""


class SqliteCreatingAnActionTest(
    OnDatabase, told.TestCreatingAnAction, stores.SqliteDatabase
):
    """`CreatingAnAction` on SQLite."""


class SqliteListingActionsTest(
    OnDatabase, told.TestListingActions, stores.SqliteDatabase
):
    """`ListingActions` on SQLite."""


class SqliteGettingAnActionTest(
    OnDatabase, told.TestGettingAnAction, stores.SqliteDatabase
):
    """`GettingAnAction` on SQLite."""


class SqliteSignalingAnActionTest(
    OnDatabase, told.TestSignalingAnAction, stores.SqliteDatabase
):
    """`SignalingAnAction` on SQLite."""


class SqliteLocksForPlansTest(OnDatabase, plans.TestLocks, stores.SqliteDatabase):
    """`Locks` for plans on SQLite."""


class SqliteBusyTest(OnDatabase, asked.TestBusy, stores.SqliteDatabase):
    """`Busy` on SQLite."""


class SqliteDeleteTest(OnDatabase, asked.TestDelete, stores.SqliteDatabase):
    """`Delete` on SQLite."""


class SqliteMarksTest(OnDatabase, marks.TestMarks, stores.SqliteDatabase):
    """`Marks` on SQLite."""


class SqlitePoliciesTest(OnDatabase, specs.TestPolicies, stores.SqliteDatabase):
    """`Policies` on SQLite."""


class SqliteReceiversTest(OnDatabase, specs.TestReceivers, stores.SqliteDatabase):
    """`Receivers` on SQLite."""


class PostgresqlActionsTest(OnDatabase, told.TestActions, stores.PostgresqlDatabase):
    """`Actions` on PostgreSQL."""


class PostgresqlSignalingAnActionTest(
    OnDatabase, told.TestSignalingAnAction, stores.PostgresqlDatabase
):
    """`SignalingAnAction` on PostgreSQL."""


class MysqlActionsTest(OnDatabase, told.TestActions, stores.MysqlDatabase):
    """`Actions` on MySQL."""


class MysqlSignalingAnActionTest(
    OnDatabase, told.TestSignalingAnAction, stores.MysqlDatabase
):
    """`SignalingAnAction` on MySQL."""
