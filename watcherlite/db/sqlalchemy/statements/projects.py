"""Statements on quotas and unique names in projects."""

import functools
from typing import Any

import sqlalchemy as sa

from watcherlite.db import clusters as port
from watcherlite.db.clusters import ClusterObject
from watcherlite.db.query import Query
from watcherlite.db.sqlalchemy.constructs import (
    EMPTY,
    ONE,
    ZERO,
    insert_ignore,
    use_index,
)
from watcherlite.db.sqlalchemy.lists.collections import COLLECTIONS
from watcherlite.db.sqlalchemy.lists.queries import count_rows
from watcherlite.db.sqlalchemy.mappers import ACTIONS
from watcherlite.db.sqlalchemy.statements.group import StatementGroup
from watcherlite.db.sqlalchemy.tables.actions import actions
from watcherlite.db.sqlalchemy.tables.clusters import clusters
from watcherlite.db.sqlalchemy.tables.coordination import tenants
from watcherlite.domain.actions import Action

_TENANT = sa.bindparam('tenant', type_=sa.String)
# Executed before the INSERT, which would take a shared lock on an existing row, so that
# two transactions would deadlock.
LOCK = sa.select(tenants.c.tenant).where(tenants.c.tenant == _TENANT).with_for_update()
INSERT = insert_ignore(tenants)
UNFINISHED = use_index(
    ACTIONS.select().where(
        actions.c.tenant == _TENANT,
        actions.c.ended == EMPTY,
        actions.c.action_type == sa.bindparam('action_type'),
    ),
    actions,
    'ix_actions_tenant_ended_id',
    'mysql',
)
CLUSTERS = (
    sa.select(sa.func.count())
    .select_from(clusters)
    .where(clusters.c.tenant == _TENANT, clusters.c.hidden == ZERO)
)


@functools.cache
def name_lookup(collection: str) -> sa.Select[Any]:
    """Return the statement that looks up a name in a project."""
    of = COLLECTIONS[collection]
    row = of.table.c
    listed = [row.hidden == ZERO] if of.hidden_values else []
    name = row.name == sa.bindparam('name', type_=sa.String)
    return sa.select(ONE).where(row.tenant == _TENANT, name, *listed).limit(ONE)


class ProjectStatements(StatementGroup):
    """Implementation of `db.projects.ProjectTransaction`."""

    def lock_tenant(self, tenant: str) -> None:
        session = self._session
        if not session.rows(LOCK, tenant=tenant):
            session.count(INSERT, tenant=tenant)
            session.rows(LOCK, tenant=tenant)

    def has_name(self, kind: type[ClusterObject], name: str, tenant: str) -> bool:
        statement = name_lookup(port.COLLECTIONS[kind])
        return bool(self._session.rows(statement, tenant=tenant, name=name))

    def unfinished_of(self, action_type: str, tenant: str) -> list[Action]:
        rows = self._session.rows(UNFINISHED, tenant=tenant, action_type=action_type)
        return sorted(map(ACTIONS.read, rows), key=lambda action: action.id)

    def count_clusters(self, tenant: str) -> int:
        return int(self._session.rows(CLUSTERS, tenant=tenant)[0][0])

    def count_stacks(self, tenant: str) -> int:
        return count_rows(self._session, 'stacks', Query(tenant=tenant))
