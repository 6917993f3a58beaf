"""The part of a transaction that knows what a project has."""

import functools
from typing import Any

import sqlalchemy as sa

from watcherlite.db import clusters as port
from watcherlite.db.clusters import ClusterObject
from watcherlite.db.query import Query
from watcherlite.db.sqlalchemy import keyset
from watcherlite.db.sqlalchemy.collections import COLLECTIONS, SHOWN, number
from watcherlite.db.sqlalchemy.constructs import (
    EMPTY,
    ONE,
    ZERO,
    insert_ignore,
    use_index,
)
from watcherlite.db.sqlalchemy.objects import ACTIONS
from watcherlite.db.sqlalchemy.statement_group import StatementGroup
from watcherlite.db.sqlalchemy.tables.actions import actions
from watcherlite.db.sqlalchemy.tables.clusters import clusters
from watcherlite.db.sqlalchemy.tables.coordination import tenants
from watcherlite.domain.actions import Action

_TENANT = sa.bindparam('tenant', type_=sa.String)
# Reading comes first: what is there already an insertion would lock less firmly than
# this, and two of them would then wait for each other.
HOLD = sa.select(tenants.c.tenant).where(tenants.c.tenant == _TENANT).with_for_update()
NEW = insert_ignore(tenants)
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
def named(collection: str) -> sa.Select[Any]:
    """Return the statement that finds whether a name is taken in a project."""
    of = COLLECTIONS[collection]
    row = of.table.c
    shown = [row.hidden == number(SHOWN)] if of.places else []
    name = row.name == sa.bindparam('name', type_=sa.String)
    return sa.select(ONE).where(row.tenant == _TENANT, name, *shown).limit(ONE)


class Projects(StatementGroup):
    """`db.projects.ProjectTransaction`."""

    def lock_tenant(self, tenant: str) -> None:
        session = self._session
        if not session.rows(HOLD, tenant=tenant):
            session.count(NEW, tenant=tenant)
            session.rows(HOLD, tenant=tenant)

    def has_name(self, kind: type[ClusterObject], name: str, tenant: str) -> bool:
        statement = named(port.COLLECTIONS[kind])
        return bool(self._session.rows(statement, tenant=tenant, name=name))

    def unfinished_of(self, action_type: str, tenant: str) -> list[Action]:
        rows = self._session.rows(UNFINISHED, tenant=tenant, action_type=action_type)
        return sorted(map(ACTIONS.read, rows), key=lambda action: action.id)

    def count_clusters(self, tenant: str) -> int:
        return int(self._session.rows(CLUSTERS, tenant=tenant)[0][0])

    def count_stacks(self, tenant: str) -> int:
        query = Query(tenant=tenant)
        shape, values = keyset.read('stacks', query, self._session.database)
        return int(self._session.rows(keyset.count(shape), **values)[0][0])
