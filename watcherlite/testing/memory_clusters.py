"""The parts of the in-memory store about clusters and what they are made from."""

import dataclasses
import datetime
import operator
import threading
from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Any, TypeVar

from watcherlite import exceptions
from watcherlite.db import clustering
from watcherlite.db.clustering import (
    ClusterEventQuery,
    ListedAction,
    NounQuery,
    Plain,
)
from watcherlite.domain import events
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
from watcherlite.domain.events import Event, StoredEvent
from watcherlite.testing.memory_tables import Tables, handed_out, is_awaited, stored

Noun = TypeVar('Noun', Profile, PolicyObject, Cluster, Node, Receiver)

#: What of a row never changes, its id apart.
_NEVER = ('uuid', 'owner', 'origin', 'init_at', 'handler', 'spec', 'type', 'created_at')
#: What does so all the same, by kind.
_CHANGES: dict[type, tuple[str, ...]] = {
    Cluster: ('created_at',),
    Node: ('created_at', 'handler'),
}
_SUBJECTS = (events.CLUSTER, events.NODE)


class MemoryClusterTransaction:
    """`db.clustering.ClusterTransaction` on the tables."""

    _tables: Tables
    _locked_rows: set[tuple[str, int]]

    def insert_noun(self, row: Noun) -> Noun:
        table = self._tables.nouns[type(row)]
        if (type(row), row.uuid) in self._tables.noun_ids:
            title = clustering.TITLES[type(row)]
            raise exceptions.Conflict(f'There is already a {title} {row.uuid}.')
        self._check_profiles([row])
        key = table.next_key()
        table.put(key, _kept(row.evolve(id=key)))
        self._locked_rows.add((type(row).__name__, key))
        return handed_out(table.rows[key])

    def insert_nodes(self, nodes: Sequence[Node]) -> list[int]:
        return [self.insert_noun(node).id or 0 for node in nodes]

    def lock_noun(self, row: Plain) -> Plain | None:
        return next(iter(self._lock_rows(type(row), [row.id or 0])), None)

    def save_noun(self, row: Profile | PolicyObject | Receiver) -> None:
        self._write_noun(row)

    def delete_noun(self, row: Profile | PolicyObject | Receiver) -> None:
        tables = self._tables
        living = [r for r in tables.clusters.rows.values() if r.deleted_at is None]
        if isinstance(row, Profile):
            nodes = [r for r in tables.nodes.rows.values() if r.deleted_at is None]
            used = {r.profile_id for r in living} | {r.profile_id for r in nodes}
            if row.id in used:
                raise clustering.in_use(Profile, row.uuid, 'clusters or nodes')
        if isinstance(row, PolicyObject):
            alive = {cluster.id for cluster in living}
            bound = [
                binding
                for binding in tables.bindings.rows.values()
                if binding.policy_id == row.id
            ]
            if any(binding.cluster_id in alive for binding in bound):
                raise clustering.in_use(PolicyObject, row.uuid, 'clusters')
            self.delete_bindings([binding.id or 0 for binding in bound])
        table = tables.nouns[type(row)]
        if row.id in table.rows:
            table.drop(row.id)

    def lock_clusters(self, uuids: Iterable[str]) -> dict[str, Cluster]:
        found = self._lock_rows(Cluster, self._keys(Cluster, uuids))
        return {row.uuid: row for row in found}

    def lock_clusters_by_id(self, ids: Iterable[int]) -> dict[int, Cluster]:
        found = self._lock_rows(Cluster, ids)
        return {row.id: row for row in found}

    def save_clusters(self, clusters: Iterable[Cluster]) -> None:
        for cluster in clusters:
            self._check_noun('Cluster', cluster.id)
            self._write_noun(cluster)

    def lock_nodes(self, uuids: Iterable[str]) -> dict[str, Node]:
        found = self._lock_rows(Node, self._keys(Node, uuids))
        return {row.uuid: row for row in found}

    def lock_nodes_of(self, cluster_id: int) -> list[Node]:
        living = _nodes_of(self._tables, [cluster_id])
        return self._lock_rows(Node, [node.id or 0 for node in living])

    def save_nodes(self, nodes: Sequence[Node]) -> None:
        for node in nodes:
            self._check_noun('Node', node.id)
            self._write_noun(node)

    def count_nodes(self, cluster_ids: Iterable[int]) -> dict[int, dict[str, int]]:
        counts: dict[int, dict[str, int]] = {}
        for node in _nodes_of(self._tables, cluster_ids):
            of = counts.setdefault(node.cluster_id or 0, {})
            of[node.status] = of.get(node.status, 0) + 1
        return counts

    def unfinished_actions(
        self, targets: Iterable[str], within: Iterable[str] = ()
    ) -> list[Action]:
        index, tables = self._tables.index, self._tables
        rows = tables.actions.rows
        keys = {key for name in set(within) for key in index.of(('within', name))}
        for name in set(targets):
            keys |= {
                key
                for key in index.of(('aimed', name))
                # Those of plans may be far from their turn.
                if rows[key].tenant is not None
                or rows[key].blocked_on == name
                or tables.locks.rows.get(name) == key
            }
        return [handed_out(rows[key]) for key in sorted(keys)]

    def insert_binding(self, binding: Binding) -> Binding:
        table = self._tables.bindings
        known = table.rows.values()
        pair = (binding.cluster_id, binding.policy_id)
        if any(pair == (row.cluster_id, row.policy_id) for row in known):
            raise exceptions.Conflict('The cluster has that policy already.')
        if binding.policy_id not in self._tables.policies.rows:
            raise exceptions.Conflict('The policy has been deleted.')
        key = table.next_key()
        table.put(key, stored(binding.evolve(id=key)))
        return handed_out(table.rows[key])

    def save_bindings(self, bindings: Sequence[Binding]) -> None:
        for binding in bindings:
            self._check_noun('Cluster', binding.cluster_id)
            known = self._tables.bindings.rows.get(binding.id)
            if known is not None:
                never = ('uuid', 'cluster_id', 'policy_id')
                same = {name: getattr(known, name) for name in never}
                self._tables.bindings.put(known.id, stored(binding.evolve(**same)))

    def delete_bindings(self, ids: Iterable[int]) -> None:
        for key in set(ids):
            if key in self._tables.bindings.rows:
                self._tables.bindings.drop(key)

    def bindings_of(self, cluster_id: int) -> list[Bound]:
        return _bindings(self._tables, [cluster_id]).get(cluster_id, [])

    def _keys(self, kind: type, uuids: Iterable[str]) -> list[int]:
        known = self._tables.noun_ids
        return [known[kind, uuid] for uuid in uuids if (kind, uuid) in known]

    def _lock_rows(self, kind: type, ids: Iterable[int]) -> list[Any]:
        rows = self._tables.nouns[kind].rows
        keys = [key for key in sorted(set(ids)) if key in rows]
        self._locked_rows |= {(kind.__name__, key) for key in keys}
        return [handed_out(rows[key]) for key in keys]

    def _write_noun(self, row: Any) -> None:
        table = self._tables.nouns[type(row)]
        known = table.rows.get(row.id)
        if known is None:
            return
        changes = _CHANGES.get(type(row), ())
        never = [n for n in _NEVER if hasattr(row, n) and n not in changes]
        same = {name: getattr(known, name) for name in never}
        table.put(row.id, _kept(row.evolve(**same)))

    def _check_noun(self, kind: str, key: int | None) -> None:
        if (kind, key) not in self._locked_rows:
            # Found at once here, and now and then in a database: a lost update.
            raise ValueError(f'{kind.lower()} {key} was not locked')

    def _check_profiles(self, rows: Iterable[Any]) -> None:
        for row in rows:
            if not isinstance(row, Cluster | Node):
                continue
            if row.profile_id not in self._tables.profiles.rows:
                raise exceptions.Conflict('The profile has been deleted.')


class MemoryClustering:
    """`db.clustering.Clustering` on the tables."""

    _lock: threading.RLock
    _tables: Tables

    def find_noun(self, kind: type[Noun], name: str, tenant: str | None) -> Noun:
        with self._lock:
            found = self._named(kind, name, self._all_of(kind, tenant))
            return handed_out(found)

    def find_cluster_action(self, name: str, tenant: str | None) -> ListedAction:
        with self._lock:
            return self._shown_action(
                self._named(Action, name, self._all_of(Action, tenant))
            )

    def list_noun(self, kind: type[Noun], query: NounQuery) -> list[Noun]:
        with self._lock:
            return [handed_out(row) for row in self._page_of(kind, query)]

    def list_cluster_actions(self, query: NounQuery) -> list[ListedAction]:
        with self._lock:
            return [self._shown_action(row) for row in self._page_of(Action, query)]

    def nouns_by_id(self, kind: type[Noun], ids: Iterable[int]) -> dict[int, Noun]:
        with self._lock:
            rows = self._tables.nouns[kind].rows
            keys = sorted(set(ids))
            return {key: handed_out(rows[key]) for key in keys if key in rows}

    def clusters_by_uuid(self, uuids: Iterable[str]) -> dict[str, Cluster]:
        return self._nouns_by_uuid(Cluster, uuids)

    def nodes_by_uuid(self, uuids: Iterable[str]) -> dict[str, Node]:
        return self._nouns_by_uuid(Node, uuids)

    def nodes_of(self, cluster_ids: Iterable[int]) -> list[Node]:
        with self._lock:
            return [handed_out(row) for row in _nodes_of(self._tables, cluster_ids)]

    def bindings_of_clusters(
        self, cluster_ids: Iterable[int]
    ) -> dict[int, list[Bound]]:
        with self._lock:
            return _bindings(self._tables, cluster_ids)

    def list_cluster_events(self, query: ClusterEventQuery) -> list[StoredEvent]:
        for name in query.filters:
            if name not in clustering.EVENT_FILTERS:
                raise ValueError(f'an event has no filter {name}')
        with self._lock:
            rows = self._tables.events.rows
            keys = [
                key
                for key in sorted(rows, reverse=query.descending)
                if rows[key].event.subject in _SUBJECTS
                and query.tenant in (None, self._event_tenant(rows[key].event))
            ]
            if query.after is not None:
                uuids = [rows[key].event.uuid for key in keys]
                if query.after not in uuids:
                    raise exceptions.NotFound(f'There is no event {query.after}.')
                keys = keys[uuids.index(query.after) + 1 :]
            found = [
                StoredEvent(key, handed_out(rows[key].event))
                for key in keys
                if self._is_asked_for(rows[key].event, query)
            ]
            return found[: query.limit]

    def purge_clusters(
        self, before: datetime.datetime, limit: int, dry_run: bool = False
    ) -> Mapping[str, Any]:
        with self._lock:
            going = self.purged_of_clusters(before, limit)
            if not dry_run:
                for name, keys in going.items():
                    for key in keys:
                        self._tables.drop_row(getattr(self._tables, name), key)
            return {n: len(keys) for n, keys in going.items() if n != 'bindings'}

    def purged_of_clusters(
        self, before: datetime.datetime, limit: int
    ) -> dict[str, list[int]]:
        """Return the keys of the rows that would be deleted, by table."""
        tables = self._tables
        nodes = [
            key for key, row in tables.nodes.rows.items() if self._row_goes(row, before)
        ]
        leaving = frozenset(nodes)
        kept = {r.cluster_id for k, r in tables.nodes.rows.items() if k not in leaving}
        clusters = [
            key
            for key, row in tables.clusters.rows.items()
            if self._row_goes(row, before) and key not in kept
        ][:limit]
        names = {tables.nodes.rows[key].uuid for key in nodes}
        names |= {tables.clusters.rows[key].uuid for key in clusters}
        history = [
            *((events.CLUSTER, key) for key in clusters),
            *((events.NODE, key) for key in nodes),
        ]
        return {
            'clusters': clusters,
            'nodes': nodes,
            'actions': self._actions_gone(names),
            'events': [
                key for of in history for key in tables.index.of(('history', *of))
            ],
            'bindings': [
                key
                for key, row in tables.bindings.rows.items()
                if row.cluster_id in clusters
            ],
        }

    def _actions_gone(self, targets: Collection[str]) -> list[int]:
        rows, tables = self._tables.actions.rows, self._tables
        pending = tables.index.of('pending')
        told = {tables.events.rows[key].event.action_id for key in pending}

        return [
            key
            for key, row in rows.items()
            if row.tenant is not None
            and row.target in targets
            and row.finished
            and key not in told
            and not is_awaited(row, rows.get(row.derived_from or 0))
        ]

    def _row_goes(self, row: Cluster | Node, before: datetime.datetime) -> bool:
        if row.deleted_at is None or row.deleted_at >= before:
            return False
        index, tables = self._tables.index, self._tables
        subject = events.CLUSTER if isinstance(row, Cluster) else events.NODE
        # The relay still reads what it has to publish events of.
        told = index.of(('history', subject, row.id))
        if any(tables.events.rows[key].published_at is None for key in told):
            return False
        return not any(
            (row.uuid in (action.target, action.within)) and not action.finished
            for action in tables.actions.rows.values()
        )

    # what the methods share

    def _nouns_by_uuid(self, kind: type, uuids: Iterable[str]) -> dict[str, Any]:
        with self._lock:
            known, rows = self._tables.noun_ids, self._tables.nouns[kind].rows
            return {
                uuid: handed_out(rows[known[kind, uuid]])
                for uuid in uuids
                if (kind, uuid) in known
            }

    def _all_of(
        self, kind: type, tenant: str | None, deleted: bool = False
    ) -> list[Any]:
        if kind is Action:
            rows: Iterable[Any] = self._tables.actions.rows.values()
        else:
            rows = self._tables.nouns[kind].rows.values()
        return [
            row
            for row in sorted(rows, key=lambda row: row.id)
            if (tenant is None or _tenant(row) == tenant)
            and _tenant(row) is not None
            and (deleted or getattr(row, 'deleted_at', None) is None)
        ]

    def _named(self, kind: type, name: str, rows: Sequence[Any]) -> Any:
        short = clustering.short_id(name)
        found = (
            [row for row in rows if row.uuid == name.lower()]
            or [row for row in rows if row.name == name]
            or [row for row in rows if short and row.uuid.startswith(short)]
        )
        if not found:
            raise clustering.not_found(kind, name)
        if len(found) > 1:
            uuids = [row.uuid for row in found[: clustering.LISTED]]
            raise exceptions.Ambiguous(name, uuids)
        return found[0]

    def _page_of(self, kind: type, query: NounQuery) -> list[Any]:
        clustering.check(kind, query)
        rows = self._all_of(kind, query.tenant)
        page = _sorted(kind, [row for row in rows if _fits(row, query.filters)], query)
        if query.after is not None:
            everything = self._all_of(kind, query.tenant, deleted=True)
            marker = [row for row in everything if row.uuid == query.after]
            if not marker:
                raise clustering.not_found(kind, query.after)
            others = [row for row in page if row.uuid != query.after]
            both = _sorted(kind, [*others, *marker], query)
            page = both[both.index(marker[0]) + 1 :]
        return page[: query.limit]

    def _shown_action(self, action: Action) -> ListedAction:
        tables, key = self._tables, action.id or 0

        def unfinished(keys: Iterable[int]) -> tuple[str, ...]:
            rows = [tables.actions.rows[other] for other in sorted(keys)]
            return tuple(row.uuid for row in rows if not row.finished)

        return ListedAction(
            handed_out(action),
            unfinished(tables.parents.get(key, ())),
            unfinished(tables.children.get(key, ())),
        )

    def _event_tenant(self, event: Event) -> str | None:
        kind = Cluster if event.subject == events.CLUSTER else Node
        row = self._tables.nouns[kind].rows.get(event.subject_id)
        return row.owner.tenant if row is not None else None

    def _is_asked_for(self, event: Event, query: ClusterEventQuery) -> bool:
        detail = event.detail or {}
        around = clustering.is_within(event)
        clusters = self._tables.clusters.rows
        seen = {
            'uuid': event.uuid,
            'subject': event.subject,
            'about': (event.subject, event.subject_id),
            'cluster_id': next((k for k, r in clusters.items() if r.uuid == around), 0),
            'name': detail.get('name'),
            'action': (detail.get('action') or {}).get('type'),
            'level': clustering.level_of(event),
        }
        return all(seen[name] in values for name, values in query.filters.items())


def _tenant(row: Any) -> str | None:
    return row.tenant if isinstance(row, Action) else row.owner.tenant


def _value(row: Any, key: str) -> Any:
    if isinstance(row, Action) and key == 'action':
        return row.action_type
    return row.owner.user if key == 'user' else getattr(row, key)


def _fits(row: Any, filters: Mapping[str, Collection[Any]]) -> bool:
    for name, values in filters.items():
        if isinstance(row, Action) and name == 'cluster_id':
            if (row.within or row.target) not in values:
                return False
        elif _value(row, name) not in values:
            return False
    return True


def _sorted(kind: type, rows: list[Any], query: NounQuery) -> list[Any]:
    sort = query.sort or ((clustering.DEFAULT_SORT[kind], False),)
    rows = sorted(rows, key=lambda row: row.id or 0, reverse=sort[-1][1])
    for key, descending in reversed(dict(sort).items()):
        value = operator.itemgetter(0)
        valued = [(_value(row, key), row) for row in rows]
        present = [pair for pair in valued if pair[0] is not None]
        present.sort(key=value, reverse=descending)
        missing = [row for found, row in valued if found is None]
        rows = [*(row for _, row in present), *missing]
    return rows


def _nodes_of(tables: Tables, cluster_ids: Iterable[int]) -> list[Node]:
    keys = {k for one in set(cluster_ids) for k in tables.index.of(('nodes', one))}
    rows = (tables.nodes.rows[key] for key in sorted(keys))
    return [row for row in rows if row.deleted_at is None]


def _bindings(tables: Tables, cluster_ids: Iterable[int]) -> dict[int, list[Bound]]:
    wanted = frozenset(cluster_ids)
    rows = [row for row in tables.bindings.rows.values() if row.cluster_id in wanted]
    found: dict[int, list[Bound]] = {}
    for row in sorted(rows, key=lambda row: (row.cluster_id, row.priority, row.id)):
        bound = Bound(handed_out(row), handed_out(tables.policies.rows[row.policy_id]))
        found.setdefault(row.cluster_id, []).append(bound)
    return found


def _kept(row: Any) -> Any:
    """Return a row as it is kept: no database has NUL characters in text."""
    values = {field.name: getattr(row, field.name) for field in dataclasses.fields(row)}
    return stored(
        row.evolve(
            **{
                name: value.replace('\x00', '?')
                for name, value in values.items()
                if isinstance(value, str) and '\x00' in value
            }
        )
    )
