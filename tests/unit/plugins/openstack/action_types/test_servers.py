"""The actions on servers."""

import types

from hypothesis import given
from hypothesis import strategies as st

from tests import base
from tests.unit.plugins.openstack.action_types.fake_cloud import (
    NANO,
    SERVER,
    TINY,
    Crash,
    FakeCloud,
    Worker,
)
from tests.unit.plugins.openstack.test_errors import from_service
from watcherlite import exceptions, testing
from watcherlite.domain.creators import LOCAL, Creator
from watcherlite.domain.outcomes import Done, Failed, Skipped
from watcherlite.plugins import schemas
from watcherlite.plugins.openstack.action_types.migrate import Migrate
from watcherlite.plugins.openstack.action_types.resize import Resize
from watcherlite.plugins.openstack.action_types.server_power import Start, Stop

LIVE = {'resource_id': SERVER, 'migration_type': 'live', 'source_node': 'c1'}
COLD = {**LIVE, 'migration_type': 'cold'}
TO_C2 = {'destination_node': 'c2'}
RESIZE = {'resource_id': SERVER, 'flavor': 'm1.tiny'}
POWER = {'resource_id': SERVER}
#: The actions: type, inputs, the server before, and the calls with an effect.
CASES = (
    (Migrate, LIVE, {}, ['live_migrate_server']),
    (Migrate, {**LIVE, **TO_C2}, {}, ['live_migrate_server']),
    (Migrate, COLD, {}, ['migrate_server', 'confirm_server_resize']),
    (Migrate, {**COLD, **TO_C2}, {}, ['migrate_server', 'confirm_server_resize']),
    (Resize, RESIZE, {}, ['resize_server', 'confirm_server_resize']),
    (Stop, POWER, {}, ['stop_server']),
    (Start, POWER, {'status': 'SHUTOFF'}, ['start_server']),
)


def cloud_with(**server):
    cloud = FakeCloud()
    cloud.add_server(**server)
    return cloud


def run(action_type, inputs, cloud=None, **server):
    return Worker(action_type, inputs, cloud or cloud_with(**server)).run()


class TestServerActions(base.TestCase):
    def test_each_ends_after_one_request_and_the_confirmation(self):
        for action_type, inputs, before, effects in CASES:
            cloud = cloud_with(**before)

            self.assertIsInstance(run(action_type, inputs, cloud), Done)

            self.assertEqual(effects, cloud.effects())

    def test_each_is_skipped_if_the_server_is_deleted(self):
        for action_type, inputs, _, _ in CASES:
            expected = Skipped(f'Instance {SERVER} not found')

            self.assertEqual(expected, run(action_type, inputs, FakeCloud()))

    def test_a_server_of_another_project_is_not_found(self):
        for action_type, inputs in ((Resize, RESIZE), (Stop, POWER), (Start, POWER)):
            for project, kind in (('p2', Skipped), ('p1', Done)):
                cloud = cloud_with(
                    status='SHUTOFF' if action_type is Start else 'ACTIVE'
                )
                creator = Creator('user', project)

                outcome = Worker(action_type, inputs, cloud, creator=creator).run()

                self.assertIsInstance(outcome, kind)

    def test_a_locked_server_is_for_administrators(self):
        for creator, kind in ((Creator('user', 'p1'), Failed), (LOCAL, Done)):
            cloud = cloud_with(is_locked=True)

            outcome = Worker(Stop, POWER, cloud, creator=creator).run()

            self.assertIsInstance(outcome, kind)

    def test_an_action_sends_a_bounded_number_of_requests(self):
        for action_type, inputs, before, effects in CASES:
            cloud = cloud_with(**before)
            worker = Worker(action_type, inputs, cloud)
            plugin = worker.plugin()
            plugin.pre_condition(worker.context)
            token = plugin.execute(worker.context).token
            started = len(cloud.calls)
            worker.plugin().poll(worker.context, token)

            self.assertLessEqual(started, 5)
            self.assertEqual(started + 1, len(cloud.calls), (action_type, effects))

    def test_a_migration_is_for_administrators_of_the_cloud(self):
        worker = Worker(Migrate, LIVE, cloud_with(), creator=Creator('user', 'p1'))

        error = self.assertRaises(exceptions.Forbidden, worker.run)

        self.assertIn('limited to a project', str(error))

    @given(
        st.sampled_from(CASES),
        st.lists(
            st.tuples(st.integers(1, 20), st.booleans(), st.booleans()), max_size=3
        ),
    )
    def test_crashes_and_lost_answers_send_no_request_twice(self, case, faults):
        action_type, inputs, before, effects = case
        cloud = cloud_with(**before)
        cloud.faults = {
            number: (Crash() if crashes else from_service(503), has_effect)
            for number, crashes, has_effect in faults
        }

        outcome = run(action_type, inputs, cloud)

        self.assertIsInstance(outcome, Done)
        server = cloud.servers[SERVER]
        reached = {
            Migrate: server.compute_host == 'c2' and server.status == 'ACTIVE',
            Resize: server.flavor == TINY and server.status == 'ACTIVE',
            Stop: server.status == 'SHUTOFF',
            Start: server.status == 'ACTIVE',
        }
        self.assertTrue(reached[action_type])
        # A request that had no effect is sent again.
        without = [
            cloud.calls[n - 1]
            for n, (_, e) in cloud.faults.items()
            if not e and n <= len(cloud.calls)
        ]
        for name in effects:
            if name != 'confirm_server_resize':
                self.assertLessEqual(cloud.calls.count(name), 1 + without.count(name))

    def test_a_refused_request_fails_with_the_message_of_nova(self):
        cloud = cloud_with(status='PAUSED')

        error = self.assertRaises(exceptions.Conflict, Worker(Start, POWER, cloud).run)

        self.assertIn('Cannot do this', str(error))

    def test_a_server_deleted_during_an_action_fails_it(self):
        for action_type, inputs, before, _ in CASES:
            cloud = cloud_with(**before)
            worker = Worker(action_type, inputs, cloud)
            token = worker.plugin().execute(worker.context).token
            cloud.servers.clear()

            outcome = worker.plugin().poll(worker.context, token)

            expected = Failed(f'Instance {SERVER} not found')
            if action_type is Stop:
                expected = Done({'status': 'DELETED'})
            self.assertEqual(expected, outcome)

    def failing_cloud(self, *events):
        """Return a cloud whose migrations fail with these (result, details)."""
        cloud = cloud_with()
        cloud.failure = True
        cloud.nova_actions = [
            types.SimpleNamespace(
                action='live-migration',
                request_id='req-1',
                events=[
                    types.SimpleNamespace(result=result, details=details)
                    for result, details in events
                ],
            )
        ]
        return cloud

    def test_a_failed_task_names_its_recorded_cause(self):
        cloud = self.failing_cloud(
            ('Success', None), ('Error', 'No valid host was found.')
        )

        outcome = run(Migrate, LIVE, cloud)

        self.assertEqual(
            Failed(
                f'Live migration of instance {SERVER} failed: it is on node c1 in '
                'status ACTIVE: No valid host was found'
            ),
            outcome,
        )

    def test_a_cause_that_is_not_recorded_yet_is_awaited_for_a_time(self):
        for recorded_after, expected in (
            (3, ': out of memory'),
            (99, '; see the log of nova-compute'),
        ):
            cloud = self.failing_cloud((None, None))
            reads, event = [], cloud.nova_actions[0].events[0]

            class Recording(Migrate):
                def _recorded_events(
                    self, *args, reads=reads, event=event, after=recorded_after
                ):
                    reads.append(1)
                    if len(reads) == after:
                        event.result, event.details = 'Error', 'out of memory'
                    return super()._recorded_events(*args)

            outcome = run(Recording, LIVE, cloud)

            self.assertTrue(outcome.reason.endswith(expected), outcome.reason)
            self.assertEqual(min(recorded_after, 10), len(reads))

    def test_a_cause_that_may_not_be_read_leaves_the_failure_as_it_is(self):
        cloud = self.failing_cloud(('Error', 'secret'))
        cloud.faults = {7: (from_service(403), False)}

        outcome = run(Migrate, LIVE, cloud)

        self.assertEqual('server_actions', cloud.calls[6])
        self.assertIn('see the log of nova-compute', outcome.reason)

    def test_a_server_in_error_names_its_fault(self):
        cloud = cloud_with()
        worker = Worker(Stop, POWER, cloud)
        token = worker.plugin().execute(worker.context).token
        server = cloud.add_server(status='ERROR', fault={'message': 'out of disk'})

        outcome = worker._polled(worker.plugin().poll(worker.context, token))

        self.assertIn(f'{server.status}: out of disk', outcome.reason)


class TestMigrate(base.TestCase):
    def test_conditions(self):
        for inputs, server, expected in (
            (
                LIVE,
                {'compute_host': 'c2'},
                Skipped(
                    f'Instance {SERVER} is not running on source node c1 '
                    '(currently on c2)'
                ),
            ),
            (
                {**LIVE, 'destination_node': 'c1'},
                {},
                Skipped(f'Instance {SERVER} is already on node c1'),
            ),
            (
                {**LIVE, 'destination_node': 'c9'},
                {},
                Failed('Destination node c9 not found'),
            ),
            (
                LIVE,
                {'status': 'SHUTOFF'},
                Failed(
                    f'Live migration requires instance {SERVER} to be in status '
                    'ACTIVE or PAUSED (current status: SHUTOFF)'
                ),
            ),
        ):
            self.assertEqual(expected, run(Migrate, inputs, **server))

    def test_a_paused_server_migrates_live(self):
        cloud = cloud_with(status='PAUSED')

        outcome = run(Migrate, LIVE, cloud)

        self.assertEqual('PAUSED', outcome.outputs['status'])
        self.assertEqual(['live_migrate_server'], cloud.effects())

    def test_a_disabled_destination_fails(self):
        cloud = cloud_with()
        cloud.services[1].status = 'disabled'

        outcome = run(Migrate, {**LIVE, **TO_C2}, cloud)

        self.assertEqual(Failed('Destination node c2 is not in enabled state'), outcome)

    def test_a_hidden_host_names_the_missing_right(self):
        cloud = cloud_with(compute_host=None, instance_name=None)

        error = self.assertRaises(
            exceptions.Forbidden, Worker(Migrate, LIVE, cloud).run
        )

        self.assertIn('os_compute_api:os-extended-server-attributes', str(error))

    def test_the_resize_of_a_user_is_not_confirmed(self):
        cloud = cloud_with(status='VERIFY_RESIZE', compute_host='c2')

        self.assertIsInstance(run(Migrate, COLD, cloud), Skipped)
        self.assertEqual([], cloud.effects())

    def test_revert_moves_the_server_back(self):
        for inputs in (LIVE, COLD, {**LIVE, **TO_C2}):
            cloud = cloud_with(compute_host='c2')
            worker = Worker(Migrate, inputs, cloud)

            outcome = worker.revert({'source_node': 'c1', 'destination_node': 'c2'})

            self.assertEqual('c1', outcome.outputs['destination_node'])
            self.assertEqual('c1', cloud.servers[SERVER].compute_host)

    def test_cancel_aborts_a_live_migration_that_nova_has_not_started_yet(self):
        cloud = cloud_with()
        item = types.SimpleNamespace
        cloud.migrations = [[], [item(id='early')], [item(id='running')]]
        worker, pauses = Worker(Migrate, LIVE, cloud), []
        token = worker.plugin().execute(worker.context).token
        # nova is not available for a moment.
        cloud.faults = {len(cloud.calls) + 1: (from_service(503), False)}
        token = worker.plugin().poll(worker.context, token).token
        self.patch(Migrate, 'sleep', lambda self, seconds: pauses.append(seconds))

        worker.plugin().cancel(worker.context, token)

        self.assertEqual([0.2, 0.4], pauses)
        self.assertEqual(2, cloud.calls.count('abort_server_migration'))

    def test_cancel_reverts_a_cold_migration_that_awaits_confirmation(self):
        cloud = cloud_with()
        worker = Worker(Migrate, COLD, cloud)
        token = worker.plugin().execute(worker.context).token

        worker.plugin().cancel(worker.context, token)
        self.assertIn('nova cannot abort', worker.context.logged['log'])
        worker.plugin().cancel(worker.context, token)

        self.assertEqual('REVERT_RESIZE', cloud.servers[SERVER].status)


class TestResize(base.TestCase):
    def test_conditions(self):
        for inputs, server, expected in (
            (
                RESIZE,
                {'flavor': TINY},
                Skipped(f'Instance {SERVER} already has flavor m1.tiny'),
            ),
            ({**RESIZE, 'flavor': '7'}, {}, Failed('Flavor 7 not found')),
        ):
            self.assertEqual(expected, run(Resize, inputs, **server))

    def test_private_flavors_are_for_administrators(self):
        inputs = {**RESIZE, 'flavor': 'private'}
        limited = Worker(Resize, inputs, cloud_with(), creator=Creator('user', 'p1'))

        self.assertEqual(Failed('Flavor private not found'), limited.run())
        self.assertIsInstance(run(Resize, inputs), Done)

    def test_revert_returns_to_the_former_flavor(self):
        cloud = cloud_with()
        worker = Worker(Resize, RESIZE, cloud)
        outputs = worker.run().outputs

        self.assertIsInstance(Worker(Resize, RESIZE, cloud).revert(outputs), Done)

        self.assertEqual(NANO, cloud.servers[SERVER].flavor)

    def test_a_former_flavor_that_is_unknown_fails_the_revert(self):
        outcome = Worker(Resize, RESIZE, cloud_with()).revert(None)

        self.assertIn('is not known', outcome.reason)


class TestPower(base.TestCase):
    def test_conditions(self):
        for action_type, status, expected in (
            (Stop, 'SHUTOFF', Skipped(f'Instance {SERVER} is already stopped')),
            (Start, 'ACTIVE', Skipped(f'Instance {SERVER} is already started')),
        ):
            self.assertEqual(expected, run(action_type, POWER, status=status))

    def test_revert_starts_what_was_stopped(self):
        for action_type, before, after in (
            (Stop, 'SHUTOFF', 'ACTIVE'),
            (Start, 'ACTIVE', 'SHUTOFF'),
        ):
            cloud = cloud_with(status=before)

            Worker(action_type, POWER, cloud).revert({})

            self.assertEqual(after, cloud.servers[SERVER].status)


class TestInputs(base.TestCase):
    def test_refused_inputs(self):
        for action_type, inputs, problem in (
            (Stop, {'resource_id': 'web'}, 'resource_id'),
            (Migrate, {**LIVE, 'migration_type': 'warm'}, 'migration_type'),
            (Migrate, {**LIVE, 'destination_node': ''}, 'destination_node'),
            (Resize, {**RESIZE, 'flavor': 'x' * 300}, 'flavor'),
        ):
            error = self.assertRaises(
                exceptions.InvalidInput, schemas.validate_inputs, action_type, inputs
            )

            self.assertIn(f'input_parameters.{problem}', str(error))

    def test_a_destination_may_be_null(self):
        schemas.validate_inputs(Migrate, {**LIVE, 'destination_node': None})

    def test_an_unavailable_service_delays_the_check_without_a_start(self):
        cloud = cloud_with()
        cloud.faults = {1: (from_service(503), False)}

        result = testing.run_action(Stop, POWER, clouds=cloud)

        self.assertEqual('SUCCEEDED', result.status)
        self.assertIn(('action', 'RUNNING', 'SUCCEEDED'), result.history)
