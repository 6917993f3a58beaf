"""The part of a transaction that knows what a project has."""

from watcherlite.db.clusters import ClusterObject
from watcherlite.db.sqlalchemy.cluster_rows import PLACES
from watcherlite.db.sqlalchemy.columns import ACTION_COLUMNS
from watcherlite.db.sqlalchemy.stack_lists import StackPage
from watcherlite.db.sqlalchemy.statement_group import StatementGroup
from watcherlite.db.stacks import StackQuery
from watcherlite.domain.actions import Action

# Reading comes first: what is there already an insertion would lock less firmly than
# this, and two of them would then wait for each other.
HOLD = 'SELECT tenant FROM tenants WHERE tenant = :tenant FOR UPDATE'
NEW = 'INSERT NEW INTO tenants (tenant) VALUES (:tenant) OR NOTHING'
NAMED = 'SELECT 1 FROM {} WHERE tenant = :tenant AND name = :name AND {} LIMIT 1'
UNFINISHED = (
    f'SELECT {ACTION_COLUMNS} FROM actions BY(ix_actions_tenant_ended_id) '
    "WHERE tenant = :tenant AND ended = '' AND action_type = :action_type ORDER BY id"
)
CLUSTERS = 'SELECT count(*) FROM clusters WHERE tenant = :tenant AND hidden = 0'


class Projects(StatementGroup):
    """`db.projects.ProjectTransaction`."""

    def lock_tenant(self, tenant: str) -> None:
        session = self._session
        if not session.rows(HOLD, tenant=tenant):
            session.count(NEW, tenant=tenant)
            session.rows(HOLD, tenant=tenant)

    def has_name(self, kind: type[ClusterObject], name: str, tenant: str) -> bool:
        place = PLACES[kind]
        statement = NAMED.format(place.table, place.shown)
        return bool(self._session.rows(statement, tenant=tenant, name=name))

    def unfinished_of(self, action_type: str, tenant: str) -> list[Action]:
        rows = self._session.rows(UNFINISHED, tenant=tenant, action_type=action_type)
        return [self._session.mapper.action(row) for row in rows]

    def count_clusters(self, tenant: str) -> int:
        return int(self._session.rows(CLUSTERS, tenant=tenant)[0][0])

    def count_stacks(self, tenant: str) -> int:
        page = StackPage(StackQuery(tenant=tenant), self._session.dialect)
        return int(self._session.rows(page.count, **page.filtering)[0][0])
