"""Images: their import, and their protection."""

import types

from openstack.image.v2.image import Image

from tests.unit.plugins.openstack.resources import case, fake_cloud
from tests.unit.plugins.openstack.resources.test_services import FakeResponse
from watcherlite.plugins.openstack.resources.cloud_resource import record_of
from watcherlite.plugins.openstack.resources.images import WebImage

IMAGE = {
    'disk_format': 'raw',
    'container_format': 'bare',
    'location': 'https://images.example.org/tiny.raw',
}


class TestImages(case.ResourceCase):
    def setUp(self):
        super().setUp()
        self.image = self.connection.image
        self.image.defaults['image'] = {'status': 'queued'}
        self.response = FakeResponse(202)
        self.image.import_image = self.start_import
        self.offer('glance-direct', 'web-download')

    def start_import(self, image, **options):
        self.image.calls.append(('import_image', (image,), options))
        return self.response

    def offer(self, *methods):
        """Let the image service have these import methods."""
        info = fake_cloud.FakeObject({'import_methods': {'value': list(methods)}})
        self.image.get_import_info = lambda: info

    def made(self, **properties):
        self.image.statuses['image'] = ['queued', 'importing', 'active']
        return self.created(WebImage, {**IMAGE, **properties})

    def protection(self, run):
        return self.image.objects['image'][run.physical_id].get('is_protected')

    def test_the_service_downloads_it(self):
        self.made()

        imports = [kwargs for name, _, kwargs in self.image.calls if 'import' in name]
        self.assertEqual(
            [{'method': 'web-download', 'uri': IMAGE['location']}], imports
        )

    def test_a_service_that_cannot_download_is_the_reason(self):
        self.offer('glance-direct')

        settled = self.run_of(WebImage).create(IMAGE)

        self.assertEqual('FAILED', settled.status)
        self.assertIn('does not offer the import method web-download', settled.reason)
        self.assertNotIn('create_image', self.image.names())

    def test_a_rejected_download_is_the_reason(self):
        self.response = FakeResponse(400, 'the URI does not pass filtering')

        settled = self.run_of(WebImage).create(IMAGE)

        self.assertEqual('FAILED', settled.status)
        self.assertIn('the URI does not pass filtering', settled.reason)

    def test_a_failed_download_is_the_reason(self):
        self.image.statuses['image'] = ['queued', 'importing', 'queued']
        failed = {'os_glance_failed_import': 'disk'}
        self.image.defaults['image']['properties'] = failed
        tasks = [
            fake_cloud.FakeObject({'status': 'failure', 'message': 'HTTP 404'}),
            fake_cloud.FakeObject({'status': 'success'}),
        ]
        self.image.image_tasks = lambda image: tasks

        settled = self.run_of(WebImage).create(IMAGE)

        self.assertEqual('FAILED', settled.status)
        self.assertIn(
            f'the import of {IMAGE["location"]} has failed: HTTP 404', settled.reason
        )

    def test_a_lock_protects_it_until_the_unlock(self):
        run = self.made()

        self.assertEqual('COMPLETE', run.lock().status)
        self.assertTrue(self.protection(run))
        self.assertEqual('COMPLETE', run.unlock().status)
        self.assertFalse(self.protection(run))

    def test_the_unlock_keeps_the_protection_of_the_template(self):
        run = self.made(protected=True)

        run.lock()
        run.unlock()

        self.assertTrue(self.protection(run))

    def test_a_missing_image_cannot_be_locked(self):
        run = self.made()
        self.image.objects['image'].clear()

        self.assertIn('no longer exists', run.lock().reason)
        self.assertEqual('COMPLETE', run.unlock().status)

    def test_an_update_changes_single_tags_and_properties(self):
        run = self.made(tags=['a', 'b'], extra_properties={'old': '1', 'kept': '2'})
        record = self.image.objects['image'][run.physical_id]
        record['properties'] = {'old': '1', 'kept': '2', 'os_glance_stage_host': 'g'}
        self.image.calls.clear()

        run.update({**IMAGE, 'tags': ['b', 'c'], 'extra_properties': {'kept': '3'}})

        tags = [(name, args[1]) for name, args, _ in self.image.calls if 'tag' in name]
        self.assertEqual([('remove_tag', 'a'), ('add_tag', 'c')], tags)
        self.assertEqual(
            {'kept': '3', 'os_glance_stage_host': 'g'}, record['properties']
        )

    def test_the_mark_is_recognised_in_an_image_of_openstacksdk(self):
        context = types.SimpleNamespace(resource_uuid='u')
        body = {'name': 'n'}
        WebImage.marker.add(body, context)

        found = [
            Image.existing(id='1', **values) for values in (body, {'name': 'other'})
        ]

        self.assertEqual(
            [True, False],
            [WebImage.marker.matches(record_of(one), context) for one in found],
        )
