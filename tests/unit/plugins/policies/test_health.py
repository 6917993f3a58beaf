"""The health checks of clusters."""

from typing import Any

from tests.unit.plugins.policies.case import PolicyCase
from watcherlite import exceptions
from watcherlite.plugins.policies.health import Health
from watcherlite.testing.policies import fitted

URL = {'poll_url': 'http://127.0.0.1/{nodename}'}
OPTIONS = {
    'poll_url_ssl_verify': True,
    'poll_url_conn_error_as_unhealthy': True,
    'poll_url_healthy_response': '',
    'poll_url_retry_limit': 3,
    'poll_url_retry_interval': 3,
}


def detection(*modes: dict[str, Any], **more: Any) -> dict[str, Any]:
    """Return the properties of a policy."""
    return {'detection': {'detection_modes': list(modes), **more}}


class HealthTest(PolicyCase):
    """The stored data, the decisions and the rejections of the policy."""

    def test_the_binding_stores_the_check_settings(self) -> None:
        properties = {
            **detection(
                {'type': 'LIFECYCLE_EVENTS'},
                {'type': 'NODE_STATUS_POLLING', 'options': {'poll_url': 'unused'}},
                {'type': 'NODE_STATUS_POLL_URL', 'options': URL},
                interval=5,
            ),
            'recovery': {'actions': [{'name': 'REBOOT'}]},
        }

        kept = Health().attach(
            self.context(
                *(Health(), 'CLUSTER_ATTACH_POLICY', properties), operations=['reboot']
            )
        )

        self.assertEqual(
            {
                'interval': 5,
                'events': True,
                'detection': {
                    'interval': 5,
                    'node_update_timeout': 300,
                    'recovery_conditional': 'ANY_FAILED',
                    'detection_modes': [
                        {'type': 'NODE_STATUS_POLLING', 'options': {}},
                        {'type': 'NODE_STATUS_POLL_URL', 'options': {**OPTIONS, **URL}},
                    ],
                },
                'recovery': {
                    'actions': [{'name': 'REBOOT', 'params': {}}],
                    'fencing': [],
                    'node_delete_timeout': 20,
                    'node_force_recreate': False,
                },
            },
            kept,
        )

    def test_an_unsupported_recovery_is_rejected(self) -> None:
        def attach(name: str) -> None:
            polled = detection({'type': 'NODE_STATUS_POLLING'})
            properties = {**polled, 'recovery': {'actions': [{'name': name}]}}
            context = self.context(
                *(Health(), 'CLUSTER_ATTACH_POLICY', properties), operations=['reboot']
            )
            Health().attach(context)

        for name in ('REBOOT', 'RECREATE'):
            attach(name)
        error = self.assertRaises(exceptions.Invalid, attach, 'REBUILD')
        self.assertEqual(
            'REBUILD is not supported by the profile type sample-1.0; RECREATE is, by '
            'all of them',
            str(error),
        )

    def test_hypervisors_are_polled_for_types_that_support_it(self) -> None:
        properties = detection(
            {'type': 'HYPERVISOR_STATUS_POLLING'}, {'type': 'LIFECYCLE_EVENTS'}
        )

        def attach(*hooks: str) -> dict[str, Any]:
            policy = Health()
            kept = policy.attach(
                self.context(policy, 'CLUSTER_ATTACH_POLICY', properties, hooks=hooks)
            )
            return dict(kept)

        kept = attach('check', 'check_host')
        error = self.assertRaises(exceptions.Invalid, attach, 'check')

        self.assertEqual(
            ([{'type': 'HYPERVISOR_STATUS_POLLING', 'options': {}}], True),
            (kept['detection']['detection_modes'], kept['events']),
        )
        self.assertEqual(
            'HYPERVISOR_STATUS_POLLING is not supported by the profile type '
            'sample-1.0; use NODE_STATUS_POLLING or NODE_STATUS_POLL_URL',
            str(error),
        )

    def test_a_mode_occurs_once(self) -> None:
        mode = {'type': 'NODE_STATUS_POLLING'}

        error = self.assertRaises(
            exceptions.InvalidSpec, fitted, Health(), **detection(mode, mode)
        )

        self.assertEqual(
            'properties.detection.detection_modes.1.type: NODE_STATUS_POLLING may '
            'occur only once',
            str(error),
        )

    def test_a_recovery_gets_its_options(self) -> None:
        properties = {
            **detection({'type': 'NODE_STATUS_POLLING'}),
            'recovery': {
                'actions': [{'name': 'REBUILD', 'params': {'a': 1}}],
                'node_force_recreate': True,
            },
        }
        data: dict[str, Any] = {}

        Health().pre_op(self.context(Health(), 'CLUSTER_RECOVER', properties), data)

        self.assertEqual(
            {
                'health': {
                    'recover_action': [{'name': 'REBUILD', 'params': {'a': 1}}],
                    'fencing': [],
                    'node_delete_timeout': 20,
                    'node_force_recreate': True,
                }
            },
            data,
        )

    def test_unsupported_detection_modes_and_recoveries_are_rejected(self) -> None:
        polled, by_url = 'NODE_STATUS_POLLING', 'NODE_STATUS_POLL_URL'
        no_url = {'poll_url': 'file:///etc/passwd'}
        no_pattern = {
            'poll_url': 'http://{nodename}:80%index%/',
            'poll_url_healthy_response': '(',
        }
        two = {'recovery': {'actions': [{'name': 'REBOOT'}, {'name': 'RECREATE'}]}}
        mode = 'detection.detection_modes.0'
        for desired, more, text in (
            (
                *({'type': by_url}, {}),
                f'{mode}.options.poll_url: is required for NODE_STATUS_POLL_URL',
            ),
            # It would find all nodes unhealthy, and recreate them permanently.
            (
                *({'type': by_url, 'options': no_url}, {}),
                f'{mode}.options.poll_url: must start with http:// or https://',
            ),
            (
                *({'type': by_url, 'options': no_pattern}, {}),
                f'{mode}.options.poll_url_healthy_response: missing ): (',
            ),
            (
                *({'type': polled}, two),
                'recovery.actions: has 2 items, at most 1 allowed',
            ),
        ):
            error = self.assertRaises(
                exceptions.InvalidSpec, fitted, Health(), **detection(desired), **more
            )
            self.assertEqual(f'properties.{text}', str(error))
