"""The limits of delays in policies."""

from typing import Any

from tests import base
from watcherlite import exceptions
from watcherlite.plugins.base import Policy
from watcherlite.plugins.policies.batch import Batch
from watcherlite.plugins.policies.deletion import Deletion, HookedDeletion
from watcherlite.plugins.policies.health import Health
from watcherlite.plugins.policies.scaling import Scaling
from watcherlite.testing.policies import fitted

YEAR = 365 * 86400
URL = 'http://127.0.0.1/'


def scaling(seconds: int) -> dict[str, Any]:
    return {'event': 'CLUSTER_SCALE_IN', 'adjustment': {'cooldown': seconds}}


def hooks(seconds: int) -> dict[str, Any]:
    hook = {'type': 'webhook', 'params': {'url': URL}, 'timeout': seconds}
    return {'hooks': hook}


def polling(seconds: int) -> dict[str, Any]:
    options = {'poll_url': URL, 'poll_url_retry_interval': seconds}
    mode = {'type': 'NODE_STATUS_POLL_URL', 'options': options}
    return {'detection': {'detection_modes': [mode]}}


def detection(name: str, seconds: int) -> dict[str, Any]:
    modes = [{'type': 'NODE_STATUS_POLLING'}]
    return {'detection': {'detection_modes': modes, name: seconds}}


def recovery(seconds: int) -> dict[str, Any]:
    properties = detection('interval', 60)
    return {**properties, 'recovery': {'node_delete_timeout': seconds}}


class WaitsTest(base.TestCase):
    """Delays that exceed the range of a clock are rejected."""

    def test_delays_beyond_a_year_are_rejected(self) -> None:
        invalid: list[tuple[Policy, Any]] = [
            (Scaling(), scaling),
            (Batch(), lambda seconds: {'pause_time': seconds}),
            (Deletion(), lambda seconds: {'grace_period': seconds}),
            (HookedDeletion(), hooks),
            (Health(), polling),
            (Health(), lambda seconds: detection('interval', seconds)),
            (Health(), lambda seconds: detection('node_update_timeout', seconds)),
            (Health(), recovery),
        ]
        for policy, properties in invalid:
            fitted(policy, **properties(YEAR))
            error = self.assertRaises(
                exceptions.InvalidSpec, fitted, policy, **properties(10**15)
            )
            self.assertIn(f'is greater than the maximum of {YEAR}', str(error))
