"""The datasource that reads a file."""

import json

from tests import base
from watcherlite import exceptions
from watcherlite.plugins import options
from watcherlite.plugins.openstack.datasources.file import File


class TestFile(base.TestCase):
    def source(self, content):
        path = self.home / 'measurements.json'
        path.write_text(content if isinstance(content, str) else json.dumps(content))
        return File(options.standalone_group(File, {'path': str(path)}))

    def read(self, content):
        return self.source(content).read('host_cpu_usage', {'a': 1, 'b': 1}, 60)

    def test_without_a_path_it_is_not_configured(self):
        self.assertFalse(File(options.standalone_group(File)).is_configured)
        self.assertTrue(self.source({}).is_configured)

    def test_only_what_was_requested_is_returned(self):
        self.assertEqual(
            {'a': 50.0}, self.read({'host_cpu_usage': {'a': 50, 'c': 1.5}})
        )
        self.assertEqual({}, self.read({}))

    def test_invalid_content_is_reported(self):
        for content, reason in (
            ('x', 'it is not JSON'),
            ('[' * 100_000, 'it is not JSON'),
            ([], 'it is not an object'),
            ({'host_cpu_usage': 1}, 'host_cpu_usage is not an object'),
            ({'host_cpu_usage': {'a': True}}, 'host_cpu_usage of a is not a number'),
        ):
            with self.assertRaisesRegex(exceptions.ConfigurationError, reason):
                self.read(content)

    def test_a_missing_file_is_named(self):
        source = File(options.standalone_group(File, {'path': '/missing/at/all'}))

        with self.assertRaisesRegex(
            exceptions.ConfigurationError, '/missing/at/all .* No such file'
        ):
            source.read('host_cpu_usage', {'a': 1}, 60)
