"""The actions on hosts: the nova-compute service, and the power of a node."""

from tests import base
from tests.unit.plugins.openstack.action_types.fake_cloud import (
    Crash,
    FakeCloud,
    Worker,
)
from tests.unit.plugins.openstack.test_errors import from_service
from watcherlite import exceptions
from watcherlite.domain.creators import Creator
from watcherlite.domain.outcomes import Done, Failed, Skipped
from watcherlite.plugins import schemas
from watcherlite.plugins.openstack.action_types.compute_service import (
    ChangeNovaServiceState,
)
from watcherlite.plugins.openstack.action_types.node_power import ChangeNodePowerState

DISABLE = {
    'resource_id': 'id-c1',
    'resource_name': 'c1',
    'state': 'disabled',
    'disabled_reason': 'watcher_maintaining',
}
OFF = {'resource_id': 'n1', 'state': 'off'}


class TestChangeNovaServiceState(base.TestCase):
    def setUp(self):
        super().setUp()
        self.cloud = FakeCloud()
        self.service = self.cloud.services[0]

    def worker(self, inputs, **context):
        return Worker(ChangeNovaServiceState, inputs, self.cloud, **context)

    def test_it_disables_with_the_reason_and_enables(self):
        outcome = self.worker(DISABLE).run()

        self.assertEqual(Done({'host': 'c1', 'state': 'disabled'}), outcome)
        self.assertEqual('watcher_maintaining', self.service.disabled_reason)

        outcome = self.worker({'resource_id': 'c1', 'state': 'enabled'}).run()

        self.assertEqual('enabled', self.service.status)
        self.assertEqual(
            'watcher_maintaining', outcome.outputs['former_disabled_reason']
        )

    def test_a_service_is_named_by_its_host_or_its_id(self):
        for inputs in (
            {'resource_id': 'id-c2', 'state': 'disabled'},
            {'resource_id': 'c2', 'state': 'disabled'},
            {'resource_id': 'x', 'resource_name': 'c2', 'state': 'disabled'},
        ):
            self.cloud.services[1].status = 'enabled'

            outcome = self.worker(inputs).run()

            self.assertEqual('c2', outcome.outputs['host'])

    def test_skipping_conditions(self):
        for inputs, reason in (
            (
                {'resource_id': 'c9', 'state': 'disabled'},
                'nova-compute service c9 not found',
            ),
            (
                {**DISABLE, 'state': 'enabled'},
                'nova-compute service c1 is already in state enabled',
            ),
        ):
            self.assertEqual(Skipped(reason), self.worker(inputs).run())

    def test_revert_restores_the_former_reason(self):
        enable = {**DISABLE, 'state': 'enabled'}
        self.worker(enable).revert({'former_disabled_reason': 'broken fan'})

        self.assertEqual(
            ('disabled', 'broken fan'),
            (self.service.status, self.service.disabled_reason),
        )

    def test_a_worker_lost_after_the_request_does_not_repeat_it(self):
        self.cloud.faults = {3: (Crash(), True)}

        self.assertIsInstance(self.worker(DISABLE).run(), Done)

        self.assertEqual(['disable_service'], self.cloud.effects())

    def test_it_is_for_administrators_of_the_cloud(self):
        worker = self.worker(DISABLE, creator=Creator('user', 'p1'))

        self.assertRaises(exceptions.Forbidden, worker.run)
        self.assertEqual([], self.cloud.calls)

    def test_states_that_only_nova_sets_are_refused(self):
        error = self.assertRaises(
            exceptions.InvalidInput,
            schemas.validate_inputs,
            ChangeNovaServiceState,
            {**DISABLE, 'state': 'down'},
        )

        self.assertIn('down cannot be requested; use enabled or disabled', str(error))


class TestChangeNodePowerState(base.TestCase):
    def setUp(self):
        super().setUp()
        self.cloud = FakeCloud()
        self.node = self.cloud.add_node()

    def worker(self, inputs=OFF):
        return Worker(ChangeNodePowerState, inputs, self.cloud)

    def test_it_switches_a_node_off_and_revert_switches_it_on(self):
        outcome = self.worker().run()

        self.assertEqual(Done({'power_state': 'power off'}), outcome)

        self.worker().revert(outcome.outputs)

        self.assertEqual('power on', self.node.power_state)

    def test_skipping_conditions(self):
        for inputs, reason in (
            ({**OFF, 'resource_id': 'n9'}, 'Node n9 not found'),
            ({**OFF, 'state': 'on'}, 'Node n1 is already on'),
        ):
            self.assertEqual(Skipped(reason), self.worker(inputs).run())

    def test_a_compute_host_with_servers_is_not_switched_off(self):
        self.node.extra = {'compute_node_id': 'h1'}
        self.cloud.hosted = [{'name': 'web'}]

        self.assertEqual(
            Failed('Compute node c1 has 1 servers and is not switched off'),
            self.worker().run(),
        )

        self.cloud.hosted = []
        self.assertIsInstance(self.worker().run(), Done)

    def test_a_failure_names_the_last_error_of_ironic(self):
        self.cloud.failure = True

        self.assertEqual(
            Failed('Node n1 is in power state power on: no answer of the BMC'),
            self.worker().run(),
        )

    def test_crashes_and_lost_answers_send_no_request_twice(self):
        for number in range(1, 6):
            for error in (Crash(), from_service(503)):
                self.node = self.cloud.add_node()
                self.cloud.calls.clear()
                self.cloud.faults = {number: (error, True)}

                self.assertIsInstance(self.worker().run(), Done)

                self.assertEqual(['set_node_power_state'], self.cloud.effects())
