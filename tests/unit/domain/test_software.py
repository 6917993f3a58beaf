"""The rules of software configs and deployments."""

from typing import Any

from tests import base
from tests.factories import NOW
from watcherlite.domain import software
from watcherlite.domain.software import SoftwareConfig, SoftwareDeployment

ROOT = 'https://api.example.org/'


def make_config(*inputs: dict[str, Any]) -> SoftwareConfig:
    return SoftwareConfig(
        uuid='c',
        tenant='p',
        name='setup',
        group='script',
        config='echo',
        inputs=inputs,
        outputs=[],
        options={},
        created_at=NOW,
        id=1,
    )


def make_deployment(**values: Any) -> SoftwareDeployment:
    return SoftwareDeployment(
        uuid='d',
        tenant='p',
        server_id='s',
        config_id=1,
        action='CREATE',
        status='IN_PROGRESS',
        status_reason='',
        input_values=values,
        output_values=None,
        signal_token='abc',
        created_at=NOW,
        id=2,
    )


class TestDeployedInputs(base.TestCase):
    """The inputs of a config as a server reads them."""

    def values(self, config: SoftwareConfig, **values: Any) -> list[tuple[str, Any]]:
        deployed = software.deployed_config(config, make_deployment(**values), ROOT)
        return [(item['name'], item['value']) for item in deployed['inputs']]

    def test_an_input_has_the_value_of_the_deployment_the_config_or_its_default(
        self,
    ) -> None:
        config = make_config(
            {'name': 'a', 'value': 'own', 'default': 'default'},
            {'name': 'b', 'value': None, 'default': 'default'},
            {'name': 'c', 'default': 'default'},
            {'name': 'd'},
            {'name': 'deploy_signal_transport', 'value': 'NO_SIGNAL'},
        )

        expected = [('b', None), ('c', 'default'), ('d', None)]
        transport = ('deploy_signal_transport', 'NO_SIGNAL')
        self.assertEqual([('a', 'own'), *expected, transport], self.values(config))
        self.assertEqual(
            [('a', 'given'), *expected, transport, ('more', 1)],
            self.values(config, a='given', more=1),
        )

    def test_a_config_without_a_transport_is_signalled_to_a_url(self) -> None:
        url = 'https://api.example.org/orchestration/v1/deployment_signals/d?token=abc'
        expected = [
            ('deploy_server_id', 's'),
            ('deploy_action', 'CREATE'),
            ('deploy_signal_transport', 'CFN_SIGNAL'),
            ('deploy_signal_id', url),
            ('deploy_signal_verb', 'POST'),
        ]

        self.assertEqual(expected, self.values(make_config()))
        self.assertEqual(
            expected, self.values(make_config({'name': 'deploy_server_id'}))
        )
        self.assertEqual(
            [('deploy_signal_transport', 'NO_SIGNAL')],
            self.values(make_config(), deploy_signal_transport='NO_SIGNAL'),
        )


class TestReadSignal(base.TestCase):
    """The results that a server sends."""

    def test_outputs_of_the_config_are_read_and_others_ignored(self) -> None:
        outputs = [{'name': 'a'}, {'name': 'b'}]
        details = {'a': 1, 'c': 2, 'deploy_stdout': 'x', 'deploy_status_code': '0'}

        self.assertEqual(
            (
                {
                    'deploy_stdout': 'x',
                    'deploy_stderr': None,
                    'deploy_status_code': '0',
                    'a': 1,
                },
                '',
            ),
            software.read_signal(outputs, details),
        )

    def test_an_exit_status_and_error_outputs_are_failures(self) -> None:
        outputs = [{'name': name, 'error_output': True} for name in ('a', 'b')]
        details = {'a': 'disk full', 'b': '', 'deploy_status_code': 3}

        self.assertEqual(
            'a : disk full, deploy_status_code : Deployment exited with non-zero '
            'status code: 3',
            software.read_signal(outputs, details)[1],
        )
