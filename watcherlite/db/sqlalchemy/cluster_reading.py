"""The part of the store that answers readers of clusters and nodes."""

from collections.abc import Iterable, Sequence
from typing import Any

from watcherlite import exceptions
from watcherlite.db import clusters
from watcherlite.db.clusters import (
    ClusterEventQuery,
    ClusterObject,
    ListedAction,
    ObjectQuery,
)
from watcherlite.db.sqlalchemy.cluster_changes import BINDINGS_OF, bound
from watcherlite.db.sqlalchemy.cluster_events import ClusterHistory
from watcherlite.db.sqlalchemy.cluster_lists import ObjectPage, named_rows
from watcherlite.db.sqlalchemy.cluster_rows import CLUSTERS, NODES, NOUNS, Rows
from watcherlite.db.sqlalchemy.columns import ACTION, ACTION_COLUMNS
from watcherlite.db.sqlalchemy.database import Database
from watcherlite.db.sqlalchemy.outbox import EVENT_COLUMNS
from watcherlite.domain.actions import Action
from watcherlite.domain.clusters import Bound, Cluster, Node
from watcherlite.domain.events import StoredEvent

NODES_OF = (
    f'SELECT {NODES.select} FROM nodes BY(ix_nodes_cluster_id_hidden_id) '
    'WHERE cluster_id IN_IDS(:ids) AND hidden = 0 ORDER BY id'
)
# All ways in one: the actions that a page's depend on, those that depend on these, and
# those that hold the locks that these wait for.
RELATED = (
    'SELECT d.child_id, 1, p.uuid, p.id, p.action_type FROM action_dependencies AS d '
    "JOIN actions AS p ON p.id = d.parent_id AND p.ended = '' "
    'WHERE d.child_id IN_IDS(:ids) '
    'UNION ALL SELECT d.parent_id, 2, c.uuid, c.id, c.action_type '
    'FROM action_dependencies AS d '
    "JOIN actions AS c ON c.id = d.child_id AND c.ended = '' "
    'WHERE d.parent_id IN_IDS(:ids) '
    'UNION ALL SELECT q.id, 3, h.uuid, h.id, h.action_type FROM actions AS q '
    'JOIN locks AS l ON l.target = q.blocked_on '
    'JOIN actions AS h ON h.id = l.action_id '
    "WHERE q.id IN_IDS(:ids) AND q.status = 'WAITING' AND h.id <> q.id "
    'UNION ALL SELECT q.id, 3, h.uuid, h.id, h.action_type FROM actions AS q '
    'JOIN shared_locks AS s ON s.target = q.blocked_on '
    'JOIN actions AS h ON h.id = s.action_id '
    "WHERE q.id IN_IDS(:ids) AND q.status = 'WAITING' AND h.id <> q.id"
)
_ID = list(ACTION).index('id')
_UUID = list(ACTION).index('uuid')


class Clusters:
    """`db.clusters.ClusterStore`, but for the purge."""

    _db: Database

    def find_object(
        self, kind: type[ClusterObject], name: str, tenant: str | None
    ) -> ClusterObject:
        rows = NOUNS[kind]
        found = self._named(kind, rows.select, list(rows.columns), name, tenant)
        noun: ClusterObject = rows.made(found, self._db.mapper)
        return noun

    def find_cluster_action(self, name: str, tenant: str | None) -> ListedAction:
        found = self._named(Action, ACTION_COLUMNS, list(ACTION), name, tenant)
        return self._related([self._db.mapper.action(found)])[0]

    def _named(
        self,
        kind: type,
        select: str,
        columns: Sequence[str],
        name: str,
        tenant: str | None,
    ) -> Sequence[Any]:
        """Return the row that a name means; NotFound, Ambiguous."""
        statement, values = named_rows(kind, select, name, tenant)
        rows = self._db.rows(statement, **values)
        if not rows:
            raise clusters.not_found(kind, name)
        best = min(row[-1] for row in rows)
        rows = [row for row in rows if row[-1] == best]
        if len(rows) > 1:
            at, number = columns.index('uuid'), columns.index('id')
            rows.sort(key=lambda row: row[number])
            uuids = [row[at] for row in rows[: clusters.LISTED]]
            raise exceptions.Ambiguous(name, uuids)
        return rows[0][:-1]

    def list_objects(
        self, kind: type[ClusterObject], query: ObjectQuery
    ) -> list[ClusterObject]:
        rows = NOUNS[kind]
        found = self._page_of(kind, query, rows.select, list(rows.columns))
        return [rows.made(row, self._db.mapper) for row in found]

    def list_cluster_actions(self, query: ObjectQuery) -> list[ListedAction]:
        found = self._page_of(Action, query, ACTION_COLUMNS, list(ACTION))
        return self._related([self._db.mapper.action(row) for row in found])

    def _page_of(
        self, kind: type, query: ObjectQuery, select: str, columns: Sequence[str]
    ) -> list[Sequence[Any]]:
        page = ObjectPage(kind, query, self._db.dialect, select)
        rows = self._db.rows(page.template, **page.values)
        if not rows and query.after is not None:
            raise clusters.not_found(kind, query.after)
        number = columns.index('id')
        # A marker without a page has a row for itself.
        return [row for row in rows if row[number] is not None]

    def _related(self, actions: Sequence[Action]) -> list[ListedAction]:
        if not actions:
            return []
        ids = self._db.dialect.ids(action.id for action in actions)
        found: dict[tuple[int, int], list[tuple[int, str, str]]] = {}
        for key, way, uuid, number, action_type in self._db.rows(RELATED, ids=ids):
            related = number, uuid, action_type
            found.setdefault((key, way), []).append(related)

        def listed(action: Action) -> ListedAction:
            before, after, holders = (
                sorted(found.get((action.id, way), ())) for way in (1, 2, 3)
            )
            return ListedAction(
                action,
                tuple(uuid for _, uuid, _ in before),
                tuple(uuid for _, uuid, _ in after),
                tuple((action_type, uuid) for _, uuid, action_type in holders),
            )

        return [listed(action) for action in actions]

    def objects_by_id(
        self, kind: type[ClusterObject], ids: Iterable[int]
    ) -> dict[int, ClusterObject]:
        rows, wanted = NOUNS[kind], sorted(set(ids))
        if not wanted:
            return {}
        found = self._db.rows(
            f'SELECT {rows.select} FROM {rows.table} WHERE id IN_IDS(:ids) ORDER BY id',
            ids=self._db.dialect.ids(wanted),
        )
        nouns = [rows.made(row, self._db.mapper) for row in found]
        return {noun.id: noun for noun in nouns}

    def clusters_by_uuid(self, uuids: Iterable[str]) -> dict[str, Cluster]:
        return self._by_uuid(CLUSTERS, uuids)

    def nodes_by_uuid(self, uuids: Iterable[str]) -> dict[str, Node]:
        return self._by_uuid(NODES, uuids)

    def _by_uuid(self, rows: Rows[Any], uuids: Iterable[str]) -> dict[str, Any]:
        wanted = sorted(set(uuids))
        if not wanted:
            return {}
        found = self._db.rows(
            f'SELECT {rows.select} FROM {rows.table} WHERE uuid IN_TEXTS(:uuids)',
            uuids=self._db.dialect.texts(wanted),
        )
        nouns = [rows.made(row, self._db.mapper) for row in found]
        return {noun.uuid: noun for noun in nouns}

    def nodes_of(self, cluster_ids: Iterable[int]) -> list[Node]:
        ids = sorted(set(cluster_ids))
        if not ids:
            return []
        rows = self._db.rows(NODES_OF, ids=self._db.dialect.ids(ids))
        return [NODES.made(row, self._db.mapper) for row in rows]

    def bindings_of_clusters(
        self, cluster_ids: Iterable[int]
    ) -> dict[int, list[Bound]]:
        ids = sorted(set(cluster_ids))
        if not ids:
            return {}
        rows = self._db.rows(BINDINGS_OF, ids=self._db.dialect.ids(ids))
        return bound(rows, self._db.mapper)

    def list_cluster_events(self, query: ClusterEventQuery) -> list[StoredEvent]:
        history = ClusterHistory(query, self._db.dialect, EVENT_COLUMNS)
        rows = self._db.rows(history.template, **history.values)
        if not rows and query.after is not None:
            raise exceptions.NotFound(f'There is no event {query.after}.')
        stored_event = self._db.mapper.stored_event
        return [stored_event(row) for row in rows if row[0] is not None]
