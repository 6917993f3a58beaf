"""Contract of the store: searches, lists and events of clusters."""

import dataclasses
import functools
import itertools
from collections.abc import Callable
from typing import Any

from tests.contract.cluster_case import (
    OTHER,
    OWNER,
    ClusterCase,
    cluster_event,
    make_cluster,
    make_receiver,
)
from tests.contract.store_case import in_order
from tests.factories import at, make_action, make_event, new_uuid, store_plan
from watcherlite import exceptions
from watcherlite.db.api import Transaction
from watcherlite.db.clusters import (
    DEFAULT_SORT,
    FILTERS,
    LISTED,
    SORT_KEYS,
    TIMED,
    ListedClusterAction,
)
from watcherlite.db.query import EventQuery, Query
from watcherlite.domain.actions import Action
from watcherlite.domain.clusters import Cluster, Node, PolicyObject, Profile, Receiver

TENANT = OWNER.tenant


def value_of(row: Any, key: str) -> Any:
    """Return the value of a sort key in a row."""
    if isinstance(row, Action) and key == 'action':
        return row.action_type
    return getattr(row, key)


class StoreClusterListsContract(ClusterCase):
    """Searches by name, pages, and the visibility of projects."""

    # Searches

    def test_a_name_matches_by_uuid_then_name_then_uuid_prefix(self) -> None:
        uuid = 'abcd1234-0000-4000-8000-000000000001'
        first = self.insert_cluster(uuid=uuid, name='web')
        # One is named like the uuid of the first, the other like a prefix of it.
        second = self.insert_cluster(name=uuid)
        third = self.insert_cluster(name='abcd12')
        find = self.store.find_object
        for name, expected in (
            (uuid, first),
            (uuid.upper(), first),
            ('web', first),
            ('abcd', first),
            ('ABCD1234-00', first),
            ('abcd12', third),
            (second.uuid, second),
        ):
            self.assertEqual(expected, find(Cluster, name, TENANT), name)
            self.assertEqual(expected, find(Cluster, name, None), name)
            with self.assertRaisesRegex(exceptions.NotFound, f"cluster '{name}'"):
                find(Cluster, name, OTHER.tenant)

    def test_a_uuid_prefix_needs_four_hex_digits(self) -> None:
        self.insert_cluster(uuid='abcd1234-0000-4000-8000-000000000001')
        names = ('abc', 'abcd%', '%', '____', 'abc_', 'abcdx', '', 'abcd 1', 'abce')
        for name in names:
            for kind in (Cluster, Node, Profile):
                with self.assertRaises(exceptions.NotFound):
                    self.store.find_object(kind, name, TENANT)
            with self.assertRaises(exceptions.NotFound):
                self.store.find_cluster_action(name, TENANT)

    def test_an_ambiguous_name_is_an_error_with_the_uuids(self) -> None:
        profile = self.insert_profile()
        uuids = [f'abcd0000-0000-4000-8000-0000000000{n:02}' for n in range(12)]
        for uuid in uuids:
            self.store_object(make_cluster(profile, uuid=uuid, name='dup'))
        for name in ('dup', 'abcd'):
            for tenant in (TENANT, None):
                with self.assertRaises(exceptions.Ambiguous) as caught:
                    self.store.find_object(Cluster, name, tenant)
                self.assertEqual(uuids[:LISTED], caught.exception.uuids)
                for uuid in uuids[:LISTED]:
                    self.assertIn(uuid, str(caught.exception))
        self.assertTrue(issubclass(exceptions.Ambiguous, exceptions.Invalid))

    def test_softly_deleted_objects_do_not_match(self) -> None:
        gone, cluster = self.insert_cluster(name='web'), self.insert_cluster(name='web')
        self.delete_softly(gone)
        self.assertEqual(cluster, self.store.find_object(Cluster, 'web', TENANT))
        (node,) = self.insert_nodes(cluster, {})
        self.delete_softly(node)
        for kind, uuid in ((Cluster, gone.uuid), (Node, node.uuid)):
            for name in (uuid, uuid[:8]):
                with self.assertRaises(exceptions.NotFound):
                    self.store.find_object(kind, name, None)

    def test_an_action_of_a_project_is_found_with_its_related_actions(self) -> None:
        uuids = [new_uuid() for _ in range(4)]
        parent, _, action, child = uuids
        rows = self.insert_actions(
            {'uuid': parent, 'status': 'RUNNING'},
            {'uuid': uuids[1], 'status': 'SUCCEEDED'},
            {'uuid': action, 'name': 'action', 'parents': tuple(uuids[:2])},
            {'uuid': child, 'parents': (action,)},
        )
        expected = ListedClusterAction(rows[2], (parent,), (child,))
        for name in (action, 'action', action[:13]):
            found = self.store.find_cluster_action(name, TENANT)
            self.assertEqual(expected, found, name)
            with self.assertRaisesRegex(exceptions.NotFound, 'action'):
                self.store.find_cluster_action(name, OTHER.tenant)
        self.assertEqual(
            [
                ListedClusterAction(rows[0], (), (action,)),
                ListedClusterAction(rows[1], (), (action,)),
                expected,
                ListedClusterAction(rows[3], (action,), ()),
            ],
            self.store.list_cluster_actions(Query(tenant=TENANT)),
        )

    def test_a_waiting_action_has_the_holders_of_its_lock(self) -> None:
        of_node = {'target': 'n', 'within': 'c'}
        of_cluster = {'target': 'c', 'action_type': 'CLUSTER_CHECK', 'blocked_on': 'c'}
        waits = {'status': 'WAITING'}
        first, second, *_ = self.insert_actions(
            {**of_node, 'action_type': 'NODE_CHECK', 'status': 'RUNNING'},
            {**of_node, **waits, 'action_type': 'NODE_UPDATE', 'blocked_on': 'n'},
            {**of_cluster, **waits},
            of_cluster,
        )
        self.commit(lambda tx: tx.share_locks({'c': [first.id, second.id]}))
        self.commit(lambda tx: tx.acquire_locks({'n': first.id}))

        listed = self.store.list_cluster_actions(Query(tenant=TENANT))
        of_first = ('NODE_CHECK', first.uuid)
        self.assertEqual(
            [(), (of_first,), (of_first, ('NODE_UPDATE', second.uuid)), ()],
            [one.holders for one in listed],
        )

    def test_only_ended_actions_without_plan_are_dropped(self) -> None:
        _, (planned,) = store_plan(self.store, make_action(name='planned'))
        derived = new_uuid()
        rows = self.insert_actions(
            {'uuid': derived, 'status': 'FAILED'},
            {'status': 'SUCCEEDED', 'parents': (derived,)},
            {'status': 'RUNNING'},
        )

        self.commit(lambda tx: tx.drop_actions([*(row.id for row in rows), planned.id]))
        self.commit(lambda tx: tx.drop_actions([]))

        self.assertEqual([rows[2]], self.noun_page(Action))
        self.assertEqual(planned, self.store.get_action(planned.uuid))

    def test_join_actions_of_nodes_are_actions_of_the_cluster(self) -> None:
        (parent,) = self.insert_actions(
            {'action_type': 'CLUSTER_ADD_NODES', 'target': 'c'}
        )
        (joins,) = self.insert_actions(
            {
                'action_type': 'NODE_JOIN',
                'target': 'n',
                'derived_from': parent.id,
                'inputs': {'cluster_id': 'c'},
            }
        )

        found = self.noun_page(Action, filters={'cluster_id': ['c']})

        self.assertEqual([parent, joins], found)

    def test_actions_of_plans_and_stacks_are_not_listed(self) -> None:
        _, (planned,) = store_plan(self.store, make_action(name='p'))
        (lone,) = self.insert_actions({'tenant': None, 'name': 's'})
        self.assertEqual([], self.store.list_cluster_actions(Query()))
        for action in (planned, lone):
            for name in (action.uuid, action.name or '', action.uuid[:8]):
                with self.assertRaises(exceptions.NotFound):
                    self.store.find_cluster_action(name, None)
            with self.assertRaises(exceptions.NotFound):
                self.store.list_cluster_actions(Query(after=action.uuid))

    # Pages

    def insert_each_class(self) -> dict[type, list[Any]]:
        """Store rows of each noun with different sort values."""
        profiles = [
            self.insert_profile(
                name=f'p{n % 2}',
                type=f't{n % 3}',
                created_at=at(-n) if n else None,
                updated_at=at(n) if n % 2 else None,
            )
            for n in range(5)
        ]
        policies = [
            self.insert_policy(
                name=f'p{n % 2}', type=f't{n % 3}', updated_at=at(n) if n > 2 else None
            )
            for n in range(5)
        ]
        clusters = [
            self.insert_cluster(
                profile=profiles[0],
                name=f'c{n % 3}',
                status=('ACTIVE', 'ERROR')[n % 2],
                init_at=at(-n),
                created_at=at(n % 2) if n % 3 else None,
                updated_at=at(-n) if n > 2 else None,
            )
            for n in range(6)
        ]
        nodes = self.insert_nodes(
            clusters[0],
            *(
                {
                    'name': f'n{n % 3}',
                    'index': n % 4 - 1,
                    'status': ('ACTIVE', 'ERROR')[n % 2],
                    'init_at': at(n // 2),
                    'created_at': at(-n) if n % 3 else None,
                    'updated_at': at(n % 2) if n > 2 else None,
                    'cluster_id': (clusters[0].id, clusters[1].id, None)[n % 3],
                }
                for n in range(7)
            ),
        )
        receivers = [
            self.store_object(
                make_receiver(
                    name=f'r{n % 2}',
                    type=('webhook', 'message')[n % 2],
                    action=f'A{n % 2}' if n else None,
                    cluster_id=clusters[n % 2].id if n > 1 else None,
                    created_at=at(-n),
                )
            )
            for n in range(5)
        ]
        actions = self.insert_actions(
            *(
                {
                    'name': f'a{n % 3}' if n else None,
                    'target': (clusters[n % 2].uuid, nodes[0].uuid, None)[n % 3],
                    'within': clusters[0].uuid if n % 3 == 1 else None,
                    'action_type': f'T{n % 2}',
                    'created_at': at(n // 2),
                    'status': status,
                    'start_time': at(9 - n // 2) if n % 3 else None,
                    'end_time': at(n // 3) if n % 2 else None,
                    'updated_at': at(9 - n) if n else None,
                }
                for n, status in enumerate(
                    ('READY', 'SUCCEEDED', 'RUNNING', 'FAILED', 'WAITING', 'SUCCEEDED')
                )
            )
        )
        return {
            Profile: profiles,
            PolicyObject: policies,
            Cluster: clusters,
            Node: nodes,
            Receiver: receivers,
            Action: actions,
        }

    def noun_page(self, kind: type, **values: Any) -> list[Any]:
        """Return a page of rows."""
        return self.rows_of(kind, Query(**{'tenant': TENANT, **values}))

    def rows_of(self, kind: type, query: Query) -> list[Any]:
        if kind is Action:
            return [one.action for one in self.store.list_cluster_actions(query)]
        return self.store.list_objects(kind, query)

    def test_pages_of_each_class_by_every_key_have_every_row_once_in_order(
        self,
    ) -> None:
        tenants = itertools.cycle((TENANT, TENANT, None, None))
        for kind, rows in self.insert_each_class().items():
            sorts: list[tuple[tuple[str, bool], ...]] = [()]
            keys = SORT_KEYS[kind]
            for n, key in enumerate(keys):
                after, descending = keys[(n + 1) % len(keys)], n % 2 == 0
                sorts += [((key, descending),)]
                # The other direction, and a second key; every second one repeats the
                # first key, which changes nothing.
                pair = ((key, not descending), (after, descending))
                sorts += [(*pair, (key, descending)) if n % 4 > 1 else pair]
            for n, sort in enumerate(sorts):
                by = list(dict(sort or ((DEFAULT_SORT[kind], False),)).items())
                self.assert_pages(
                    in_order(rows, [*by, ('id', by[-1][1])], value_of),
                    functools.partial(self.rows_of, kind),
                    Query(tenant=next(tenants), sort=sort, limit=(1, 3, None)[n % 3]),
                    lambda row: str(row.uuid),
                )

    def test_clusters_and_nodes_are_limited_to_a_range_of_times(self) -> None:
        world = self.insert_each_class()
        for kind, column in TIMED.items():
            times = sorted({value_of(row, column) for row in world[kind]})
            for first, last in ((0, 1), (1, -1), (-1, -1)):
                for descending in (False, True):
                    query = Query(
                        tenant=TENANT,
                        sort=((column, descending),),
                        limit=2,
                        since=times[first],
                        until=times[last],
                    )
                    rows = [
                        row
                        for row in world[kind]
                        if times[first] <= value_of(row, column) <= times[last]
                    ]
                    order = [*query.sort, ('id', descending)]
                    self.assert_pages(
                        in_order(rows, order, value_of),
                        functools.partial(self.rows_of, kind),
                        query,
                        lambda row: str(row.uuid),
                    )
        with self.assertRaisesRegex(ValueError, 'filtered by since'):
            self.noun_page(Profile, since=times[0])

    def test_each_filter_selects_rows_with_one_of_its_values(self) -> None:
        world = self.insert_each_class()
        first, second = world[Cluster][:2]
        reading: dict[tuple[type, str], Callable[[Any], Any]] = {
            (Action, 'cluster_id'): lambda row: row.within or row.target,
            (Receiver, 'user'): lambda row: row.owner.user,
        }
        allowed: dict[tuple[type, str], list[Any]] = {
            (Node, 'cluster_id'): [first.id, None],
            (Receiver, 'cluster_id'): [second.id],
            (Receiver, 'user'): ['ann', 'eve'],
            (Action, 'cluster_id'): [first.uuid],
            (Action, 'target'): [second.uuid, new_uuid()],
            (Action, 'status'): ['RUNNING', 'SUCCEEDED'],
        }
        for kind, names in FILTERS.items():
            for name in names:
                read = reading.get((kind, name), lambda row, n=name: value_of(row, n))
                rows = world[kind]
                some = next(read(row) for row in rows if read(row) is not None)
                values = allowed.get((kind, name), [some, 'unknown'])
                expected = {row.uuid for row in rows if read(row) in values}
                self.assertTrue(expected, (kind, name))
                for n, key in enumerate(SORT_KEYS[kind]):
                    found = self.noun_page(
                        kind,
                        tenant=(TENANT, None)[n % 2],
                        filters={name: values},
                        sort=((key, True),),
                    )
                    self.assertEqual(
                        sorted(expected), sorted(row.uuid for row in found)
                    )
                self.assertEqual([], self.noun_page(kind, filters={name: []}))
        of_none = self.noun_page(Node, filters={'cluster_id': [None]})
        self.assertEqual({None}, {node.cluster_id for node in of_none})
        both = {'status': ['ACTIVE'], 'name': ['c0']}
        self.assertEqual(
            ['c0'], [row.name for row in self.noun_page(Cluster, filters=both)]
        )

    def test_a_list_has_neither_deleted_rows_nor_those_of_other_projects(self) -> None:
        profile = self.insert_profile()
        mine, gone = (self.insert_cluster(profile=profile) for _ in range(2))
        theirs = self.insert_cluster(profile=profile, owner=OTHER)
        self.delete_softly(gone)
        pages = [
            self.noun_page(Cluster, tenant=t) for t in (TENANT, OTHER.tenant, None)
        ]
        self.assertEqual([[mine], [theirs], [mine, theirs]], pages)
        # A page can start after a row that has been deleted since.
        self.assertEqual([], self.noun_page(Cluster, after=gone.uuid))
        every = self.noun_page(Cluster, after=gone.uuid, tenant=None)
        self.assertEqual([theirs], every)
        for missing in (theirs.uuid, new_uuid()):
            with self.assertRaisesRegex(exceptions.NotFound, missing):
                self.noun_page(Cluster, after=missing)

    def test_unknown_sort_keys_and_filters_of_a_class_are_refused(self) -> None:
        for kind in (Cluster, Action):
            for values in ({'sort': (('invalid', True),)}, {'filters': {'id': [1]}}):
                with self.assertRaises(ValueError):
                    self.noun_page(kind, **values)
        with self.assertRaises(ValueError):
            query = EventQuery(filters={'kind': ['x']})
            self.store.list_cluster_events(query)

    # Events

    def event_names(self, **values: Any) -> str:
        """Return the messages of events, oldest first."""
        given: dict[str, Any] = {'tenant': TENANT, 'descending': False, **values}
        found = self.store.list_cluster_events(EventQuery(**given))
        return ' '.join(each.event.message or '' for each in found)

    def insert_cluster_events(self) -> tuple[Cluster, Cluster, Node]:
        """Store events of clusters and nodes; return some of these."""
        cluster = self.insert_cluster(name='web')
        other = self.insert_cluster(name='db', owner=OTHER)
        node, lone = self.insert_nodes(cluster, {'name': 'n1'}, {'cluster_id': None})
        plan, _ = store_plan(self.store)
        self.add_cluster_events(
            cluster_event(cluster, type='CLUSTER_CREATE', message='1'),
            cluster_event(node, cluster, type='NODE_CREATE', message='2'),
            make_event(plan, message='no'),
            cluster_event(other, message='3', phase='end'),
        )
        self.add_cluster_events(
            cluster_event(
                node, cluster, type='NODE_CREATE', phase='error', message='4'
            ),
            cluster_event(lone, None, type='NODE_CHECK', message='5'),
            cluster_event(cluster, type='CLUSTER_CREATE', phase='error', message='6'),
        )
        return cluster, other, node

    def test_events_of_a_project_are_those_of_its_clusters_and_nodes(self) -> None:
        cluster, _, node = self.insert_cluster_events()
        self.assertEqual('1 2 4 5 6', self.event_names())
        self.assertEqual('6 5 4 2 1', self.event_names(descending=True))
        self.assertEqual('3', self.event_names(tenant=OTHER.tenant))
        self.assertEqual('1 2 3 4 5 6', self.event_names(tenant=None))
        (first, *_) = self.store.list_cluster_events(
            EventQuery({'subject': ['node']}, descending=False, tenant=TENANT)
        )
        self.assertEqual(
            ('2', node.id, 'n1', cluster.uuid),
            (
                first.event.message,
                first.event.subject_id,
                (first.event.detail or {})['name'],
                (first.event.detail or {})['cluster'],
            ),
        )

    def test_events_of_clusters_are_filtered(self) -> None:
        cluster, other, node = self.insert_cluster_events()
        (last,) = self.store.list_cluster_events(EventQuery(tenant=TENANT, limit=1))
        for expected, filters in (
            ('1 2 4 6', {'cluster_id': [cluster.id]}),
            ('1 2 4 6', {'cluster_id': [cluster.id, other.id]}),
            ('', {'cluster_id': [other.id]}),
            ('', {'cluster_id': []}),
            ('1 6', {'subject': ['cluster']}),
            ('2 4', {'about': [('node', node.id)]}),
            ('1 2 4 6', {'about': [('node', node.id), ('cluster', cluster.id)]}),
            ('', {'about': [('cluster', cluster.id)], 'subject': ['node']}),
            ('', {'about': [('cluster', other.id)]}),
            ('1 6', {'name': ['web', 'db']}),
            ('2 4 5', {'action': ['NODE_CREATE', 'NODE_CHECK']}),
            ('4 6', {'level': ['ERROR']}),
            ('1 2 5', {'level': ['INFO', 'DEBUG']}),
            ('4', {'level': ['ERROR'], 'cluster_id': [cluster.id], 'name': ['n1']}),
            ('6', {'uuid': [last.event.uuid]}),
        ):
            self.assertEqual(expected, self.event_names(filters=filters), filters)
        for expected, levels in (('4 6', ['ERROR']), ('', []), ('', ['DEBUG'])):
            of_all = self.event_names(tenant=None, filters={'level': levels})
            self.assertEqual(expected, of_all)
        of_other = {'cluster_id': [other.id]}
        self.assertEqual('3', self.event_names(tenant=None, filters=of_other))

    def test_pages_of_events_of_clusters_have_every_event_once(self) -> None:
        cluster, _, _ = self.insert_cluster_events()
        for tenant in (TENANT, None):
            for filters in ({}, {'cluster_id': [cluster.id]}, {'level': ['ERROR']}):
                for descending in (False, True):
                    query = EventQuery(filters, descending, None, 2, tenant)
                    events = self.store.list_cluster_events
                    whole = events(dataclasses.replace(query, limit=None))
                    self.assert_pages(whole, events, query, lambda one: one.event.uuid)
        (theirs,) = self.store.list_cluster_events(EventQuery(tenant=OTHER.tenant))
        for missing in (theirs.event.uuid, new_uuid()):
            with self.assertRaisesRegex(exceptions.NotFound, missing):
                self.event_names(after=missing)

    # Bulk operations

    def test_many_nodes_are_inserted_saved_and_counted_in_bulk(self) -> None:
        cluster = self.insert_cluster()
        nodes = self.insert_nodes(cluster, *({'index': n} for n in range(2500)))
        self.assertEqual([node.id for node in nodes], sorted(n.id for n in nodes))

        def block(tx: Transaction) -> dict[int, dict[str, int]]:
            found = tx.lock_nodes_of(cluster.id)
            tx.save_nodes([node.evolve(status='ACTIVE') for node in found])
            return tx.count_nodes([cluster.id])

        self.assertEqual({cluster.id: {'ACTIVE': 2500}}, self.commit(block))
        self.assertEqual(
            [node.evolve(status='ACTIVE') for node in nodes],
            self.store.nodes_of([cluster.id]),
        )
