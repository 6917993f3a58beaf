"""Actions on resources of one host are executed there."""

from tests.cluster_worlds import ClusterCase, ExternalResources, machine
from watcherlite import exceptions
from watcherlite.db.api import Worker
from watcherlite.domain.resource_results import Ready
from watcherlite.engine.clusters.action_types import (
    NODE_CHECK,
    NODE_CREATE,
    NODE_OPERATION,
)

LONG = 3600
HANDED_ON = 'Handed on to host-1, where its target is.'


class TestAffinity(ClusterCase):
    def setUp(self):
        super().setUp()

        def host(self, physical_id, data):
            return 'host-1' if physical_id else None

        kind = type('Homed', (machine(ExternalResources()),), {'host': host})
        self.world = self.create_cluster_world(
            handlers={'Homed': kind}, sweep_interval=LONG
        )
        node = self.world.insert_node(self.world.profile(type_='homed'), 'n')
        # By the first worker, which is on host-0.
        self.node = self.world.create_node(node)

    def test_an_action_is_forwarded_to_a_worker_of_its_host(self):
        # It is alive, and has not claimed the action yet.
        there = Worker('w', 'host-1', 'i', ('engine',))
        self.world.store.register_worker(there, LONG)
        asked = self.world.request_action(NODE_CHECK, self.node)
        self.world.wait_until(
            lambda: self.world.store.get_action(asked.uuid).status_message == HANDED_ON
        )

        self.world.worker()

        self.assertEqual('SUCCEEDED', self.world.wait_for_end(asked).status)

    def test_any_worker_executes_it_if_its_host_has_none(self):
        action = self.world.run_action(NODE_CHECK, self.node)

        self.assertEqual(('SUCCEEDED', 1), (action.status, action.attempt))


class TestOperationInProgress(ClusterCase):
    """A worker of another host owns the action, and cannot poll the operation."""

    def setUp(self):
        super().setUp()
        self.external = ExternalResources()
        self.unseen = LONG

        def host(handler, physical_id, data):
            return 'host-1' if physical_id else None

        def poll(handler, context, operation, token):
            self.external.record_call('poll', context.resource_name)
            self.unseen -= 1
            if self.unseen >= 0:
                self.register_other_host()
                raise exceptions.StateUnknown('it is on host-1')
            self.external.samples.setdefault(context.physical_id, {})
            return Ready(context.physical_id)

        def find(handler, context):
            self.external.record_call('find', context.resource_name)
            return Ready(context.physical_id)

        members = {'idempotent': False, 'host': host, 'poll': poll, 'find': find}
        kind = machine(self.external, **members)
        self.world = self.create_cluster_world(
            handlers={'Homed': kind}, sweep_interval=LONG
        )
        profile = self.world.profile(type_='homed', wait=1)
        self.node = self.world.insert_node(profile, 'n')

    def register_other_host(self) -> None:
        """Store a worker of host-1 that has claimed nothing."""
        there = Worker(f'w{self.unseen}', 'host-1', 'i', ('engine',))
        self.world.store.register_worker(there, LONG)

    def test_the_worker_of_its_host_finds_the_started_operation(self):
        self.world.worker()
        asked = self.world.request_action(NODE_CREATE, self.node)
        self.world.wait_until(
            lambda: self.world.store.get_action(asked.uuid).status_message == HANDED_ON
        )

        self.world.worker()

        self.assertEqual('SUCCEEDED', self.world.wait_for_end(asked).status)
        self.assertEqual('ACTIVE', self.world.reload(self.node).status)
        self.assertEqual(
            [('create', 'n'), ('poll', 'n'), ('find', 'n')], self.external.calls
        )

    def test_an_operation_that_cannot_be_repeated_is_polled_again(self):
        self.unseen = 0
        node = self.world.create_node(self.node)
        self.unseen = 2

        inputs = {'operation': 'patch', 'params': {'colour': 'red'}}
        action = self.world.run_action(NODE_OPERATION, node, inputs)

        self.assertEqual('SUCCEEDED', action.status)
        self.assertEqual(['n'], self.external.of('patch'))
        self.assertEqual(4, len(self.external.of('poll')))
