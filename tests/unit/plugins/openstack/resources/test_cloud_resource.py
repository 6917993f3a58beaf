"""The base of resource types: recovery, polling, updates, checks and deletion."""

from typing import ClassVar

from tests.unit.plugins.openstack.resources import case, fake_cloud
from watcherlite import exceptions
from watcherlite.domain.resource_results import KEEP, REPLACE, UPDATE
from watcherlite.plugins.openstack.resources import fields
from watcherlite.plugins.openstack.resources.cloud_resource import CloudResource
from watcherlite.plugins.openstack.resources.fields import field
from watcherlite.plugins.openstack.resources.markers import (
    KEY,
    DescriptionMarker,
    MetadataMarker,
)


class Disk(CloudResource):
    """A type with all that the base offers."""

    service = 'block_storage'
    noun = 'disk'
    needs = ('place',)
    aliases: ClassVar = {'location': 'place'}
    settled = frozenset({'READY'})
    waits_for_deletion = True
    properties: ClassVar = {
        'name': field(fields.TEXT, 'The name.', updatable=True, sent=fields.OWN),
        'place': field(fields.TEXT, 'The place.'),
        'location': field(fields.TEXT, 'The former name.', sent=fields.OWN),
        'size': field(fields.INTEGER, 'The size.', default=1, updatable=True),
        'labels': field(fields.TEXTS, 'The labels.', updatable=True, sent='tags'),
        'kind': field(fields.TEXT, 'The kind.', immutable=True),
    }
    attributes: ClassVar = {'size': 'The size.'}


class DescribedDisk(Disk):
    """A type whose mark is the description."""

    marker = DescriptionMarker()


class LabelledDisk(Disk):
    """A type whose mark is in the metadata."""

    marker = MetadataMarker()


class TestDecisions(case.ResourceCase):
    def decide(self, before, after, failed=False):
        run = self.run_of(Disk)
        handler = run._instance()
        return handler.decide(run.fit(before), run.fit(after), failed)

    def test_changes_are_kept_updated_or_replaced(self):
        base = {'place': 'here', 'kind': 'a'}
        for after, failed, expected in (
            ({}, False, KEEP),
            ({'size': '1'}, False, KEEP),
            ({'size': 2}, False, UPDATE),
            ({'name': 'other', 'labels': ['x']}, False, UPDATE),
            ({'place': 'there'}, False, REPLACE),
            ({'place': 'there', 'size': 2}, False, REPLACE),
            ({}, True, REPLACE),
            ({'size': 2}, True, REPLACE),
        ):
            with self.subTest(after=after, failed=failed):
                self.assertEqual(expected, self.decide(base, {**base, **after}, failed))

    def test_a_former_name_of_a_property_is_no_change(self):
        self.assertEqual(KEEP, self.decide({'place': 'here'}, {'location': 'here'}))

    def test_an_immutable_property_cannot_change(self):
        with self.assertRaisesRegex(exceptions.Invalid, 'kind cannot be changed'):
            self.decide({'place': 'a', 'kind': 'a'}, {'place': 'a', 'kind': 'b'})


class TestValidation(case.ResourceCase):
    def test_a_property_is_required_under_one_of_its_names(self):
        run = self.run_of(Disk)

        run.fit({'location': 'here'})
        run.fit({'place': None}, known=False)
        with self.assertRaisesRegex(exceptions.Invalid, 'properties.place: is requir'):
            run.fit({})
        with self.assertRaisesRegex(exceptions.Invalid, 'location: cannot be combined'):
            run.fit({'location': 'here', 'place': 'here'})


class TestCreation(case.ResourceCase):
    def setUp(self):
        super().setUp()
        self.disks = self.connection.block_storage
        self.disks.defaults['disk'] = {'status': 'busy'}
        self.disks.statuses['disk'] = ['busy', 'ready']

    def test_it_is_polled_until_it_can_be_used(self):
        run = self.run_of(DescribedDisk)

        settled = run.create({'place': 'here', 'labels': ['a']})

        self.assertEqual(('COMPLETE', 2), (settled.status, settled.polls))
        (record,) = self.disks.objects['disk'].values()
        self.assertEqual(record['id'], run.physical_id)
        self.assertEqual(
            ('here', 1, ['a']), tuple(record[k] for k in ('place', 'size', 'tags'))
        )
        self.assertEqual(run.physical_name, record['name'])
        self.assertEqual(1, run.attributes['size'])
        self.assertEqual('here', run.attributes['show']['place'])

    def test_the_authority_is_that_of_the_stack(self):
        self.created(DescribedDisk, {'place': 'here'})

        self.assertEqual({None}, set(self.clouds.credentials))

    def test_a_lost_worker_leaves_one_object(self):
        for kind in (Disk, DescribedDisk, LabelledDisk):
            for name in ({}, {'name': 'shared'}):
                with self.subTest(kind=kind.__name__, name=name):
                    self.disks.objects.clear()
                    self.disks.statuses['disk'] = ['ready'] * 10
                    other = self.created(kind, {'place': 'here', **name})
                    run = self.run_of(kind)
                    self.disks.lost = ['create_disk']
                    # The request had its effect, and the worker saw no answer.
                    handler = run._instance()
                    context = run._context(
                        run._action(1), run.fit({'place': 'here', **name})
                    )
                    handler.create(context)

                    settled = run.create({'place': 'here', **name}, attempt=2)

                    self.assertEqual('COMPLETE', settled.status, settled.reason)
                    self.assertEqual(2, len(self.disks.objects['disk']))
                    self.assertNotEqual(other.physical_id, run.physical_id)
                    found = self.disks.objects['disk'][run.physical_id]
                    desired = name.get('name') or run.physical_name
                    self.assertEqual(desired, found['name'])

    def test_a_lost_answer_creates_no_second_object(self):
        self.disks.lost = ['create_disk']
        run = self.run_of(LabelledDisk)

        settled = run.create({'place': 'here'})

        self.assertEqual('COMPLETE', settled.status, settled.reason)
        self.assertEqual(1, len(self.disks.objects['disk']))
        (record,) = self.disks.objects['disk'].values()
        self.assertEqual(run.uuid, record['metadata'][KEY])

    def test_an_unavailable_service_delays_it(self):
        self.disks.failures['create_disk'] = [fake_cloud.unavailable()] * 3
        run = self.run_of(DescribedDisk)

        settled = run.create({'place': 'here'})

        self.assertEqual('COMPLETE', settled.status, settled.reason)
        self.assertGreaterEqual(settled.seconds, 2 + 4 + 8)
        self.assertEqual(1, len(self.disks.objects['disk']))

    def test_a_failed_status_fails_it(self):
        self.disks.statuses['disk'] = ['error']

        settled = self.run_of(Disk).create({'place': 'here'})

        self.assertEqual('FAILED', settled.status)
        self.assertIn('resource: disk', settled.reason)
        self.assertIn('has the status ERROR', settled.reason)

    def test_nothing_is_requested_without_the_lease(self):
        run = self.run_of(Disk)
        run.lease_lost = True

        settled = run.create({'place': 'here'})

        self.assertEqual('FAILED', settled.status)
        self.assertNotIn('create_disk', self.disks.names())


class TestExisting(case.ResourceCase):
    def setUp(self):
        super().setUp()
        self.disks = self.connection.block_storage
        self.disks.defaults['disk'] = {'status': 'ready'}
        self.run_ = self.created(DescribedDisk, {'place': 'here', 'labels': ['a']})
        self.disks.calls.clear()

    @property
    def record(self):
        return self.disks.objects['disk'][self.run_.physical_id]

    def test_an_update_sends_only_what_has_changed(self):
        settled = self.run_.update({'place': 'here', 'size': 2})

        self.assertEqual((UPDATE, 'COMPLETE'), (settled.change, settled.status))
        sent = [kwargs for name, _, kwargs in self.disks.calls if name == 'update_disk']
        self.assertEqual([{'size': 2, 'tags': []}], sent)
        self.assertEqual(2, self.run_.attributes['size'])

    def test_a_removed_name_becomes_the_unique_one(self):
        self.run_.update({'place': 'here', 'labels': ['a'], 'name': 'x'})
        self.assertEqual('x', self.record['name'])
        self.run_.update({'place': 'here', 'labels': ['a']})
        self.assertEqual(self.run_.physical_name, self.record['name'])

    def test_a_check_detects_a_missing_or_failed_object(self):
        self.assertEqual('COMPLETE', self.run_.check().status)
        self.record['status'] = 'error'
        self.assertIn('has the status ERROR', self.run_.check().reason)
        self.disks.objects['disk'].clear()
        self.assertIn('no longer exists', self.run_.check().reason)

    def test_a_check_is_inconclusive_while_the_service_is_unavailable(self):
        self.disks.failures['get_disk'] = [fake_cloud.unavailable()]
        handler = self.run_._instance()

        with self.assertRaises(exceptions.StateUnknown):
            handler.check(self.run_._context(self.run_._action(1)))

    def test_a_deletion_waits_until_the_object_is_deleted(self):
        settled = self.run_.delete()

        self.assertEqual(('COMPLETE', 1), (settled.status, settled.polls))
        self.assertEqual({}, self.disks.objects['disk'])
        self.assertEqual('COMPLETE', self.run_.delete().status)

    def test_a_deletion_that_others_prevent_is_repeated(self):
        self.disks.failures['delete_disk'] = [fake_cloud.conflict()] * 3

        self.assertEqual('COMPLETE', self.run_.delete().status)
        self.disks.failures['delete_disk'] = [fake_cloud.conflict('used by x')] * 99
        again = self.created(DescribedDisk, {'place': 'here'})
        settled = again.delete()
        self.assertEqual('FAILED', settled.status)
        self.assertIn('used by x', settled.reason)

    def test_the_deletion_after_a_failed_creation_finds_the_leftover(self):
        self.run_.physical_id = None

        self.assertEqual('COMPLETE', self.run_.delete().status)
        self.assertEqual({}, self.disks.objects['disk'])

    def test_an_existing_object_is_adopted_and_missing_ones_are_refused(self):
        adopting = self.run_of(DescribedDisk)

        self.assertEqual('COMPLETE', adopting.adopt(self.run_).status)
        self.disks.objects['disk'].clear()
        self.assertEqual('FAILED', adopting.adopt(self.run_).status)

    def test_credentials_are_not_shown(self):
        self.record['admin_password'] = 'secret-1'
        self.run_.check()

        self.assertNotIn('admin_password', self.run_.attributes['show'])
