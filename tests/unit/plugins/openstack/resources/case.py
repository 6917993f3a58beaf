"""The base of tests of resource types with a cloud in memory."""

from tests import base
from tests.unit.plugins.openstack.resources.fake_cloud import FakeClouds
from watcherlite.testing.resources import ResourceRun


class ResourceCase(base.TestCase):
    """A test with a cloud in memory."""

    def setUp(self):
        super().setUp()
        self.clouds = FakeClouds()
        self.connection = self.clouds.connection

    def run_of(self, handler, **arguments):
        """Return one resource of a type."""
        return ResourceRun(handler, clouds=self.clouds, **arguments)

    def created(self, handler, properties, **arguments):
        """Return a resource that was created."""
        run = self.run_of(handler, **arguments)
        settled = run.create(properties)
        self.assertEqual('COMPLETE', settled.status, settled.reason)
        return run
