"""The number of statements of operations on clusters, and the indexes that they use."""

import dataclasses
import functools
import itertools
from collections.abc import Callable
from typing import Any

import sqlalchemy as sa

from tests.contract.cluster_case import (
    OTHER,
    OWNER,
    cluster_event,
    make_binding,
    make_cluster,
    make_node,
    make_policy,
    make_profile,
    make_receiver,
)
from tests.factories import at, make_action, store_actions
from tests.functional.db import counting, stores
from watcherlite.db.clusters import (
    COLLECTIONS,
    DEFAULT_SORT,
    SORT_KEYS,
    TIMED,
    UNINDEXED,
)
from watcherlite.db.query import EventQuery, Query
from watcherlite.db.sqlalchemy.lists import events, keyset, shapes
from watcherlite.db.sqlalchemy.lists.queries import fetch_matches
from watcherlite.db.sqlalchemy.statements import projects
from watcherlite.domain.actions import ENGINE, Action
from watcherlite.domain.clusters import Cluster, Node, PolicyObject, Profile, Receiver

TENANT = OWNER.tenant
MANY = 1000
TABLES = {**COLLECTIONS, Action: 'actions'}
#: The columns of sort keys that have another name in an index.
COLUMNS = {
    (Node, 'index'): 'node_index',
    (Action, 'action'): 'action_type',
    (Action, 'status'): 'ended',
}


class ClusterStatementTests(counting.CountingTests):
    """Statements on clusters; databases differ in the class attributes."""

    unknown = True

    insert = 1
    lock = 1

    def setUp(self) -> None:
        super().setUp()
        with self.store.transaction() as tx:
            profile = tx.insert_object(make_profile())
            self.policy = tx.insert_object(make_policy())
            self.cluster = tx.insert_object(make_cluster(profile))
        self.profile = profile

    def insert_rows(self) -> None:
        """Store rows of each class in several projects, and a plan."""
        with self.store.transaction() as tx:
            for n in range(300):
                whose = {'owner': OTHER} if n % 3 else {}
                times = {'created_at': at(n), 'updated_at': at(n) if n % 2 else None}
                tx.insert_object(make_profile(**whose, **times))
                tx.insert_object(make_policy(**whose, **times))
                tx.insert_object(make_receiver(**whose, action='A' if n % 2 else None))
                tx.insert_object(make_cluster(self.profile, **whose, **times))
            tx.insert_nodes(
                [
                    make_node(
                        self.cluster,
                        index=n,
                        created_at=at(n) if n % 4 else None,
                        updated_at=at(n) if n % 2 else None,
                    )
                    for n in range(MANY)
                ]
            )
        common = {'lane': ENGINE, 'tenant': TENANT}
        statuses = ('SUCCEEDED', 'READY')
        store_actions(
            self.store,
            *(
                make_action(**common, status=statuses[n % 2], target=f't{n}', name='n')
                for n in range(MANY)
            ),
            # With this number, a scan of the table costs more than any index.
            *(make_action() for _ in range(5 * MANY)),
        )
        self.analyze()

    def analyze(self) -> None:
        """Collect statistics of the tables in `TABLES`, if the database has any."""

    def analyze_events(self) -> None:
        """Prevent the server from collecting statistics of events during the test."""

    def execute(self, sql: str) -> None:
        """Execute a statement in a transaction of its own."""
        with self.store.engine.begin() as connection:
            connection.exec_driver_sql(sql)

    def test_each_kind_of_change_costs_the_same_for_one_and_for_many(self) -> None:
        expected = {
            'insert_nodes': 1 + self.insert,
            'lock_clusters': self.lock,
            'lock_clusters_by_id': 1,
            'lock_nodes': self.lock,
            'lock_nodes_of': 1,
            'save_clusters': 1,
            'save_nodes': 1,
            'count_nodes': 1,
            'unfinished_actions': 1,
            'bindings_of': 1,
            'add_events': 1,
        }
        self.assertEqual([expected] * 2, [self.costs(n) for n in (1, MANY)])

    def costs(self, count: int) -> dict[str, int]:
        """Return the statements of the calls with a number of rows."""
        new = [make_node(self.cluster) for _ in range(count)]
        uuids = [node.uuid for node in new]
        cost, cluster = self.cost, self.cluster
        found = {'insert_nodes': cost(lambda tx: tx.insert_nodes(new))}
        rows = list(self.store.nodes_by_uuid(uuids).values())
        events = [cluster_event(row, cluster) for row in rows]
        return found | {
            'lock_clusters': cost(lambda tx: tx.lock_clusters([cluster.uuid])),
            'lock_clusters_by_id': cost(
                lambda tx: tx.lock_clusters_by_id([cluster.id])
            ),
            'lock_nodes': cost(lambda tx: tx.lock_nodes(uuids)),
            'lock_nodes_of': cost(lambda tx: tx.lock_nodes_of(cluster.id)),
            'save_clusters': cost(lambda tx: tx.save_clusters([cluster])),
            'save_nodes': cost(lambda tx: tx.save_nodes(rows)),
            'count_nodes': cost(lambda tx: tx.count_nodes([cluster.id])),
            'unfinished_actions': cost(lambda tx: tx.unfinished_actions(uuids, uuids)),
            'bindings_of': cost(lambda tx: tx.bindings_of(cluster.id)),
            'add_events': cost(lambda tx: tx.add_events(events)),
        }

    def test_no_query_costs_a_statement_per_row_or_locks_one(self) -> None:
        store, of = self.store, Query(tenant=TENANT, limit=100)
        ids, prefix = [self.cluster.id], self.cluster.uuid[:13]
        with store.transaction() as tx:
            tx.insert_nodes([make_node(self.cluster) for _ in range(20)])
            tx.insert_binding(make_binding(self.cluster, self.policy))
            tx.add_events([cluster_event(self.cluster) for _ in range(20)])
        store_actions(store, *(make_action(tenant=TENANT) for _ in range(20)))
        reads: dict[str, tuple[int, Callable[[], Any]]] = {
            'find_object': (1, lambda: store.find_object(Cluster, prefix, TENANT)),
            'list_objects': (1, lambda: store.list_objects(Node, of)),
            'list_cluster_actions': (2, lambda: store.list_cluster_actions(of)),
            'objects_by_id': (1, lambda: store.objects_by_id(Cluster, ids)),
            'nodes_of': (1, lambda: store.nodes_of(ids)),
            'bindings': (1, lambda: store.bindings_of_clusters(ids)),
            'events': (
                1,
                lambda: store.list_cluster_events(
                    EventQuery({'cluster_id': ids}, limit=3, tenant=TENANT)
                ),
            ),
        }
        for name, (count, read) in reads.items():
            with self.texts() as found:
                self.assertTrue(read(), name)
            self.assertEqual(count, len(found), name)
            self.assertNotRegex(' '.join(found), 'FOR |LOCK IN', name)

    def explain_page(self, kind: type, query: Query) -> str:
        """Return the query plan of a page."""
        database = self.store.engine.dialect.name
        shape, values = shapes.parse(COLLECTIONS[kind], query, database)
        return self.explained(keyset.page(shape), **values)

    def test_lists_names_and_quotas_are_read_by_indexes(self) -> None:
        self.insert_rows()
        self.assert_projects_use_their_indexes()
        self.assert_names_and_all_projects_use_indexes()
        asked: list[tuple[sa.Select[Any], dict[str, str]]] = [
            (projects.name_lookup(collection), {'name': 'x'})
            for kind, collection in COLLECTIONS.items()
            if kind is not Action
        ]
        asked.append((projects.UNFINISHED, {'action_type': 'CLUSTER_UPDATE'}))
        asked.append((projects.CLUSTERS, {}))
        for statement, values in asked:
            query_plan = self.explained(statement, tenant=TENANT, **values)
            self.assert_no_scan(query_plan, f'{statement}\n{query_plan}')

    def assert_projects_use_their_indexes(self) -> None:
        """Check the lists of a project, by each sort key in both directions."""
        markers = {
            kind: self.store.list_objects(kind, Query(tenant=TENANT, limit=50))[-1].uuid
            for kind in (Profile, PolicyObject, Cluster, Node, Receiver)
        }
        actions = self.store.list_cluster_actions(Query(tenant=TENANT, limit=500))
        markers[Action] = actions[-1].action.uuid
        for kind, marker in markers.items():
            table = TABLES[kind]
            shown = 'hidden_' if kind in (Cluster, Node) else ''
            for key in SORT_KEYS[kind]:
                column = COLUMNS.get((kind, key), key)
                index = f'ix_{table}_tenant_{shown}{column}_id'
                if kind is Action and key in UNINDEXED:
                    # The actions of projects are in the index, those of plans are not
                    # read.
                    index = f'ix_{table}_'
                limits: list[dict[str, Any]] = [{}]
                if key == TIMED.get(kind):
                    limits.append({'since': at(-60), 'until': at(60)})
                for descending, after, within in itertools.product(
                    (False, True), (None, marker), limits
                ):
                    query = Query(
                        tenant=TENANT,
                        sort=((key, descending),),
                        after=after,
                        limit=10,
                        **within,
                    )
                    query_plan = self.explain_page(kind, query)
                    self.assertIn(index, query_plan, query)
                    self.assert_no_scan(query_plan, f'{table} {query}\n{query_plan}')
            self.assertIn(DEFAULT_SORT[kind], SORT_KEYS[kind])

    def assert_names_and_all_projects_use_indexes(self) -> None:
        """Check the lists of all projects, and filters by name."""
        database = self.store._db
        for kind in (Profile, PolicyObject, Cluster, Node, Receiver, Action):
            for key in SORT_KEYS[kind]:
                page = Query(sort=((key, True),), limit=10)
                if key == TIMED.get(kind):
                    page = dataclasses.replace(page, since=at(-60), until=at(60))
                query_plan = self.explain_page(kind, page)
                self.assert_no_scan(query_plan, f'{kind} {key}\n{query_plan}')
            for tenant in (TENANT, None):
                named = (database, COLLECTIONS[kind], 'abcdef', tenant)
                query_plan = self.explained_call(
                    functools.partial(fetch_matches, *named)
                )
                self.assert_no_scan(query_plan, f'{kind} {tenant}\n{query_plan}')

    def test_a_page_of_events_is_read_from_its_index(self) -> None:
        with self.store.transaction() as tx:
            other = tx.insert_object(make_cluster(self.profile))
        for cluster, count in ((other, 3000), (self.cluster, 30)):
            with self.store.transaction() as tx:
                tx.add_events([cluster_event(cluster) for _ in range(count)])
        self.analyze_events()
        database = self.store.engine.dialect.name
        one = {'cluster_id': [self.cluster.id]}
        (last,) = self.store.list_cluster_events(EventQuery(tenant=TENANT, limit=1))
        for tenant, filters, index in (
            (TENANT, one, 'ix_events_within'),
            (TENANT, {}, 'ix_events_tenant'),
            (None, one, 'ix_events_within'),
            (None, {}, 'ix_events_level'),
            (None, {'level': ['ERROR']}, 'ix_events_level'),
        ):
            for after in (None, last.event.uuid):
                for descending in (True, False):
                    query = EventQuery(filters, descending, after, 10, tenant)
                    shape, values = events.parse(events.CLUSTERS, query, database)
                    query_plan = self.explained(events.page(shape), **values)
                    self.assertIn(index, query_plan, query_plan)
                    self.assertNotRegex(query_plan, r'Seq Scan on events|events\nALL')

    def assert_no_scan(self, query_plan: str, message: str) -> None:
        """Check that no table is scanned completely."""
        self.assertNotRegex(
            query_plan,
            r'Seq Scan on (profiles|policies|clusters|nodes|receivers|actions)'
            r'|SCAN (profiles|policies|clusters|nodes|receivers|actions)(\n|$)'
            r'|\n(profiles|policies|clusters|nodes|receivers|actions)\nALL',
            message,
        )


class SqliteClusterStatementTest(ClusterStatementTests, stores.SqliteDatabase):
    explain = 'EXPLAIN QUERY PLAN'


class PostgresqlClusterStatementTest(ClusterStatementTests, stores.PostgresqlDatabase):
    def setUp(self) -> None:
        super().setUp()
        # Its pages are read from the right index without statistics.
        self.execute('ALTER TABLE events SET (autovacuum_enabled = off)')

    def analyze(self) -> None:
        self.execute(f'ANALYZE {", ".join(TABLES.values())}')


class MysqlClusterStatementTest(ClusterStatementTests, stores.MysqlDatabase):
    # It locks in the order of reading, so it first reads the ids.
    lock = 2
    # Its INSERT does not return the ids.
    insert = 2

    def analyze(self) -> None:
        # With a sample of a few random pages, the optimiser sometimes prefers a scan.
        for table in TABLES.values():
            self.execute(
                f'ALTER TABLE {table} STATS_AUTO_RECALC=0, STATS_SAMPLE_PAGES=1000'
            )
        self.execute(f'ANALYZE TABLE {", ".join(TABLES.values())}')

    def analyze_events(self) -> None:
        self.execute('ANALYZE TABLE events')
