"""The recovery of actions on nodes whose worker was lost."""

from tests.cluster_worlds import QUEUED, ClusterCase, machine
from tests.stack_worlds import ExternalResources
from watcherlite.domain.resource_results import Ready, ResourceInProgress
from watcherlite.engine.clusters.action_types import (
    NODE_CREATE,
    NODE_DELETE,
    NODE_RECOVER,
)


class WorkerKiller(ExternalResources):
    """Kills the worker at a call of its handler.

    :ivar dies: (operation, name of the node)
    """

    def __init__(self):
        super().__init__()
        self.dies = None
        self.kill = None

    def record_call(self, operation, name):
        super().record_call(operation, name)
        if self.dies == (operation, name):
            self.dies = None
            self.kill()
            raise SystemExit


class LostCase(ClusterCase):
    def create_world(self, **members):
        external = WorkerKiller()
        kind = machine(external, **members)
        world = self.create_cluster_world(handlers={'Killing': kind}, lease=1000)
        external.kill = lambda: world._killable_stores[
            world.workers[0].record.uuid
        ].die()
        world.external = external
        return world, world.insert_node(world.profile(type_='killing'), 'n')

    def lose_worker_during(self, world, node, at, action_type, inputs=None):
        """Request an action; kill its worker at a call; let another continue."""
        world.external.dies = at
        world.worker()
        asked = world.request_action(action_type, node, inputs)
        first = world.workers[0]
        world.wait_until(lambda: world.is_dead(first), world.full_report)
        world.kill(first)
        world.worker()
        return world.wait_for_end(asked)

    def calls(self, world):
        return [call for call, _ in world.external.calls]


class TestLostWorkers(LostCase):
    def test_an_idempotent_operation_is_repeated(self):
        world, node = self.create_world()

        action = self.lose_worker_during(world, node, ('create', 'n'), NODE_CREATE)

        row = world.reload(node)
        self.assertEqual(('SUCCEEDED', 2), (action.status, action.attempt))
        self.assertEqual(['create', 'create'], self.calls(world))
        self.assertEqual(('ACTIVE', 1), (row.status, len(world.external.samples)))
        self.assertEqual(
            [('n', 'create.start', 'CREATING'), ('n', 'create.end', 'ACTIVE')],
            world.transitions(),
        )

    def test_a_created_resource_is_found_and_not_created_again(self):
        def find(self, context):
            return Ready('the-first', attributes={'output': 'found'})

        world, node = self.create_world(idempotent=False, find=find)

        self.lose_worker_during(world, node, ('create', 'n'), NODE_CREATE)

        row = world.reload(node)
        self.assertEqual(['create'], self.calls(world))
        self.assertEqual(('ACTIVE', 'the-first'), (row.status, row.physical_id))

    def test_only_idempotent_operations_are_repeated(self):
        reboot = {'operation': 'REBOOT'}
        broken = {'status': 'ERROR', 'physical_id': 'old'}
        well = {'status': 'ACTIVE', 'physical_id': 'x'}
        for action_type, idempotent, before, inputs, ended, *calls in (
            (NODE_CREATE, False, {}, None, ('FAILED', 'ERROR'), 'create'),
            (
                *(NODE_DELETE, False, well, None, ('SUCCEEDED', 'DELETING')),
                *('delete', 'delete'),
            ),
            (NODE_RECOVER, False, broken, reboot, ('FAILED', 'ERROR'), 'reboot'),
            (
                *(NODE_RECOVER, True, broken, None, ('SUCCEEDED', 'ACTIVE')),
                *('delete', 'create', 'create'),
            ),
        ):
            with self.subTest(action_type=action_type, idempotent=idempotent):
                world, node = self.create_world(idempotent=idempotent)
                world.save(node, **before)

                action = self.lose_worker_during(
                    world, node, (calls[-1], 'n'), action_type, inputs
                )

                row = world.reload(node)
                self.assertEqual(ended, (action.status, row.status))
                self.assertEqual(calls, self.calls(world))
                if action_type == NODE_CREATE:
                    self.assertIn('Outcome unknown', row.status_reason)

    def test_an_operation_in_progress_is_polled_by_another_worker(self):
        def create(self, context):
            return ResourceInProgress({'at': 1}, 0.0, 'its-id', {'kept': 1})

        def poll(self, context, operation, token):
            if context.attempt == 1:
                world.external.record_call('poll', 'n')
            return Ready(attributes={'output': (context.physical_id, context.data)})

        world, node = self.create_world(create=create, poll=poll, idempotent=False)

        action = self.lose_worker_during(world, node, ('poll', 'n'), NODE_CREATE)

        row = world.reload(node)
        self.assertEqual(('SUCCEEDED', 'ACTIVE'), (action.status, row.status))
        self.assertEqual('its-id', row.physical_id)
        self.assertEqual({'output': ['its-id', {'kept': 1}]}, row.attributes)

    def test_an_action_that_waited_for_a_lock_is_executed_normally(self):
        attempts = []

        def create(self, context):
            attempts.append(context.attempt)
            return Ready('x')

        def find(self, context):
            raise AssertionError('no earlier attempt has started')

        world, _ = self.create_world(create=create, find=find, idempotent=False)
        gate = self.create_gate_at(world, 'check', 'first')
        profile = world.profile(type_='killing')
        node = world.insert_node(profile, 'first', physical_id='y', status='ACTIVE')
        world.worker()
        held = world.request_action('NODE_CHECK', node)
        gate.wait_until_entered()
        waiting = world.request_action(NODE_CREATE, node, by=QUEUED)
        world.wait_until(
            lambda: world.store.get_action(waiting.uuid).status == 'WAITING',
            world.full_report,
        )

        # The check needs a physical id; the creation must not have one.
        world.save(node, physical_id=None)
        gate.open()
        world.wait_for_end(held)
        action = world.wait_for_end(waiting)

        self.assertEqual(('SUCCEEDED', 2), (action.status, action.attempt))
        self.assertEqual([1], attempts)
