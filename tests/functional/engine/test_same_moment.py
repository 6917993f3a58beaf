"""Concurrent requests for a unique name or the rest of a quota: one succeeds."""

import contextlib
import functools
import threading
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any
from unittest import mock

from tests.bounded import TIMEOUT
from tests.cluster_worlds import BY, QUEUED, TENANT
from tests.functional.db import stores
from tests.functional.db.stores import MYSQL, SQLITE, define_tests
from tests.operated_worlds import OperatedCase, OperatedWorld
from tests.specs.database_case import OnDatabase
from tests.stack_worlds import StackWorld, res, template
from watcherlite import exceptions
from watcherlite.db.query import Query
from watcherlite.db.request_keys import RequestKey, RequestRecord
from watcherlite.domain.clusters import Cluster, Profile, Receiver
from watcherlite.domain.stacks import StackRequest
from watcherlite.engine.clusters.requests.values import (
    AdoptionRequest,
    ClusterRequest,
    NodeRequest,
    ReceiverRequest,
)
from watcherlite.engine.clusters.services import ClusterLimits
from watcherlite.engine.stacks.services import StackLimits

if TYPE_CHECKING:
    Base = OperatedCase
else:
    # The test cases provide the real base class.
    Base = object

SPEC = {'type': 'sample', 'version': '1.0'}
POLICY = {'type': 'senlin.policy.deletion', 'version': '1.0'}
URL = 'http://host/clustering/v1'
#: Seconds that a query waits for the query of a concurrent request.
A_WHILE = 0.2

Ask = Callable[[], Any]


class ConcurrentRequests(Base):
    """Concurrent requests; nothing is executed."""

    def create_world(self, limits: ClusterLimits) -> OperatedWorld:
        world = OperatedWorld(self.make_store(), limits=limits)
        world.profile()
        return world

    def run_concurrently(self, store: Any, question: str, *asks: Ask) -> list[str]:
        """Run two requests concurrently; return their results.

        A request waits after its query for that of the other one: if both can query,
        both see a free name or quota.
        """
        both, begin = threading.Barrier(2), store.transaction
        became: list[str] = []

        @contextlib.contextmanager
        def transaction() -> Iterator[Any]:
            with begin() as tx:
                setattr(
                    tx,
                    question,
                    functools.partial(request_result, getattr(tx, question)),
                )
                yield tx

        def request_result(answer: Callable[..., Any], *args: Any) -> Any:
            found = answer(*args)
            try:
                both.wait(A_WHILE)
            except threading.BrokenBarrierError:
                both.reset()
            return found

        def run(ask: Ask) -> None:
            try:
                ask()
            except exceptions.WatcherliteError as error:
                became.append(type(error).__name__)
            else:
                became.append('done')

        threads = [threading.Thread(target=run, args=(ask,)) for ask in asks]
        with mock.patch.object(store, 'transaction', transaction):
            for thread in threads:
                thread.start()
            for thread in threads:
                thread.join(TIMEOUT)
        return sorted(became)

    def test_concurrent_requests_respect_the_cluster_quota(self) -> None:
        world = self.create_world(ClusterLimits(clusters=1))

        def ask() -> None:
            world.operations.create(ClusterRequest('c', 'p'), BY)

        self.assertEqual(
            ['OverQuota', 'done'],
            self.run_concurrently(world.store, 'count_clusters', ask, ask),
        )

    def test_concurrent_requests_respect_the_stack_quota(self) -> None:
        world = StackWorld(self.make_store(), limits=StackLimits(stacks=1))

        def ask(name: str) -> Ask:
            new = StackRequest(name, template({'a': res()}))
            return lambda: world.stacks.create(new, TENANT)

        self.assertEqual(
            ['RequestLimitExceeded', 'done'],
            self.run_concurrently(world.store, 'count_stacks', ask('a'), ask('b')),
        )

    def test_a_unique_name_is_assigned_once(self) -> None:
        world = self.create_world(ClusterLimits(unique_names=True))
        users = world.operations
        users.create(ClusterRequest('c', 'p'), BY)
        receiver = ReceiverRequest('r', 'webhook', 'c', 'CLUSTER_CHECK')
        adoption = AdoptionRequest('a-sample', 'sample-1.0', 'adopted')
        asks: dict[str, Ask] = {
            'profile': lambda: users.profiles.create('twice', SPEC, BY),
            'policy': lambda: users.policies.create('twice', POLICY, BY),
            'receiver': lambda: users.receivers.create(receiver, BY, URL),
            'cluster': lambda: users.create(ClusterRequest('twice', 'p'), BY),
            'node': lambda: users.nodes.create(NodeRequest('twice', 'p'), BY),
            'member': lambda: users.nodes.create(
                NodeRequest('member', 'p', 'c'), QUEUED
            ),
            'adopted': lambda: users.nodes.adopt(adoption, BY),
        }
        for what, ask in asks.items():
            with self.subTest(what=what):
                self.assertEqual(
                    ['BadRequest', 'done'],
                    self.run_concurrently(world.store, 'has_name', ask, ask),
                )

    def test_one_of_two_requests_with_a_key_creates(self) -> None:
        world = self.create_world(ClusterLimits())
        key = RequestKey('d' * 64, 'f' * 64, world.clock.now())

        def ask() -> None:
            with RequestRecord(key).active():
                world.operations.profiles.create('twice', SPEC, BY)

        became = self.run_concurrently(world.store, 'insert_object', ask, ask)

        self.assertEqual(['RequestKeyTaken', 'done'], became)
        rows = world.store.list_objects(Profile, Query(tenant=TENANT))
        self.assertEqual(['twice'], [row.name for row in rows if row.name == 'twice'])

    def test_a_creation_and_a_rename_do_not_share_a_name(self) -> None:
        world = self.create_world(ClusterLimits(unique_names=True))
        users = world.operations
        users.create(ClusterRequest('old', 'p'), BY)

        became = self.run_concurrently(
            world.store,
            'has_name',
            lambda: users.create(ClusterRequest('new', 'p'), BY),
            lambda: users.update('old', QUEUED, {'name': 'new'}),
        )

        self.assertEqual(['BadRequest', 'done'], became)

    def test_concurrent_changes_are_both_kept(self) -> None:
        world = self.create_world(ClusterLimits())
        users = world.operations.receivers
        world.operations.create(ClusterRequest('c', 'p'), BY)
        new = ReceiverRequest('r', 'webhook', 'c', 'CLUSTER_SCALE_OUT')
        made = users.create(new, BY, URL).receiver

        became = self.run_concurrently(
            world.store,
            'lock_object',
            lambda: users.update(made.uuid, BY, {'name': 'other'}),
            lambda: users.update(made.uuid, BY, {'params': {'count': 1}}),
        )

        row = world.store.find_object(Receiver, made.uuid, TENANT)
        self.assertEqual(['done', 'done'], became)
        self.assertEqual(
            ('other', {'count': 1}, f'{URL}/webhooks/{made.uuid}/trigger?V=2&count=1'),
            (row.name, row.params, row.channel['alarm_url']),
        )


class PostgresqlConcurrentRequestsTest(
    OnDatabase, ConcurrentRequests, OperatedCase, stores.PostgresqlDatabase
):
    def test_a_wait_for_the_project_lock_blocks_no_readers(self) -> None:
        # No query needs a second connection beside that of the transaction.
        store = self.open_empty(max_pool_size=1, pool_timeout=1)
        limits = ClusterLimits(clusters=9, unique_names=True)
        users = OperatedWorld(store, limits=limits).operations
        users.profiles.create('p', SPEC, BY)

        made = users.create(ClusterRequest('c', 'p'), BY).row
        users.nodes.create(NodeRequest('n', 'p'), BY)
        users.update('c', QUEUED, {'name': 'd'})
        users.profiles.update('p', BY, {'name': 'q'})

        listed = store.list_objects(Cluster, Query(tenant=TENANT))
        self.assertEqual([made.uuid], [cluster.uuid for cluster in listed])


define_tests(
    __name__,
    ConcurrentRequests,
    before=(OnDatabase,),
    after=(OperatedCase,),
    on=(SQLITE, MYSQL),
)
