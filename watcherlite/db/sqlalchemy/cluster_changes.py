"""The part of a transaction that changes clusters, nodes, and what they refer to."""

from collections.abc import Iterable, Sequence
from typing import Any, ClassVar

from watcherlite import exceptions
from watcherlite.db import clusters
from watcherlite.db.clusters import ClusterObject, Spec
from watcherlite.db.sqlalchemy.cluster_rows import (
    BINDING,
    BINDINGS,
    CLUSTER,
    CLUSTERS,
    NODE,
    NODES,
    NOUNS,
    POLICIES,
    Rows,
)
from watcherlite.db.sqlalchemy.columns import ACTION_COLUMNS
from watcherlite.db.sqlalchemy.dialects import Batch, Row, insertion
from watcherlite.db.sqlalchemy.mappers import Mapper
from watcherlite.db.sqlalchemy.purge_batches import DELETE_ACTIONS, DELETE_EDGES
from watcherlite.db.sqlalchemy.statement_group import StatementGroup
from watcherlite.domain.actions import Action
from watcherlite.domain.clusters import (
    Binding,
    Bound,
    Cluster,
    Node,
    PolicyObject,
    Profile,
    Receiver,
)

#: Rows in one statement.
PORTION = 2000
DROPPED = (
    'SELECT id FROM actions BY(PRIMARY) WHERE id IN_IDS(:ids) '
    "AND plan_id IS NULL AND ended <> '' ORDER BY id FOR UPDATE"
)
#: What of a row never changes.
_NEVER = frozenset(
    {'id', 'uuid', 'tenant', 'user_name', 'domain', 'origin', 'init_at', 'spec', 'type'}
)
# `created_at` of clusters and nodes is when they were made; that of others is not.
_NEVER_OF_OTHERS = _NEVER | {'created_at', 'handler'}

# Whoever deletes a profile or policy locks it whole.
HOLD_PROFILES = (
    'SELECT id FROM profiles BY(PRIMARY) WHERE id IN_IDS(:ids) ORDER BY id '
    'FOR KEY SHARE'
)
HOLD_POLICY = 'SELECT id FROM policies WHERE id = :id FOR KEY SHARE'
LOCK = 'SELECT {} FROM {} BY(PRIMARY) WHERE id IN_IDS(:ids) ORDER BY id FOR UPDATE'
LOCK_BY_UUID = 'SELECT {} FROM {} WHERE uuid IN_TEXTS(:uuids) ORDER BY id FOR UPDATE'
IDS = 'SELECT id FROM {} WHERE uuid IN_TEXTS(:uuids) ORDER BY id'
LOCK_NODES_OF = (
    f'SELECT {NODES.select} FROM nodes BY(ix_nodes_cluster_id_hidden_id) '
    'WHERE cluster_id = :id AND hidden = 0 ORDER BY id FOR UPDATE'
)
COUNT_NODES = (
    'SELECT cluster_id, status, count(*) FROM nodes '
    'WHERE cluster_id IN_IDS(:ids) AND hidden = 0 GROUP BY cluster_id, status'
)
USES_OF_PROFILE = (
    'SELECT 1 FROM clusters WHERE profile_id = :id AND hidden = 0 '
    'UNION ALL SELECT 1 FROM nodes WHERE profile_id = :id AND hidden = 0 LIMIT 1'
)
USES_OF_POLICY = (
    'SELECT 1 FROM bindings JOIN clusters ON clusters.id = bindings.cluster_id '
    'WHERE bindings.policy_id = :id AND clusters.hidden = 0 LIMIT 1'
)
BINDINGS_OF = (
    f'SELECT {BINDINGS.select}, {POLICIES.select} FROM bindings '
    'JOIN policies ON policies.id = bindings.policy_id '
    'WHERE bindings.cluster_id IN_IDS(:ids) '
    'ORDER BY bindings.cluster_id, bindings.priority, bindings.id'
)
# Of the projects that have these, or an index would be needed that plans pay for.
# Others' actions count as soon as they hold the lock, or wait for it.
_UNFINISHED = (
    'SELECT actions.id FROM (SELECT tenant FROM clusters WHERE uuid IN_TEXTS(:targets) '
    'UNION SELECT tenant FROM nodes WHERE uuid IN_TEXTS(:targets)) AS whose '
    'JOIN actions BY(ix_actions_tenant_ended_id) ON actions.tenant = whose.tenant '
    "AND actions.ended = '' AND actions.target IN_TEXTS(:targets)",
    "SELECT id FROM actions WHERE within IN_TEXTS(:within) AND ended = ''",
    'SELECT action_id FROM locks WHERE target IN_TEXTS(:targets)',
    'SELECT id FROM actions '
    "WHERE blocked_on IS NOT NULL AND blocked_on IN_TEXTS(:targets) AND ended = ''",
)
UNFINISHED = (
    f'SELECT {ACTION_COLUMNS} FROM ({" UNION ".join(_UNFINISHED)}) AS found '
    "JOIN actions ON actions.id = found.id WHERE ended = '' AND cause = 'RPC Request' "
    'AND (target IN_TEXTS(:targets) OR within IN_TEXTS(:within)) ORDER BY actions.id'
)
DELETE_BINDINGS = 'DELETE FROM bindings WHERE id IN_IDS(:ids)'
DELETE_BINDINGS_OF_POLICY = 'DELETE FROM bindings WHERE policy_id = :id'


def _saving(table: str, columns: dict[str, str], never: frozenset[str]) -> Batch:
    """Return the batch that writes rows by their ids, the last of their columns."""
    names = [name for name in columns if name not in never]
    kinds = {name: columns[name] for name in (*names, 'id')}
    values = ', '.join(f'{name} = r.{name}' for name in names)
    one = ', '.join(f'{name} = ?' for name in names)
    return Batch(
        f'UPDATE {table} SET {values} FROM ROWS(:rows) WHERE {table}.id = r.id',
        kinds,
        one=f'UPDATE {table} SET {one} WHERE id = ?',
    )


NEW_NODES = insertion('nodes', NODE)
SAVE_CLUSTERS = _saving('clusters', CLUSTER, _NEVER)
SAVE_NODES = _saving('nodes', NODE, _NEVER)
SAVE_BINDINGS = _saving('bindings', BINDING, _NEVER | {'cluster_id', 'policy_id'})


def bound(rows: Iterable[Sequence[Any]], mapper: Mapper) -> dict[int, list[Bound]]:
    """Return what the rows of BINDINGS_OF say, by the id of the cluster."""
    found: dict[int, list[Bound]] = {}
    middle = len(BINDING)
    for row in rows:
        binding = BINDINGS.made(row[:middle], mapper)
        policy = POLICIES.made(row[middle:], mapper)
        found.setdefault(binding.cluster_id, []).append(Bound(binding, policy))
    return found


class ClusterWriting(StatementGroup):
    """`db.clusters.ClusterTransaction`."""

    _save_clusters: ClassVar[Batch] = SAVE_CLUSTERS
    _save_nodes: ClassVar[Batch] = SAVE_NODES
    _save_bindings: ClassVar[Batch] = SAVE_BINDINGS

    def insert_object(self, row: ClusterObject) -> ClusterObject:
        if isinstance(row, Cluster | Node):
            self._hold_profiles([row.profile_id])
        rows = NOUNS[type(row)]
        values = rows.values(row, self._session.mapper.sealing)
        del values['id']
        return row.evolve(id=self._session.insert(rows.table, values))

    def insert_nodes(self, nodes: Sequence[Node]) -> list[int]:
        ids: list[int] = []
        if nodes:
            self._hold_profiles(node.profile_id for node in nodes)
        for at in range(0, len(nodes), PORTION):
            ids += self._insert_nodes(nodes[at : at + PORTION])
        return ids

    def _insert_nodes(self, nodes: Sequence[Node]) -> list[int]:
        session = self._session
        rows = [NODES.values(node, session.mapper.sealing) for node in nodes]
        if session.dialect.returning:
            ids = list(self._reserve(len(rows), 'nodes'))
            for row, key in zip(rows, ids, strict=True):
                row['id'] = key
            self._insert(NEW_NODES, [tuple(row.values()) for row in rows])
            return ids
        # An id of NULL is one that the server counts up.
        for row in rows:
            row['id'] = None
        self._insert(NEW_NODES, [tuple(row.values()) for row in rows])
        uuids = session.dialect.texts(node.uuid for node in nodes)
        found = session.rows(
            'SELECT uuid, id FROM nodes WHERE uuid IN_TEXTS(:uuids)', uuids=uuids
        )
        known = {row[0]: row[1] for row in found}
        return [known[node.uuid] for node in nodes]

    def _hold_profiles(self, ids: Iterable[int]) -> None:
        wanted = sorted(set(ids))
        listed = self._session.dialect.ids(wanted)
        if len(self._session.rows(HOLD_PROFILES, ids=listed)) < len(wanted):
            raise exceptions.Conflict('The profile has been deleted.')

    def lock_object(self, row: Spec) -> Spec | None:
        found = self._lock_rows(NOUNS[type(row)], [row.id or 0])
        return found[0] if found else None

    def save_object(self, row: Profile | PolicyObject | Receiver) -> None:
        rows = NOUNS[type(row)]
        values = rows.values(row, self._session.mapper.sealing)
        changed = {n: v for n, v in values.items() if n not in _NEVER_OF_OTHERS}
        assignments = ', '.join(f'{column} = :{column}' for column in changed)
        self._session.count(
            f'UPDATE {rows.table} SET {assignments} WHERE id = :key',
            key=row.id,
            **changed,
        )

    def delete_object(self, row: Profile | PolicyObject | Receiver) -> None:
        table, session = NOUNS[type(row)].table, self._session
        if not isinstance(row, Receiver):
            session.rows(f'SELECT id FROM {table} WHERE id = :id FOR UPDATE', id=row.id)
        if isinstance(row, Profile) and session.rows(USES_OF_PROFILE, id=row.id):
            raise clusters.in_use(Profile, row.uuid, 'clusters or nodes')
        if isinstance(row, PolicyObject):
            if session.rows(USES_OF_POLICY, id=row.id):
                raise clusters.in_use(PolicyObject, row.uuid, 'clusters')
            session.count(DELETE_BINDINGS_OF_POLICY, id=row.id)
        session.count(f'DELETE FROM {table} WHERE id = :id', id=row.id)

    def lock_clusters(self, uuids: Iterable[str]) -> dict[str, Cluster]:
        found = self._lock_by_uuid(CLUSTERS, uuids)
        return {cluster.uuid: cluster for cluster in found}

    def lock_clusters_by_id(self, ids: Iterable[int]) -> dict[int, Cluster]:
        found = self._lock_rows(CLUSTERS, sorted(set(ids)))
        return {cluster.id or 0: cluster for cluster in found}

    def save_clusters(self, clusters: Iterable[Cluster]) -> None:
        self._save_all(self._save_clusters, CLUSTERS, clusters)

    def lock_nodes(self, uuids: Iterable[str]) -> dict[str, Node]:
        return {node.uuid: node for node in self._lock_by_uuid(NODES, uuids)}

    def lock_nodes_of(self, cluster_id: int) -> list[Node]:
        rows = self._session.rows(LOCK_NODES_OF, id=cluster_id)
        return [NODES.made(row, self._session.mapper) for row in rows]

    def save_nodes(self, nodes: Sequence[Node]) -> None:
        self._save_all(self._save_nodes, NODES, nodes)

    def count_nodes(self, cluster_ids: Iterable[int]) -> dict[int, dict[str, int]]:
        ids = sorted(set(cluster_ids))
        counts: dict[int, dict[str, int]] = {}
        if ids:
            listed = self._session.dialect.ids(ids)
            for key, status, count in self._session.rows(COUNT_NODES, ids=listed):
                counts.setdefault(key, {})[status] = count
        return counts

    def unfinished_actions(
        self, targets: Iterable[str], within: Iterable[str] = ()
    ) -> list[Action]:
        texts = self._session.dialect.texts
        named, around = sorted(set(targets)), sorted(set(within))
        if not (named or around):
            return []
        # MySQL has no empty lists, and nothing is called ''.
        rows = self._session.rows(
            UNFINISHED, targets=texts(named or ['']), within=texts(around or [''])
        )
        return [self._session.mapper.action(row) for row in rows]

    def drop_actions(self, ids: Iterable[int]) -> None:
        session, wanted = self._session, sorted(set(ids))
        if not wanted:
            return
        rows = session.rows(DROPPED, ids=session.dialect.ids(wanted))
        found = session.dialect.ids(row[0] for row in rows)
        if rows:
            for column in ('parent_id', 'child_id'):
                session.count(DELETE_EDGES.format(column), ids=found)
            session.count(DELETE_ACTIONS, ids=found)

    def insert_binding(self, binding: Binding) -> Binding:
        session = self._session
        if not session.rows(HOLD_POLICY, id=binding.policy_id):
            raise exceptions.Conflict('The policy has been deleted.')
        values = BINDINGS.values(binding, session.mapper.sealing)
        del values['id']
        try:
            return binding.evolve(id=session.insert('bindings', values))
        except exceptions.StoreConflict:
            raise
        except exceptions.Conflict as error:
            text = 'The cluster has that policy already.'
            raise exceptions.Conflict(text) from error

    def save_bindings(self, bindings: Sequence[Binding]) -> None:
        self._save_all(self._save_bindings, BINDINGS, bindings)

    def delete_bindings(self, ids: Iterable[int]) -> None:
        wanted = sorted(set(ids))
        if wanted:
            self._session.count(DELETE_BINDINGS, ids=self._session.dialect.ids(wanted))

    def bindings_of(self, cluster_id: int) -> list[Bound]:
        ids = self._session.dialect.ids([cluster_id])
        rows = self._session.rows(BINDINGS_OF, ids=ids)
        return bound(rows, self._session.mapper).get(cluster_id, [])

    def _lock_by_uuid(self, rows: Rows[Any], uuids: Iterable[str]) -> list[Any]:
        wanted = sorted(set(uuids))
        if not wanted:
            return []
        texts, session = self._session.dialect.texts(wanted), self._session
        if session.dialect.returning:
            found = session.rows(
                LOCK_BY_UUID.format(rows.select, rows.table), uuids=texts
            )
            return [rows.made(row, session.mapper) for row in found]
        # MySQL locks in the order in which it reads. Others lock them by their ids.
        found = session.rows(IDS.format(rows.table), uuids=texts)
        return self._lock_rows(rows, [row[0] for row in found])

    def _lock_rows(self, rows: Rows[Any], ids: Sequence[int]) -> list[Any]:
        if not ids:
            return []
        found = self._session.rows(
            LOCK.format(rows.select, rows.table), ids=self._session.dialect.ids(ids)
        )
        return [rows.made(row, self._session.mapper) for row in found]

    def _save_all(self, batch: Batch, kind: Rows[Any], rows: Iterable[Any]) -> None:
        sealing = self._session.mapper.sealing
        values = [kind.values(row, sealing) for row in rows]
        if values:
            # By id, so that rows are written in the same order by everybody.
            values.sort(key=lambda row: row['id'] or 0)
            listed: list[Row] = [[row[c] for c in batch.columns] for row in values]
            self._write(batch, listed)
