"""Statements on clusters, nodes, profiles, policies and receivers."""

import functools
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import sqlalchemy as sa

from watcherlite import exceptions
from watcherlite.db import clusters as port
from watcherlite.db.clusters import ClusterObject, ListedClusterAction, NewObject, Spec
from watcherlite.db.query import Query
from watcherlite.db.sqlalchemy.constructs import (
    EMPTY,
    ONE,
    ZERO,
    constant,
    id_in,
    number,
    text_in,
    use_index,
)
from watcherlite.db.sqlalchemy.database import Database
from watcherlite.db.sqlalchemy.lists.queries import fetch_matches, fetch_page
from watcherlite.db.sqlalchemy.mappers import (
    ACTIONS,
    BINDINGS,
    CLUSTERS,
    NODES,
    POLICIES,
    PROFILES,
    RECEIVERS,
)
from watcherlite.db.sqlalchemy.rows import RowMapper, split
from watcherlite.db.sqlalchemy.statements.group import (
    RowInsert,
    RowUpdate,
    StatementGroup,
    by_id,
    conflict_as,
    read_all,
)
from watcherlite.db.sqlalchemy.tables.actions import action_dependencies, actions
from watcherlite.db.sqlalchemy.tables.clusters import (
    bindings,
    clusters,
    nodes,
    policies,
    profiles,
)
from watcherlite.db.sqlalchemy.tables.coordination import locks, shared_locks
from watcherlite.domain.actions import Action
from watcherlite.domain.clusters import (
    Binding,
    Bound,
    Cluster,
    NewBinding,
    NewCluster,
    NewNode,
    NewPolicyObject,
    NewProfile,
    NewReceiver,
    Node,
    PolicyObject,
    Profile,
    Receiver,
)

#: The mappers, by the type of the object.
MAPPERS: Mapping[type, RowMapper[Any]] = {
    Profile: PROFILES,
    PolicyObject: POLICIES,
    Cluster: CLUSTERS,
    Node: NODES,
    Receiver: RECEIVERS,
}
_MAPPERS_OF_NEW: Mapping[type, RowMapper[Any]] = {
    NewProfile: PROFILES,
    NewPolicyObject: POLICIES,
    NewCluster: CLUSTERS,
    NewNode: NODES,
    NewReceiver: RECEIVERS,
}
_KEY = sa.bindparam('key', type_=sa.Integer)


def _by_primary_key(statement: sa.Select[Any], table: sa.Table) -> sa.Select[Any]:
    """Return a statement of rows with some ids, which are read by the primary key."""
    found = statement.where(id_in(table.c.id, 'ids')).order_by(table.c.id)
    return use_index(found, table, 'PRIMARY', 'mysql')


BY_ID = {
    mapper: mapper.select()
    .where(id_in(mapper.table.c.id, 'ids'))
    .order_by(mapper.table.c.id)
    for mapper in MAPPERS.values()
}
LOCK = {
    mapper: _by_primary_key(mapper.select(), mapper.table).with_for_update()
    for mapper in MAPPERS.values()
}
BY_UUID = {
    mapper: mapper.select()
    .where(text_in(mapper.table.c.uuid, 'uuids'))
    .order_by(mapper.table.c.id)
    for mapper in (CLUSTERS, NODES)
}
LOCK_BY_UUID = {
    mapper: statement.with_for_update() for mapper, statement in BY_UUID.items()
}
IDS_BY_UUID = {
    mapper: statement.with_only_columns(mapper.table.c.id)
    for mapper, statement in BY_UUID.items()
}
# Conflicts with FOR UPDATE, which the deletion of a profile or policy takes.
LOCK_PROFILES = _by_primary_key(sa.select(profiles.c.id), profiles).with_for_update(
    read=True, key_share=True
)
LOCK_POLICY = (
    sa.select(policies.c.id)
    .where(policies.c.id == _KEY)
    .with_for_update(read=True, key_share=True)
)
_NODES_OF = use_index(
    NODES.select().where(nodes.c.hidden == ZERO).order_by(nodes.c.id),
    nodes,
    'ix_nodes_cluster_id_hidden_id',
    'mysql',
)
NODES_OF = _NODES_OF.where(id_in(nodes.c.cluster_id, 'ids'))
LOCK_NODES_OF = _NODES_OF.where(nodes.c.cluster_id == _KEY).with_for_update()
COUNT_NODES = (
    sa.select(nodes.c.cluster_id, nodes.c.status, sa.func.count())
    .where(id_in(nodes.c.cluster_id, 'ids'), nodes.c.hidden == ZERO)
    .group_by(nodes.c.cluster_id, nodes.c.status)
)
USES_OF_PROFILE = sa.union_all(
    *(
        sa.select(ONE).where(table.c.profile_id == _KEY, table.c.hidden == ZERO)
        for table in (clusters, nodes)
    )
).limit(ONE)
USES_OF_POLICY = (
    sa.select(ONE)
    .join_from(bindings, clusters, clusters.c.id == bindings.c.cluster_id)
    .where(bindings.c.policy_id == _KEY, clusters.c.hidden == ZERO)
    .limit(ONE)
)
BINDINGS_OF = (
    sa.select(*BINDINGS.columns, *POLICIES.columns)
    .join_from(bindings, policies, policies.c.id == bindings.c.policy_id)
    .where(id_in(bindings.c.cluster_id, 'ids'))
    .order_by(bindings.c.cluster_id, bindings.c.priority, bindings.c.id)
)
DELETE_BINDINGS = sa.delete(bindings).where(id_in(bindings.c.id, 'ids'))
DELETE_BINDINGS_OF_POLICY = sa.delete(bindings).where(bindings.c.policy_id == _KEY)

_OPEN = actions.c.ended == EMPTY


def _unfinished() -> sa.Select[Any]:
    """Return the statement of the unfinished actions on targets or within clusters."""
    on_targets = text_in(actions.c.target, 'targets')
    projects = sa.union(
        *(
            sa.select(table.c.tenant).where(text_in(table.c.uuid, 'targets'))
            for table in (clusters, nodes)
        )
    ).subquery('whose')
    # By the projects of the targets: an index by target would cost every action plan
    # time. Actions of others count when they hold the lock or wait for it.
    of_projects = use_index(
        sa.select(actions.c.id)
        .select_from(projects)
        .join(
            actions, sa.and_(actions.c.tenant == projects.c.tenant, _OPEN, on_targets)
        ),
        actions,
        'ix_actions_tenant_ended_id',
        'mysql',
    )
    within = text_in(actions.c.within, 'within')
    found = sa.union(
        of_projects,
        sa.select(actions.c.id).where(within, _OPEN),
        sa.select(locks.c.action_id).where(text_in(locks.c.target, 'targets')),
        sa.select(actions.c.id).where(
            actions.c.blocked_on.is_not(None),
            text_in(actions.c.blocked_on, 'targets'),
            _OPEN,
        ),
    ).subquery('found')
    return (
        ACTIONS.select()
        .select_from(found)
        .join(actions, actions.c.id == found.c.id)
        .where(
            _OPEN,
            actions.c.cause == constant('RPC Request'),
            sa.or_(on_targets, within),
        )
        .order_by(actions.c.id)
    )


UNFINISHED = _unfinished()
DROPPED = _by_primary_key(
    sa.select(actions.c.id).where(
        actions.c.plan_id.is_(None), actions.c.ended != EMPTY
    ),
    actions,
).with_for_update()
DROP_ACTIONS = (
    sa.delete(action_dependencies).where(id_in(action_dependencies.c.parent_id, 'ids')),
    sa.delete(action_dependencies).where(id_in(action_dependencies.c.child_id, 'ids')),
    sa.delete(actions).where(id_in(actions.c.id, 'ids')),
)

#: Relations of an action: the actions that it depends on, those that depend on it, and
#: those that hold the lock that it waits for.
PARENTS, CHILDREN, HOLDERS = 1, 2, 3


def _related() -> sa.CompoundSelect[Any]:
    """Return the statement of related actions: (id, relation, related action)."""
    edges = action_dependencies.alias('d')
    one, other = actions.alias('q'), actions.alias('o')
    shown = (other.c.uuid, other.c.id, other.c.action_type)

    parts = [
        sa.select(here, number(relation), *shown)
        .join_from(edges, other, sa.and_(other.c.id == there, other.c.ended == EMPTY))
        .where(id_in(here, 'ids'))
        for here, there, relation in (
            (edges.c.child_id, edges.c.parent_id, PARENTS),
            (edges.c.parent_id, edges.c.child_id, CHILDREN),
        )
    ]
    parts += [
        sa.select(one.c.id, number(HOLDERS), *shown)
        .join_from(one, held, held.c.target == one.c.blocked_on)
        .join(other, other.c.id == held.c.action_id)
        .where(
            id_in(one.c.id, 'ids'),
            one.c.status == constant('WAITING'),
            other.c.id != one.c.id,
        )
        for held in (locks, shared_locks)
    ]
    return sa.union_all(*parts)


RELATED = _related()

#: Columns that never change.
_CONSTANT = frozenset(
    {'uuid', 'tenant', 'user_name', 'domain', 'origin', 'init_at', 'spec', 'type'}
)
#: Those of profiles, policies and receivers. `created_at` of clusters and nodes is set
#: when their creation has completed.
_CONSTANT_OF_SPECS = _CONSTANT | {'created_at', 'handler'}
INSERT_NODES = RowInsert(NODES)
SAVE_CLUSTERS = RowUpdate(CLUSTERS, _CONSTANT)
SAVE_NODES = RowUpdate(NODES, _CONSTANT)
SAVE_BINDINGS = RowUpdate(BINDINGS, _CONSTANT | {'cluster_id', 'policy_id'})


def _bindings_by_cluster(rows: Iterable[Sequence[Any]]) -> dict[int, list[Bound]]:
    """Return the bindings in rows of BINDINGS_OF, by the id of the cluster."""
    found: dict[int, list[Bound]] = {}
    for row in rows:
        bound = Bound(*split(row, BINDINGS, POLICIES))
        found.setdefault(bound.binding.cluster_id, []).append(bound)
    return found


class ClusterStatements(StatementGroup):
    """Implementation of `db.clusters.ClusterTransaction`."""

    def insert_object(self, row: NewObject[ClusterObject]) -> ClusterObject:
        if isinstance(row, NewCluster | NewNode):
            self._lock_profiles([row.profile_id])
        mapper = _MAPPERS_OF_NEW[type(row)]
        key = self._session.insert_row(mapper.table, mapper.by_column(row))
        return row.stored(key)

    def insert_nodes(self, nodes: Sequence[NewNode]) -> list[int]:
        if nodes:
            self._lock_profiles(node.profile_id for node in nodes)
        return INSERT_NODES.execute(self._session, nodes)

    def _lock_profiles(self, ids: Iterable[int]) -> None:
        desired = sorted(set(ids))
        if len(self._session.rows(LOCK_PROFILES, ids=desired)) < len(desired):
            raise exceptions.Conflict('The profile has been deleted.')

    def lock_object(self, row: Spec) -> Spec | None:
        mapper = MAPPERS[type(row)]
        found = read_all(self._session, mapper, LOCK[mapper], [row.id])
        return found[0] if found else None

    def save_object(self, row: Profile | PolicyObject | Receiver) -> None:
        mapper = MAPPERS[type(row)]
        values = mapper.by_column(row)
        changed = {n: v for n, v in values.items() if n not in _CONSTANT_OF_SPECS}
        self._session.update_row(mapper.table, row.id, changed)

    def delete_object(self, row: Profile | PolicyObject | Receiver) -> None:
        table, session = MAPPERS[type(row)].table, self._session
        here = table.c.id == _KEY
        if not isinstance(row, Receiver):
            session.rows(
                sa.select(table.c.id).where(here).with_for_update(), key=row.id
            )
        if isinstance(row, Profile) and session.rows(USES_OF_PROFILE, key=row.id):
            raise port.in_use(Profile, row.uuid, 'clusters or nodes')
        if isinstance(row, PolicyObject):
            if session.rows(USES_OF_POLICY, key=row.id):
                raise port.in_use(PolicyObject, row.uuid, 'clusters')
            session.count(DELETE_BINDINGS_OF_POLICY, key=row.id)
        session.count(sa.delete(table).where(here), key=row.id)

    def lock_clusters(self, uuids: Iterable[str]) -> dict[str, Cluster]:
        found = self._lock_by_uuid(CLUSTERS, uuids)
        return {cluster.uuid: cluster for cluster in found}

    def lock_clusters_by_id(self, ids: Iterable[int]) -> dict[int, Cluster]:
        return by_id(read_all(self._session, CLUSTERS, LOCK[CLUSTERS], ids))

    def save_clusters(self, clusters: Iterable[Cluster]) -> None:
        SAVE_CLUSTERS.execute(self._session, clusters)

    def lock_nodes(self, uuids: Iterable[str]) -> dict[str, Node]:
        return {node.uuid: node for node in self._lock_by_uuid(NODES, uuids)}

    def lock_nodes_of(self, cluster_id: int) -> list[Node]:
        return list(map(NODES.read, self._session.rows(LOCK_NODES_OF, key=cluster_id)))

    def save_nodes(self, nodes: Sequence[Node]) -> None:
        SAVE_NODES.execute(self._session, nodes)

    def count_nodes(self, cluster_ids: Iterable[int]) -> dict[int, dict[str, int]]:
        ids = sorted(set(cluster_ids))
        counts: dict[int, dict[str, int]] = {}
        rows = self._session.rows(COUNT_NODES, ids=ids) if ids else ()
        for key, status, count in rows:
            counts.setdefault(key, {})[status] = count
        return counts

    def unfinished_actions(
        self, targets: Iterable[str], within: Iterable[str] = ()
    ) -> list[Action]:
        named, around = sorted(set(targets)), sorted(set(within))
        if not (named or around):
            return []
        # MySQL has no empty lists, and no object is named ''.
        rows = self._session.rows(
            UNFINISHED, targets=named or [''], within=around or ['']
        )
        return list(map(ACTIONS.read, rows))

    def drop_actions(self, ids: Iterable[int]) -> None:
        desired = sorted(set(ids))
        rows = self._session.rows(DROPPED, ids=desired) if desired else ()
        found = [row[0] for row in rows]
        for statement in DROP_ACTIONS if found else ():
            self._session.count(statement, ids=found)

    def insert_binding(self, binding: NewBinding) -> Binding:
        session = self._session
        if not session.rows(LOCK_POLICY, key=binding.policy_id):
            raise exceptions.Conflict('The policy has been deleted.')
        with conflict_as(exceptions.Conflict('The cluster has that policy already.')):
            key = session.insert_row(bindings, BINDINGS.by_column(binding))
        return binding.stored(key)

    def save_bindings(self, bindings: Sequence[Binding]) -> None:
        SAVE_BINDINGS.execute(self._session, bindings)

    def delete_bindings(self, ids: Iterable[int]) -> None:
        desired = sorted(set(ids))
        if desired:
            self._session.count(DELETE_BINDINGS, ids=desired)

    def bindings_of(self, cluster_id: int) -> list[Bound]:
        rows = self._session.rows(BINDINGS_OF, ids=[cluster_id])
        return _bindings_by_cluster(rows).get(cluster_id, [])

    def _lock_by_uuid(self, mapper: RowMapper[Any], uuids: Iterable[str]) -> list[Any]:
        desired, session = sorted(set(uuids)), self._session
        if desired and session.database == 'mysql':
            # It locks rows in the order in which it reads them; all other transactions
            # lock them in the order of their ids.
            ids = [row[0] for row in session.rows(IDS_BY_UUID[mapper], uuids=desired)]
            return read_all(session, mapper, LOCK[mapper], ids)
        return read_all(session, mapper, LOCK_BY_UUID[mapper], desired, 'uuids')


class SqlClusterStore:
    """Implementation of `db.clusters.ClusterStore`, without purge and events."""

    _db: Database

    def find_object(
        self, kind: type[ClusterObject], name: str, tenant: str | None
    ) -> ClusterObject:
        found: ClusterObject = self._find_by_name(kind, MAPPERS[kind], name, tenant)
        return found

    def find_cluster_action(self, name: str, tenant: str | None) -> ListedClusterAction:
        return self._with_related([self._find_by_name(Action, ACTIONS, name, tenant)])[
            0
        ]

    def _find_by_name(
        self, kind: type, mapper: RowMapper[Any], name: str, tenant: str | None
    ) -> Any:
        """Return the object that a name matches; raise NotFound or Ambiguous."""
        rows = fetch_matches(self._db, port.COLLECTIONS[kind], name, tenant)
        if not rows:
            raise port.not_found(kind, name)
        best = min(row[-1] for row in rows)
        found = [mapper.read(row[:-1]) for row in rows if row[-1] == best]
        if len(found) > 1:
            found.sort(key=lambda row: int(row.id))
            uuids = [row.uuid for row in found[: port.LISTED]]
            raise exceptions.Ambiguous(name, uuids)
        return found[0]

    def list_objects(
        self, kind: type[ClusterObject], query: Query
    ) -> list[ClusterObject]:
        return list(map(MAPPERS[kind].read, self._object_page(kind, query)))

    def list_cluster_actions(self, query: Query) -> list[ListedClusterAction]:
        rows = self._object_page(Action, query)
        return self._with_related(list(map(ACTIONS.read, rows)))

    def _object_page(self, kind: type, query: Query) -> Sequence[Any]:
        not_found = functools.partial(port.not_found, kind)
        return fetch_page(self._db, port.COLLECTIONS[kind], query, not_found)

    def _with_related(self, actions: Sequence[Action]) -> list[ListedClusterAction]:
        if not actions:
            return []
        ids = [action.id for action in actions]
        found: dict[tuple[int, int], list[tuple[int, str, str]]] = {}
        for key, relation, uuid, row_id, action_type in self._db.rows(RELATED, ids=ids):
            related = row_id, uuid, action_type
            found.setdefault((key, relation), []).append(related)

        def listed(action: Action) -> ListedClusterAction:
            before, after, holders = (
                sorted(found.get((action.id, relation), ()))
                for relation in (PARENTS, CHILDREN, HOLDERS)
            )
            return ListedClusterAction(
                action,
                tuple(uuid for _, uuid, _ in before),
                tuple(uuid for _, uuid, _ in after),
                tuple((action_type, uuid) for _, uuid, action_type in holders),
            )

        return [listed(action) for action in actions]

    def objects_by_id(
        self, kind: type[ClusterObject], ids: Iterable[int]
    ) -> dict[int, ClusterObject]:
        mapper = MAPPERS[kind]
        return by_id(read_all(self._db, mapper, BY_ID[mapper], ids))

    def clusters_by_uuid(self, uuids: Iterable[str]) -> dict[str, Cluster]:
        return self._by_uuid(CLUSTERS, uuids)

    def nodes_by_uuid(self, uuids: Iterable[str]) -> dict[str, Node]:
        return self._by_uuid(NODES, uuids)

    def _by_uuid(self, mapper: RowMapper[Any], uuids: Iterable[str]) -> dict[str, Any]:
        found = read_all(self._db, mapper, BY_UUID[mapper], uuids, 'uuids')
        return {item.uuid: item for item in found}

    def nodes_of(self, cluster_ids: Iterable[int]) -> list[Node]:
        return read_all(self._db, NODES, NODES_OF, cluster_ids)

    def bindings_of_clusters(
        self, cluster_ids: Iterable[int]
    ) -> dict[int, list[Bound]]:
        ids = sorted(set(cluster_ids))
        return _bindings_by_cluster(self._db.rows(BINDINGS_OF, ids=ids) if ids else ())
