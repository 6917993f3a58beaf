"""Credentials in the configs of servers are masked by the names of their inputs."""

from tests import base
from watcherlite.api.orchestration import software

URL = f'http://api/orchestration/v1/deployment_signals/d?token={"a" * 43}'
CONFIG = {
    'name': 'setup',
    'config': 'mysql --password=geheim',
    'inputs': [
        {'name': 'db_password', 'default': 'geheim', 'value': 'geheim'},
        {'name': 'text', 'value': 'password: geheim'},
        {'name': 'nested', 'value': {'token': 'geheim', 'user': 'root'}},
        {'name': 'deploy_signal_id', 'value': URL},
        {'name': 'empty'},
        'no mapping',
    ],
    'options': {'api_key': 'geheim'},
}
MASKED = {
    'name': 'setup',
    'config': 'mysql --password=***',
    'inputs': [
        {'name': 'db_password', 'default': '***', 'value': '***'},
        {'name': 'text', 'value': 'password: ***'},
        {'name': 'nested', 'value': {'token': '***', 'user': 'root'}},
        {'name': 'deploy_signal_id', 'value': URL.replace('a' * 43, '***')},
        {'name': 'empty'},
        'no mapping',
    ],
    'options': {'api_key': '***'},
}


class TestMasks(base.TestCase):
    def test_credentials_in_a_config_are_masked(self) -> None:
        self.assertEqual(MASKED, software.mask_config(CONFIG))

    def test_credentials_in_the_metadata_of_a_server_are_masked(self) -> None:
        metadata = {'role': 'web', 'secret': 'geheim', 'deployments': [CONFIG, 'text']}

        self.assertEqual(
            {'role': 'web', 'secret': '***', 'deployments': [MASKED, 'text']},
            software.mask_metadata(metadata),
        )

    def test_metadata_may_have_another_value_of_deployments(self) -> None:
        self.assertEqual(
            {'deployments': 'none'}, software.mask_metadata({'deployments': 'none'})
        )
