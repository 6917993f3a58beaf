"""The data models and datasources of a real cloud."""

from tests.cloud import case
from watcherlite.plugins import options
from watcherlite.plugins.openstack import metrics
from watcherlite.plugins.openstack.datasources.prometheus import Aetos, Prometheus
from watcherlite.plugins.openstack.models.compute_collector import Compute
from watcherlite.plugins.openstack.models.storage_collector import Storage

HOSTS = {'compute-1': 16, 'compute-2': 16}
#: Seconds with some measurements, which are taken every few seconds.
PERIOD = 120


class TestDataModels(case.CloudCase):
    def collect(self, collector):
        collector.clouds = self.open_clouds()
        return collector.restrict(collector.collect(), [])

    def test_compute_nodes_have_their_capacity_and_zone(self):
        model = self.collect(Compute())

        self.assertEqual(sorted(HOSTS), [node.hostname for node in model.nodes])
        for node in model.nodes:
            self.assertEqual(
                (16, 32768, 500, 'nova'),
                (node.vcpus, node.memory, node.disk, node.zone),
            )

    def test_pools_have_their_backend_and_types(self):
        model = self.collect(Storage())

        pools = {pool.short_name: pool for pool in model.pools}
        self.assertEqual({'fast-1', 'fast-2', 'slow-1'}, set(pools))
        self.assertTrue(all(pool.is_enabled for pool in pools.values()))
        self.assertEqual('fast', pools['fast-2'].volume_backend_name)
        self.assertEqual('slow', model.find_type('slow').backend)


class TestDatasources(case.CloudCase):
    def setUp(self):
        super().setUp()
        if 'CLOUD_PROMETHEUS_URL' not in self.variables:
            self.skip_without('The cloud has no measurements: CLOUD_PROMETHEUS_URL')

    def check(self, source):
        cpu = source.read(metrics.HOST_CPU_USAGE, HOSTS, PERIOD)
        memory = source.read(metrics.HOST_RAM_USAGE, HOSTS, PERIOD, 'max')

        self.assertEqual(set(HOSTS), set(cpu))
        self.assertTrue(all(0 <= value <= 100 for value in cpu.values()), cpu)
        self.assertEqual(set(HOSTS), set(memory))
        self.assertTrue(all(0 < value <= 32768 for value in memory.values()), memory)

    def test_prometheus(self):
        url = self.variables['CLOUD_PROMETHEUS_URL']

        self.check(Prometheus(options.standalone_group(Prometheus, {'url': url})))

    def test_aetos(self):
        source = Aetos(options.standalone_group(Aetos, {'enabled': True}))
        source.clouds = self.open_clouds()

        self.check(source)
