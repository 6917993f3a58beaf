"""ResourceRun, with which authors test resource handlers."""

from typing import ClassVar

from tests import base
from watcherlite import exceptions
from watcherlite.domain.resource_results import (
    PassOn,
    Property,
    Ready,
    ResourceInProgress,
)
from watcherlite.plugins.base import ResourceHandler
from watcherlite.testing import ResourceRun


class Disk(ResourceHandler):
    """Records all its calls."""

    calls: ClassVar[list] = []
    properties: ClassVar = {
        'size': Property({'type': 'integer'}, required=True, updatable=True),
        'kind': Property({'type': 'string', 'default': 'slow'}),
    }

    def validate(self, properties):
        if properties['size'] == 13:
            raise exceptions.Invalid('properties.size: 13 brings bad luck')

    def create(self, context):
        self.calls.append(('create', dict(context.properties)))
        return ResourceInProgress(
            {'places': (1, 2)}, 2, 'disk-1', {'key': context.uuid}
        )

    def find(self, context):
        self.calls.append(('find', context.attempt))
        return None

    def update(self, context):
        before, after = context.before['size'], context.properties['size']
        self.calls.append(('update', before, after))
        if after < before:
            raise exceptions.WatcherliteError('It cannot shrink')

    def poll(self, context, operation, token):
        self.calls.append(('poll', operation, token, context.physical_id))
        self.kept = context.data['key'] == context.uuid
        return Ready(attributes={'size': context.properties['size'], 'own': self.kept})

    def delete(self, context):
        self.calls.append(('delete', context.physical_id))

    def signal(self, context, details):
        return PassOn(details['to'], {})

    def cancel(self, context, operation, token):
        self.calls.append(('cancel', operation))


class TestRun(base.TestCase):
    def setUp(self):
        super().setUp()
        Disk.calls.clear()
        self.run_ = ResourceRun(Disk, timeout=60)

    def test_a_resource_is_created_updated_and_deleted(self):
        run = self.run_

        created = run.create({'size': '5'})
        run.update({'size': 6})
        run.check()
        run.lock()
        run.unlock()
        run.suspend()
        run.resume()
        run.delete()

        self.assertEqual(
            ('COMPLETE', 1, 2), (created.status, created.polls, created.seconds)
        )
        self.assertEqual({'size': 5, 'own': True}, run.attributes)
        self.assertEqual(
            [
                ('create', {'size': 5, 'kind': 'slow'}),
                # As the store returns it.
                ('poll', 'create', {'places': [1, 2]}, 'disk-1'),
                ('update', 5, 6),
                ('delete', 'disk-1'),
            ],
            Disk.calls,
        )
        self.assertEqual(
            [
                f'{name}_COMPLETE'
                for name in (
                    'CREATE',
                    'UPDATE',
                    'CHECK',
                    'LOCK',
                    'UNLOCK',
                    'SUSPEND',
                    'RESUME',
                    'DELETE',
                )
            ],
            run.history,
        )

    def test_properties_are_checked_as_the_engine_does(self):
        for given, expected in (
            ({}, 'properties.size: is required'),
            ({'size': 13}, 'properties.size: 13 brings bad luck'),
        ):
            error = self.assertRaises(exceptions.Invalid, self.run_.create, given)

            self.assertEqual(expected, str(error))
        self.assertEqual([], Disk.calls)
        self.assertEqual(
            {'size': None, 'kind': 'slow'}, self.run_.fit({'size': None}, known=False)
        )

    def test_a_change_is_an_update_a_replacement_or_nothing(self):
        run = self.run_
        run.create({'size': 5})
        first = run.uuid
        Disk.calls.clear()

        self.assertEqual('keep', run.update({'size': 5}).change)
        self.assertEqual('update', run.update({'size': 6}).change)
        self.assertEqual('replace', run.update({'size': 6, 'kind': 'fast'}).change)

        self.assertNotEqual(first, run.uuid)
        self.assertEqual(
            ['update', 'create', 'poll', 'delete'], [what for what, *_ in Disk.calls]
        )

    def test_failed_resource_has_a_reason_and_is_replaced(self):
        run = self.run_
        run.create({'size': 5})

        failed = run.update({'size': 4})

        self.assertEqual(('FAILED', 'It cannot shrink'), (failed.status, failed.reason))
        self.assertTrue(run.failed)
        self.assertEqual('replace', run.update({'size': 5}).change)

    def test_find_is_called_first_after_a_lost_worker(self):
        self.run_.create({'size': 5}, attempt=2)

        self.assertEqual(['find', 'create', 'poll'], [what for what, *_ in Disk.calls])

    def test_operation_is_cancelled_after_its_timeout(self):
        run = ResourceRun(Disk, timeout=1)

        created = run.create({'size': 5})

        self.assertEqual(('FAILED', 'Timed out'), (created.status, created.reason))
        self.assertEqual(['create', 'cancel'], [what for what, *_ in Disk.calls])

    def test_a_signal_may_be_for_another_resource(self):
        self.assertEqual(PassOn('web', {}), self.run_.signal({'to': 'web'}).passed_on)

    def test_invalid_results_are_reported(self):
        class InvalidData(Disk):
            def create(self, context):
                return Ready(data={'a': object()})

            def delete(self, context):
                return 'done'

        run = ResourceRun(InvalidData)

        self.assertIn(
            'its Ready contains values that are not JSON',
            run.create({'size': 1}).reason,
        )
        self.assertEqual(
            'delete returned str, which is not a result', run.delete().reason
        )

    def test_a_handler_that_could_not_be_loaded_is_refused(self):
        class Broken(Disk):
            properties: ClassVar = {'size': Property({'type': 'x'})}

        self.assertRaises(exceptions.PluginError, ResourceRun, Broken)
