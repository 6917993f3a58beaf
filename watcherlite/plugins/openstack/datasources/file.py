"""Measurements in a file, for small sites and tests."""

import json
from collections.abc import Mapping, Sequence
from typing import Any

from oslo_config import cfg

from watcherlite import exceptions
from watcherlite.plugins import base
from watcherlite.plugins.openstack import metrics

#: Maximum size of the file in bytes.
LONGEST = 16 * 1024 * 1024


class File(base.DataSource):
    """Read the values of metrics from a JSON file, at each audit.

    The file contains {metric: {host or uuid of a server: value}}. Period and aggregate
    do not apply.
    """

    description = 'Reads measurements from a JSON file.'
    metrics: Sequence[str] = tuple(metrics.UNITS)

    @classmethod
    def get_config_opts(cls) -> Sequence[cfg.Opt]:
        return (
            cfg.StrOpt(
                'path',
                help='The path of a JSON file with measurements: {"host_cpu_usage": '
                '{"compute-1": 80}, "instance_cpu_usage": {"<uuid>": 50}}. Write '
                'it as a new file and rename it, so that it is never read in part.',
            ),
        )

    @property
    def is_configured(self) -> bool:
        """Return whether there is a path."""
        return bool(self.options.path)

    def read(
        self,
        metric: str,
        resources: Mapping[str, int],
        period: float,
        aggregate: str = 'mean',
    ) -> Mapping[str, float]:
        """Return the values in the file."""
        values = self._content().get(metric, {})
        if not isinstance(values, dict):
            raise self._error(f'{metric} is not an object')
        found = {}
        for name, value in values.items():
            if isinstance(value, bool) or not isinstance(value, int | float):
                raise self._error(f'{metric} of {name} is not a number')
            if name in resources:
                found[name] = float(value)
        return found

    def _content(self) -> dict[str, Any]:
        try:
            with open(self.options.path, 'rb') as file:
                data = file.read(LONGEST + 1)
        except OSError as error:
            raise self._error(f'it cannot be read: {error.strerror}') from error
        if len(data) > LONGEST:
            raise self._error(f'it is larger than {LONGEST} bytes')
        try:
            content = json.loads(data)
        except (ValueError, RecursionError) as error:
            raise self._error('it is not JSON') from error
        if not isinstance(content, dict):
            raise self._error('it is not an object')
        return content

    def _error(self, reason: str) -> exceptions.ConfigurationError:
        return exceptions.ConfigurationError(
            f'The file {self.options.path} of the datasource file cannot be used: '
            f'{reason}'
        )
