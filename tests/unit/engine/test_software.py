"""The operations on software configs and deployments: limits, and what is stored."""

from typing import Any
from unittest import mock

from tests import base
from watcherlite import exceptions
from watcherlite.clock import SystemClock
from watcherlite.db.query import Query
from watcherlite.domain.software import MAX_SIZE
from watcherlite.engine import software
from watcherlite.engine.software import SoftwareOperations
from watcherlite.engine.stacks.services import StackLimits
from watcherlite.testing.memory_store import MemoryStore

HERE, THERE = 'project-a', 'project-b'
LARGE = 'x' * (MAX_SIZE + 1)


class TestSoftwareOperations(base.TestCase):
    def setUp(self) -> None:
        super().setUp()
        self.store = MemoryStore()
        self.addCleanup(self.store.close)
        limits = StackLimits(software_configs=2, software_deployments=3)
        self.software = SoftwareOperations(self.store, SystemClock(), limits)
        self.config = self.software.create_config(HERE, {'name': 'setup'})

    def deploy(self, tenant: str = HERE, **values: Any) -> str:
        given = {'server_id': 's', 'config_id': self.config.uuid, **values}
        return self.software.create_deployment(tenant, given)

    def assert_refused(self, text: str, call: Any, *args: Any, **values: Any) -> None:
        error = self.assertRaises(exceptions.Invalid, call, *args, **values)
        self.assertIn(text, str(error))

    def test_a_project_has_a_quota_of_configs_and_deployments(self) -> None:
        self.software.create_config(HERE, {})
        text = 'The project has reached its limit of {}: delete some first.'

        self.assert_refused(
            text.format('2 software configs'), self.software.create_config, HERE, {}
        )
        other = self.software.create_config(THERE, {})
        for server in ('a', 'b', 'c'):
            uuid = self.deploy(server_id=server)
        self.assert_refused(text.format('3 software deployments'), self.deploy)
        self.deploy(THERE, config_id=other.uuid)
        self.software.delete_deployment(uuid, HERE)
        self.deploy()

    def test_a_quota_of_0_is_unlimited(self) -> None:
        limits = StackLimits(software_configs=0, software_deployments=0)
        self.software = SoftwareOperations(self.store, SystemClock(), limits)
        for _ in range(3):
            self.software.create_config(HERE, {})
        for _ in range(4):
            self.deploy()

        configs = self.store.list_software_configs(Query(tenant=HERE))
        found = self.store.list_software_deployments(Query(tenant=HERE))
        self.assertEqual((4, 4), (len(configs), len(found)))

    def test_a_server_has_a_maximum_number_of_deployments_of_a_project(self) -> None:
        self.deploy()
        other = self.software.create_config(THERE, {})

        with mock.patch.object(software, 'MAX_PER_SERVER', 1):
            self.assert_refused(
                'Server s has reached its limit of 1 software deployments', self.deploy
            )
            self.deploy(server_id='t')
            self.deploy(THERE, config_id=other.uuid)

    def test_large_documents_are_refused(self) -> None:
        text = f'characters as JSON; the limit is {MAX_SIZE}'
        uuid = self.deploy(status='IN_PROGRESS')
        token = self.store.find_software_deployment(uuid, HERE).deployment.signal_token

        self.assert_refused(text, self.software.create_config, HERE, {'config': LARGE})
        self.assert_refused(
            text,
            self.software.create_config,
            HERE,
            {'inputs': [{'name': 'a', 'default': LARGE}]},
        )
        self.assert_refused(text, self.deploy, input_values={'a': LARGE})
        for name in ('input_values', 'output_values'):
            self.assert_refused(
                text, self.software.update_deployment, uuid, HERE, {name: {'a': LARGE}}
            )
        self.assert_refused(text, self.software.signal, uuid, token, {'a': LARGE})

    def test_the_reason_of_a_failure_is_truncated(self) -> None:
        config = self.software.create_config(
            HERE, {'outputs': [{'name': 'error', 'error_output': True}]}
        )
        uuid = self.deploy(config_id=config.uuid, status='IN_PROGRESS')
        token = self.store.find_software_deployment(uuid, HERE).deployment.signal_token

        self.software.signal(uuid, token, {'error': 'x' * 5000})

        found = self.store.find_software_deployment(uuid, HERE).deployment
        self.assertEqual(
            ('FAILED', f'error : {"x" * 4088}', 'x' * 5000),
            (found.status, found.status_reason, (found.output_values or {})['error']),
        )

    def test_a_change_with_null_and_empty_values_changes_only_the_time(self) -> None:
        uuid = self.deploy(input_values={'a': 1}, status_reason='new')
        before = self.store.find_software_deployment(uuid, HERE).deployment

        self.software.update_deployment(
            uuid,
            HERE,
            {'action': None, 'status': None, 'input_values': {}, 'config_id': ''},
        )

        after = self.store.find_software_deployment(uuid, HERE).deployment
        self.assertIsNotNone(after.updated_at)
        self.assertEqual(before, after.evolve(updated_at=None))
