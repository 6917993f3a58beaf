"""The action on volumes."""

import types

from hypothesis import given
from hypothesis import strategies as st

from tests import base
from tests.unit.plugins.openstack.action_types.fake_cloud import (
    SERVER,
    VOLUME,
    Crash,
    FakeCloud,
    Worker,
)
from tests.unit.plugins.openstack.test_errors import from_service
from watcherlite import exceptions
from watcherlite.domain.outcomes import Done, Failed, Skipped
from watcherlite.plugins import schemas
from watcherlite.plugins.openstack.action_types.volume_migrate import VolumeMigrate

ATTACHED = {'status': 'in-use', 'attachments': [{'server_id': SERVER}]}


def inputs(kind, node=None, volume_type=None):
    made = {'resource_id': VOLUME, 'migration_type': kind}
    if node is not None:
        made['destination_node'] = node
    if volume_type is not None:
        made['destination_type'] = volume_type
    return made


MIGRATE = inputs('migrate', 's@fast#2')
RETYPE = inputs('retype', volume_type='slow')


def cloud_with(**volume):
    cloud = FakeCloud()
    cloud.add_volume(**volume)
    cloud.add_server()
    return cloud


def run(given_inputs, **volume):
    return Worker(VolumeMigrate, given_inputs, cloud_with(**volume)).run()


class TestVolumeMigrate(base.TestCase):
    def test_conditions(self):
        for given_inputs, volume, expected in (
            (RETYPE, {'volume_type': 'slow'}, Skipped('Volume type is already slow')),
            (
                MIGRATE,
                {'host': 's@fast#2'},
                Skipped('Volume is already on node s@fast#2'),
            ),
            (inputs('migrate', 's@x#1'), {}, Failed('Pool s@x#1 not found')),
            (inputs('retype', volume_type='x'), {}, Failed('Volume type x not found')),
            (
                inputs('swap', 's@slow#1'),
                {},
                Failed(
                    "Volume type 'fast' is not compatible with destination pool "
                    "'s@slow#1'"
                ),
            ),
        ):
            self.assertEqual(expected, run(given_inputs, **volume))

    def test_it_is_skipped_if_the_volume_is_deleted(self):
        outcome = Worker(VolumeMigrate, MIGRATE, FakeCloud()).run()

        self.assertEqual(Skipped(f'Volume {VOLUME} not found'), outcome)

    def test_a_volume_of_a_server_that_cannot_copy_it_fails(self):
        cloud = cloud_with(**ATTACHED)
        cloud.servers[SERVER].status = 'SHUTOFF'

        outcome = Worker(VolumeMigrate, MIGRATE, cloud).run()

        self.assertIn('Invalid state for swapping volume', outcome.reason)
        self.assertIn('in status SHUTOFF', outcome.reason)

    def test_the_destination_decides_about_a_swap(self):
        for given_inputs, effects in (
            (inputs('swap', 's@fast#2'), ['migrate_volume']),
            (inputs('swap', None, 'slow'), ['retype_volume']),
        ):
            cloud = cloud_with(**ATTACHED)

            outcome = Worker(VolumeMigrate, given_inputs, cloud).run()

            self.assertIsInstance(outcome, Done)
            self.assertEqual(effects, cloud.effects())

    def test_a_swap_ends_when_nova_uses_the_copy(self):
        for unfinished, ends in ((3, 3), (1000, 30)):
            cloud = cloud_with(**ATTACHED)
            event = types.SimpleNamespace(result=None)
            cloud.nova_actions = [
                types.SimpleNamespace(
                    action='swap_volume', request_id='req-1', events=[event]
                )
            ]
            worker = Worker(VolumeMigrate, inputs('swap', 's@fast#2'), cloud)
            polls = []

            def pass_time(
                seconds, polls=polls, event=event, worker=worker, unfinished=unfinished
            ):
                if worker.token.get('until'):
                    polls.append(seconds)
                    if len(polls) == unfinished:
                        event.result = 'Success'
                worker.context.clock.advance(seconds)

            worker.context.pass_time = pass_time

            self.assertIsInstance(worker.run(), Done)
            self.assertEqual(ends, len(polls))

    @given(
        st.sampled_from([MIGRATE, RETYPE]),
        st.lists(
            st.tuples(st.integers(1, 12), st.booleans(), st.booleans()), max_size=3
        ),
    )
    def test_crashes_and_lost_answers_send_no_request_twice(self, given_inputs, faults):
        cloud = cloud_with()
        cloud.faults = {
            number: (Crash() if crashes else from_service(503), has_effect)
            for number, crashes, has_effect in faults
        }

        outcome = Worker(VolumeMigrate, given_inputs, cloud).run()

        self.assertIsInstance(outcome, Done)
        without = [
            number
            for number, (_, has_effect) in cloud.faults.items()
            if not has_effect
            and number <= len(cloud.calls)
            and cloud.calls[number - 1].endswith('_volume')
            and cloud.calls[number - 1] != 'get_volume'
        ]
        self.assertEqual(1 + len(without), len(cloud.effects()))

    def test_a_failed_migration_names_the_statuses_of_cinder(self):
        for given_inputs, expected in (
            (MIGRATE, 'on node s@fast#1 with type fast'),
            (RETYPE, 'status available'),
        ):
            cloud = cloud_with()
            cloud.failure = True

            outcome = Worker(VolumeMigrate, given_inputs, cloud).run()

            self.assertIn(expected, outcome.reason)

    def test_a_destination_is_required(self):
        for given_inputs, problem in (
            (inputs('migrate', None, 'slow'), 'requires destination_node'),
            (inputs('retype', 's@fast#2'), 'requires destination_type'),
            (inputs('swap'), 'requires destination_node or destination_type'),
        ):
            error = self.assertRaises(
                exceptions.InvalidInput,
                schemas.validate_inputs,
                VolumeMigrate,
                given_inputs,
            )

            self.assertIn(problem, str(error))
