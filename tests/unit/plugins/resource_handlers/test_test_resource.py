"""The resource type OS::Heat::TestResource."""

import datetime

from tests import base
from watcherlite import exceptions
from watcherlite.domain.resource_results import ResourceInProgress
from watcherlite.plugins.resource_handlers.test_resource import TestResource
from watcherlite.testing import ResourceRun
from watcherlite.testing.context import FakeContext


class TestTestResource(base.TestCase):
    def create(self, **properties):
        run = ResourceRun(TestResource, name='web', stack_name='shop', timeout=100)
        return run, run.create(properties)

    def test_a_wait_takes_the_configured_time_and_one_poll(self):
        for properties, seconds in (
            ({}, 0),
            ({'wait_secs': '3'}, 3),
            ({'wait_secs': 3, 'action_wait_secs': {'create': 5}}, 5),
            ({'wait_secs': 3, 'action_wait_secs': {'create': 0}}, 0),
            ({'wait_secs': 3, 'action_wait_secs': {'delete': 5}}, 3),
            ({'attr_wait_secs': 2, 'constraint_prop_secs': 1.5}, 3.5),
        ):
            run, created = self.create(**properties)

            self.assertEqual(
                ('COMPLETE', 1 if seconds else 0, seconds),
                (created.status, created.polls, created.seconds),
                properties,
            )
            self.assertEqual({'output': 'test_string'}, run.attributes)
            self.assertEqual(run.physical_name, run.physical_id)
            self.assertRegex(run.physical_id, '^shop-web-[0-9a-f]{12}$')

    def test_each_operation_has_its_own_wait_and_a_delete_none_for_attributes(self):
        waits = {'update': 2, 'delete': 4}
        attributes = {'attr_wait_secs': 2, 'constraint_prop_secs': 1.5}
        for before, after, expected in (
            (
                {'action_wait_secs': {'create': 1, **waits}, 'wait_secs': 9},
                {'action_wait_secs': waits},
                (2, 4),
            ),
            (attributes, {'attr_wait_secs': 3.5}, (3.5, 0)),
        ):
            run, _ = self.create(**before)
            updated = run.update({'value': 'b', **after})

            self.assertEqual(expected, (updated.seconds, run.delete().seconds))

    def test_a_wait_that_is_too_long_ends_at_the_timeout(self):
        for seconds in (-1, 101):
            run, created = self.create(wait_secs=seconds)

            self.assertEqual(
                ('FAILED', 'Timed out', 100),
                (created.status, created.reason, created.seconds),
            )
            self.assertEqual(['CREATE_FAILED'], run.history)
            self.assertEqual(run.physical_name, run.physical_id)

    def test_an_early_poll_continues_to_wait(self):
        context = FakeContext()
        until = context.now() + datetime.timedelta(seconds=9)
        token = {'until': until.isoformat()}

        result = TestResource().poll(context, 'delete', token)

        self.assertEqual(ResourceInProgress(token, 9.0), result)

    def test_a_failed_resource_can_be_deleted(self):
        run, created = self.create(fail=True, wait_secs=2)

        self.assertEqual(
            ('FAILED', 'Test Resource failed web', 2),
            (created.status, created.reason, created.seconds),
        )
        self.assertIsNone(run.physical_id)
        self.assertEqual('COMPLETE', run.delete().status)

    def test_an_unknown_property_is_rejected(self):
        error = self.assertRaises(exceptions.Invalid, self.create, wait_sec=1)

        self.assertEqual(
            'properties.wait_sec: is not known, did you mean wait_secs?', str(error)
        )

    def test_a_new_value_is_an_update_in_place(self):
        run, _ = self.create(value='a')
        before = run.physical_id

        self.assertEqual('update', run.update({'value': 'b'}).change)
        self.assertEqual(({'output': 'b'}, before), (run.attributes, run.physical_id))
        self.assertEqual('FAILED', run.update({'value': 'b', 'fail': 'true'}).status)

    def test_update_replace_or_a_failure_replaces_the_resource(self):
        replaces = {'update_replace': True}
        for before, after, change in (
            ({}, replaces, 'replace'),
            ({**replaces, 'value': 'a'}, {**replaces, 'value': 'b'}, 'replace'),
            (replaces, {**replaces, 'entity_name': 'b'}, 'update'),
            (replaces, {'update_replace': False}, 'update'),
            ({'update_replace_value': 'a'}, {'update_replace_value': 'b'}, 'replace'),
            ({'value': 'a'}, {'value': 'a'}, 'keep'),
            ({'fail': True}, {}, 'replace'),
        ):
            run, _ = self.create(**before)
            uuid = run.uuid

            self.assertEqual(change, run.update(after).change, (before, after))
            self.assertEqual(
                (change == 'replace', False), (run.uuid != uuid, run.failed)
            )

    def test_the_properties_are_those_of_heat(self):
        self.assertEqual(
            {
                *('value', 'fail', 'client_name', 'entity_name'),
                *('update_replace', 'update_replace_value', 'constraint_prop_secs'),
                *('wait_secs', 'action_wait_secs', 'attr_wait_secs'),
            },
            set(TestResource.properties),
        )


class TestOperations(base.TestCase):
    def create(self, **properties):
        run = ResourceRun(TestResource, name='web', timeout=100)
        run.create(properties)
        return run

    def test_a_broken_resource_is_unhealthy_until_its_repair(self):
        for repair in ('reboot', 'rebuild'):
            run = self.create(wait_secs=3)
            run.operate('break', {'reason': 'a test'})

            found, repaired = run.check(), run.operate(repair)

            self.assertEqual(
                ('FAILED', 'web is broken: a test'), (found.status, found.reason)
            )
            self.assertEqual(('COMPLETE', 3), (repaired.status, repaired.seconds))
            self.assertEqual('COMPLETE', run.check().status)

    def test_the_operation_fail_always_fails(self):
        failed = self.create().operate('fail', {'reason': 'no wind'})

        self.assertEqual(
            ('FAILED', 'Test Resource failed fail: no wind'),
            (failed.status, failed.reason),
        )
