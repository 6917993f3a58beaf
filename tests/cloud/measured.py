"""The measurements of the small cloud, which a test sets."""

import contextlib
import fcntl
import json
import os

import fixtures

from tests.acceptance.daemons import wait_until
from watcherlite.plugins import options
from watcherlite.plugins.openstack.datasources.prometheus import Prometheus

#: Seconds until Prometheus has scraped some values.
TIMEOUT = 90
#: Seconds over which measurements are combined: it scrapes every five seconds.
PERIOD = 20


class Measurements(fixtures.Fixture):
    """Writes measurements to the file that the exporter of the small cloud reads.

    The file may be shared: those of others stay in it, and its former measurements of
    hosts return at the end.

    :param variables: of the cloud
    """

    def __init__(self, variables):
        super().__init__()
        self._path = variables['CLOUD_METRICS_FILE']
        self.url = variables['CLOUD_PROMETHEUS_URL']

    def set(self, hosts=None, servers=None):
        """Set measurements: host or uuid of a server -> what the exporter knows."""
        for kind, values in (('hosts', hosts or {}), ('servers', servers or {})):
            for name, value in values.items():
                before = self._replace(kind, name, value)
                self.addCleanup(self._replace, kind, name, before)

    def wait_for(self, metric, values, **settings):
        """Wait until Prometheus has values of a metric, give or take a tenth.

        :param values: host or uuid of a server -> the value
        """
        source = Prometheus(
            options.standalone_group(Prometheus, {'url': self.url, **settings})
        )
        found = {}

        def is_there():
            found.update(source.read(metric, dict.fromkeys(values, 1), PERIOD))
            return all(
                abs(found.get(name, 0.0) - value) <= value / 10
                for name, value in values.items()
            )

        wait_until(is_there, lambda: f'{metric}: {found}', TIMEOUT)

    def _replace(self, kind, name, value):
        """Set a measurement, or remove it if it is None; return the former one."""
        with self._changed() as content:
            group = content.setdefault(kind, {})
            before = group.pop(name, None)
            if value is not None:
                group[name] = value
        return before

    @contextlib.contextmanager
    def _changed(self):
        with open(f'{self._path}.lock', 'w', encoding='utf-8') as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            with open(self._path, encoding='utf-8') as file:
                content = json.load(file)
            yield content
            new = f'{self._path}.new'
            with open(new, 'w', encoding='utf-8') as file:
                json.dump(content, file)
            os.replace(new, self._path)
