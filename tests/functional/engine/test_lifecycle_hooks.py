"""Lifecycle hooks call a real HTTP server and wait for its response."""

import datetime
import json
import threading
from collections.abc import Mapping
from typing import Any

import fixtures

from tests import base
from tests.functional.db.stores import MYSQL, POSTGRESQL
from tests.functional.plugins.http_server import Server
from tests.operated_worlds import OperatedWorld
from tests.specs.database_case import define_database_tests
from tests.unit.engine.clusters.test_lifecycle_hooks import INPUTS
from tests.worlds import WorldCase, action
from watcherlite import exceptions
from watcherlite.destinations import Destinations
from watcherlite.domain.clusters import Owner
from watcherlite.engine.clusters.actions import lifecycle_hooks
from watcherlite.engine.clusters.actions.lifecycle_hooks import (
    COMPLETED,
    LIFECYCLE_HOOK,
    send_over_http,
)
from watcherlite.engine.clusters.requests.values import RequestContext
from watcherlite.plugins.policies.deletion import HookedDeletion
from watcherlite.testing.context import FakeContext
from watcherlite.testing.coroutines import FakeCoroutineContext, run_coroutine

DELETION = 'senlin.policy.deletion'
LONG = 3600


class HookCase(WorldCase):
    #: The settings of the worker.
    settings: Mapping[str, Any] = {}

    def setUp(self):
        super().setUp()
        self.server = self.useFixture(Server(lambda exchange, _: exchange.answer()))
        self.world = OperatedWorld(
            self.make_store(), policies={f'{DELETION}-1.1': HookedDeletion}
        )
        self.addCleanup(self.world.stop)
        self.operations, self.by = self.world.operations, self.world.by
        self.worker = self.world.worker(**self.settings)

    def create_cluster_with_hooks(self, size=2, timeout=LONG, **properties):
        """Return a cluster with lifecycle hooks."""
        cluster = self.world.cluster(size)
        # They were created at the same time, so their order by age would be random.
        for node in self.world.nodes(cluster):
            age = datetime.timedelta(hours=size - node.index)
            self.world.save(node, created_at=node.created_at - age)
        hooks = {
            'type': 'webhook',
            'params': {'url': f'{self.server.url}/drain'},
            'timeout': timeout,
        }
        properties_of_policy = {
            'criteria': 'OLDEST_FIRST',
            'hooks': hooks,
            **properties,
        }
        spec = {'type': DELETION, 'version': '1.1', 'properties': properties_of_policy}
        policy = self.operations.policies.create('po', spec, self.by)
        self.assertEqual('SUCCEEDED', self.world.attach(cluster, policy).status)
        return self.world.reload(cluster)

    def scale_in(self, cluster, count=1):
        """Request a scale-in; return the action and the messages of its hooks."""
        begun = self.operations.scale(cluster.uuid, self.by, 'CLUSTER_SCALE_IN', count)
        return begun.action, self.hook_messages(count)

    def hook_messages(self, count=1):
        self.server.wait_until_received(count)
        return [json.loads(one.body) for one in self.server.received]

    def complete(self, cluster, message, by=None):
        token = message['lifecycle_action_token']
        return self.operations.actions.complete_lifecycle(
            cluster.uuid, by or self.by, token
        )

    def derived(self, uuid):
        """Return the types and statuses of the derived actions."""
        key = self.world.store.get_action(uuid).id
        return [
            (one.action_type, one.status)
            for one in self.world.store.derived_actions(key)
        ]

    def names(self, cluster):
        return [node.index for node in self.world.nodes(cluster)]


class TestHooks(HookCase):
    """Concurrent requests and workers, on servers as well."""

    def test_a_node_waits_for_the_completion_of_its_hook(self):
        cluster = self.create_cluster_with_hooks()
        first, _ = self.world.nodes(cluster)

        action, (message,) = self.scale_in(cluster)

        (token,) = [
            one.uuid
            for one in self.world.store.derived_actions(
                self.world.store.get_action(action).id
            )
            if one.action_type == LIFECYCLE_HOOK
        ]
        self.assertEqual(
            {
                'lifecycle_action_token': token,
                'lifecycle_transition_type': 'termination',
                'cluster_id': cluster.uuid,
                'node_id': first.uuid,
                'resource_id': first.physical_id,
            },
            message,
        )
        (request,) = self.server.received
        self.assertEqual(
            ('POST', '/drain', 'application/json'),
            (request.method, request.path, request.headers['content-type']),
        )
        self.assertEqual(
            [(LIFECYCLE_HOOK, 'RUNNING'), ('NODE_DELETE', 'WAITING')],
            self.derived(action),
        )
        self.assertEqual([1, 2], self.names(cluster))

        ended = self.complete(cluster, message)

        self.assertEqual((token, 'SUCCEEDED'), (ended.uuid, ended.status))
        ended = self.world.wait_for_end(action)
        self.assertEqual('SUCCEEDED', ended.status, ended.status_message)
        self.assertEqual({'nodes_removed': [first.uuid]}, ended.outputs)
        self.assertEqual([2], self.names(cluster))
        hook = self.world.store.get_action(token)
        self.assertEqual(
            ('SUCCEEDED', COMPLETED, None),
            (hook.status, hook.status_message, hook.owner),
        )

    def test_a_hook_may_be_completed_during_its_request(self):
        cluster = self.create_cluster_with_hooks()

        def at_once(exchange, received):
            self.complete(cluster, json.loads(received.body))
            exchange.answer()

        self.server.behaviour = at_once
        action, _ = self.scale_in(cluster)

        self.assertEqual('SUCCEEDED', self.world.wait_for_end(action).status)
        self.assertEqual(([2], 1), (self.names(cluster), len(self.server.received)))
        self.assertEqual(
            [(LIFECYCLE_HOOK, 'SUCCEEDED'), ('NODE_DELETE', 'SUCCEEDED')],
            self.derived(action),
        )

    def test_a_token_stays_valid_after_the_loss_of_a_worker(self):
        cluster = self.create_cluster_with_hooks()
        action, (message,) = self.scale_in(cluster)
        token = message['lifecycle_action_token']
        self.world.wait_until(
            lambda: self.world.store.get_action(token).token is not None
        )
        self.world.kill(self.worker)
        other = self.world.worker()
        self.world.wait_until(
            lambda: self.world.store.get_action(token).owner == other.record.uuid
        )

        self.complete(cluster, message)

        self.assertEqual('SUCCEEDED', self.world.wait_for_end(action).status)
        self.assertEqual(([2], 1), (self.names(cluster), len(self.server.received)))


class TestHangingServers(HookCase):
    settings: Mapping[str, Any] = {'max_parallel': 1}

    def test_hanging_servers_do_not_delay_plans(self):
        release = threading.Event()
        self.addCleanup(release.set)
        # With this timeout, only the remaining thread can execute the plan.
        self.useFixture(
            fixtures.MonkeyPatch(f'{lifecycle_hooks.__name__}.SEND_TIMEOUT', LONG)
        )
        self.server.behaviour = lambda *_: release.wait()
        cluster = self.create_cluster_with_hooks()
        scaled, _ = self.scale_in(cluster)

        plan = self.world.run(action('a', input_parameters={'message': None}))

        self.assertEqual(
            ('SUCCEEDED', (LIFECYCLE_HOOK, 'RUNNING')),
            (plan.state, self.derived(scaled)[0]),
        )


class TestHookWaits(HookCase):
    def test_each_node_waits_for_its_own_hook(self):
        cluster = self.create_cluster_with_hooks(3)
        action, messages = self.scale_in(cluster, 2)

        self.complete(cluster, messages[0])
        self.world.wait_until(lambda: len(self.names(cluster)) == 2)
        self.assertFalse(self.world.store.get_action(action).finished)
        self.complete(cluster, messages[1])

        self.assertEqual('SUCCEEDED', self.world.wait_for_end(action).status)
        self.assertEqual([3], self.names(cluster))

    def test_a_node_is_removed_after_the_timeout_of_its_hook(self):
        # Without a timeout the hook only notifies.
        for timeout in (1, 0):
            self.server.received.clear()
            cluster = self.create_cluster_with_hooks(timeout=timeout)
            action, _ = self.scale_in(cluster)

            self.assertEqual('SUCCEEDED', self.world.wait_for_end(action).status)
            self.assertEqual([2], self.names(cluster))

    def test_a_node_that_only_leaves_waits_for_its_hook(self):
        cluster = self.create_cluster_with_hooks(destroy_after_deletion=False)
        action, (message,) = self.scale_in(cluster)

        self.complete(cluster, message)

        self.assertEqual('SUCCEEDED', self.world.wait_for_end(action).status)
        self.assertEqual(
            [(LIFECYCLE_HOOK, 'SUCCEEDED'), ('NODE_LEAVE', 'SUCCEEDED')],
            self.derived(action),
        )
        self.assertEqual(2, len(self.world.external.samples))

    def test_a_requested_node_deletion_waits_for_its_hook(self):
        cluster = self.create_cluster_with_hooks(grace_period=1)
        first, _ = self.world.nodes(cluster)
        begun = self.operations.nodes.delete(first.uuid, self.by)
        (message,) = self.hook_messages()
        self.assertEqual('DELETING', self.world.reload(first).status)
        self.assertEqual(2, len(self.world.external.samples))

        self.complete(cluster, message)

        self.assertEqual('SUCCEEDED', self.world.wait_for_end(begun.action).status)
        self.assertEqual([2], self.names(cluster))
        self.assertEqual(1, self.world.reload(cluster).desired_capacity)

    def test_a_node_that_was_never_created_is_removed_at_once(self):
        cluster = self.create_cluster_with_hooks(0)
        node = self.world.insert_node(self.world.profile(), 'new', cluster, 9)
        self.world.save(cluster, desired_capacity=1)

        begun = self.operations.nodes.delete(node.uuid, self.by)

        self.assertEqual('SUCCEEDED', self.world.wait_for_end(begun.action).status)
        self.world.insert_node(self.world.profile(), 'new', cluster, 9)
        begun = self.operations.scale(cluster.uuid, self.by, 'CLUSTER_SCALE_IN')
        self.assertEqual('SUCCEEDED', self.world.wait_for_end(begun.action).status)
        self.assertEqual(([], []), (self.names(cluster), self.server.received))

    def test_a_cancelled_hook_keeps_its_node(self):
        cluster = self.create_cluster_with_hooks()
        action, (message,) = self.scale_in(cluster)
        token = message['lifecycle_action_token']

        self.operations.actions.update(token, self.by, 'CANCELLED')

        self.assertEqual('CANCELLED', self.world.wait_for_end(action).status)
        self.assertEqual([1, 2], self.names(cluster))
        self.assertEqual(
            ['ACTIVE', 'ACTIVE'], [node.status for node in self.world.nodes(cluster)]
        )

        (first, _) = self.world.nodes(cluster)
        self.server.received.clear()
        begun = self.operations.nodes.delete(first.uuid, self.by)
        (message,) = self.hook_messages()
        token = message['lifecycle_action_token']
        self.operations.actions.update(token, self.by, 'CANCELLED')
        ended = self.world.wait_for_end(begun.action)
        self.assertEqual('FAILED', ended.status)
        self.assertIn('The node stays, because of its hook', ended.status_message)
        self.assertEqual('ACTIVE', self.world.reload(first).status)

    def test_a_cancelled_or_timed_out_deletion_leaves_the_node_unchanged(self):
        cluster = self.create_cluster_with_hooks()
        first, _ = self.world.nodes(cluster)
        begun = self.operations.nodes.delete(first.uuid, self.by)
        self.hook_messages()

        self.operations.actions.update(begun.action, self.by, 'CANCELLED')

        self.assertEqual('CANCELLED', self.world.wait_for_end(begun.action).status)
        self.assertEqual([(LIFECYCLE_HOOK, 'CANCELLED')], self.derived(begun.action))
        row = self.world.reload(first)
        self.assertEqual(
            ('ACTIVE', first.status_reason, first.data, first.physical_id),
            (row.status, row.status_reason, row.data, row.physical_id),
        )

        self.world.save(cluster, timeout=1)
        begun = self.operations.nodes.delete(first.uuid, self.by)

        ended = self.world.wait_for_end(begun.action)
        self.assertEqual('FAILED', ended.status)
        self.assertIn(
            'its timeout expired before the hook completed', ended.status_message
        )
        self.assertEqual('ACTIVE', self.world.reload(first).status)

    def test_a_failed_deletion_after_the_hook_has_a_reason(self):
        cluster = self.create_cluster_with_hooks()
        first, _ = self.world.nodes(cluster)
        begun = self.operations.nodes.delete(first.uuid, self.by)
        (message,) = self.hook_messages()
        self.world.external.fails.add(('delete', first.name))

        self.complete(cluster, message)

        self.assertEqual('FAILED', self.world.wait_for_end(begun.action).status)
        self.assertEqual('ERROR', self.world.reload(first).status)

    def test_a_cancelled_action_ends_its_hooks(self):
        cluster = self.create_cluster_with_hooks()
        action, _ = self.scale_in(cluster)

        self.operations.actions.update(action, self.by, 'CANCELLED')

        self.assertEqual('CANCELLED', self.world.wait_for_end(action).status)
        self.assertEqual(
            [(LIFECYCLE_HOOK, 'CANCELLED'), ('NODE_DELETE', 'CANCELLED')],
            self.derived(action),
        )

    def test_a_hook_is_completed_once_and_only_in_its_project(self):
        cluster = self.create_cluster_with_hooks()
        other = self.world.cluster(name='other')
        action, (message,) = self.scale_in(cluster)
        foreign = RequestContext(Owner('another project'))
        self.assertRaises(exceptions.NotFound, self.complete, cluster, message, foreign)
        self.assertRaises(exceptions.NotFound, self.complete, other, message)
        short = {'lifecycle_action_token': message['lifecycle_action_token'][:8]}
        self.assertRaises(exceptions.NotFound, self.complete, cluster, short)
        wrong = {'lifecycle_action_token': action}
        error = self.assertRaises(
            exceptions.ActionImmutable, self.complete, cluster, wrong
        )
        self.assertEqual(
            f'The action {action} waits for no lifecycle hook: it is '
            'CLUSTER_SCALE_IN, WAITING.',
            str(error),
        )

        self.complete(cluster, message)
        error = self.assertRaises(
            exceptions.ActionImmutable, self.complete, cluster, message
        )

        self.assertIn('it is LIFECYCLE_HOOK, SUCCEEDED.', str(error))
        self.assertEqual('SUCCEEDED', self.world.wait_for_end(action).status)


define_database_tests(__name__, {TestHooks: (POSTGRESQL, MYSQL)})


class TestDestinations(base.TestCase):
    def test_a_destination_that_is_not_allowed_gets_no_message(self):
        context = FakeContext({**INPUTS, 'url': 'http://169.254.169.254/'})

        problem = run_coroutine(
            context, send_over_http(Destinations, FakeCoroutineContext(context))
        )

        self.assertIn('169.254.169.254 is in a network that is refused', problem)
