"""Software deployments: what a server reads, and what it signals."""

from typing import Any
from unittest import mock

from tests.stack_worlds import StackWorldCase, res
from watcherlite import exceptions
from watcherlite.domain.software import MAX_PER_SERVER
from watcherlite.engine.software import SoftwareOperations
from watcherlite.engine.stacks.queries import StackQueries
from watcherlite.engine.stacks.services import StackLimits
from watcherlite.plugins.openstack.resources import (
    deployed_servers,
    deployment_groups,
    deployments,
    software,
)

HANDLERS: dict[str, type] = {
    'OS::Heat::SoftwareConfig': software.SoftwareConfig,
    'OS::Heat::SoftwareDeployment': deployments.SoftwareDeployment,
    'OS::Heat::SoftwareDeploymentGroup': deployment_groups.SoftwareDeploymentGroup,
    'OS::Heat::DeployedServer': deployed_servers.DeployedServer,
    'OS::Heat::MultipartMime': software.MultipartMime,
}


#: The URL of the API as the server reaches it.
ROOT = 'http://api.example.org:9322'


def ref(name: str) -> dict[str, str]:
    return {'get_resource': name}


class TestDeployments(StackWorldCase):
    def setUp(self) -> None:
        super().setUp()
        self.world = self.create_stack_world(HANDLERS)
        parts = self.world.parts(self.world.store)
        self.reading = StackQueries(parts.store, parts.handlers, parts.blueprints)

    def read(self, stack: Any) -> dict[str, Any]:
        """Return the metadata as the server reads it."""
        url = self.world.resource(stack, 'server').data['metadata_url']
        token = url.partition('token=')[2]
        return self.reading.metadata_with_token(stack.uuid, 'server', token, ROOT)

    def test_a_server_reads_its_deployments_and_signals_their_results(self) -> None:
        self.world.worker()
        stack = self.world.start_creation(
            {
                'config': res(
                    'OS::Heat::SoftwareConfig',
                    config='echo',
                    group='script',
                    outputs=[{'name': 'result'}],
                ),
                'server': res('OS::Heat::DeployedServer', _metadata={'role': 'web'}),
                'one': res(
                    'OS::Heat::SoftwareDeployment',
                    name='2',
                    config=ref('config'),
                    server=ref('server'),
                ),
                'several': res(
                    'OS::Heat::SoftwareDeploymentGroup',
                    name='1',
                    config=ref('config'),
                    servers={'first': ref('server')},
                    signal_transport='NO_SIGNAL',
                ),
            },
            sections={'outputs': {'o': {'value': {'get_attr': ['one', 'result']}}}},
        )

        def is_deployed() -> bool:
            rows = {
                row.name: row for row in self.world.store.list_resources([stack.id])
            }
            if rows.keys() < {'one', 'several'}:
                return False
            both = rows['several'].state.name == 'CREATE_COMPLETE'
            return both and 'deployment' in rows['one'].data

        self.world.wait_until(is_deployed, self.world.full_report)
        found = self.read(stack)
        self.assertEqual('web', found['role'])
        self.assertEqual(
            [('1', 'script', 'echo'), ('2', 'script', 'echo')],
            [(d['name'], d['group'], d['config']) for d in found['deployments']],
        )
        inputs = {i['name']: i['value'] for i in found['deployments'][1]['inputs']}
        token = inputs['deploy_signal_id'].partition('token=')[2]
        self.world.stacks.signal_with_token(
            stack.uuid, 'one', token, {'result': 'yes', 'deploy_status_code': 0}
        )

        settled = self.world.wait_until_settled(stack)

        self.assertEqual('CREATE_COMPLETE', settled.state.name)
        (output,) = self.reading.outputs(settled)
        self.assertEqual('yes', output.value)
        self.assertRaises(
            exceptions.NotFound,
            self.reading.metadata_with_token,
            stack.uuid,
            'server',
            'x' * 43,
            ROOT,
        )

    def test_a_deletion_waits_for_the_results_of_its_deployment(self) -> None:
        stack = self.world.make(
            {
                'config': res('OS::Heat::SoftwareConfig', config='rm'),
                'server': res('OS::Heat::DeployedServer'),
                'last': res(
                    'OS::Heat::SoftwareDeployment',
                    config=ref('config'),
                    server=ref('server'),
                    actions=['DELETE'],
                ),
            }
        )
        self.assertEqual([], self.read(stack)['deployments'])

        self.world.stacks.delete(stack.uuid, stack.tenant)
        self.world.wait_until(
            lambda: 'deployment' in self.world.resource(stack, 'last').data,
            self.world.full_report,
        )
        self.assertEqual(1, len(self.read(stack)['deployments']))
        self.world.stacks.signal(stack.uuid, stack.tenant, 'last', {})

        settled = self.world.wait_until_settled(stack)
        self.assertEqual('DELETE_COMPLETE', settled.state.name)

    def test_a_server_reads_deployments_of_its_project_that_belong_to_no_stack(
        self,
    ) -> None:
        stack = self.world.make(
            {
                'config': res('OS::Heat::SoftwareConfig', config='of the stack'),
                'server': res('OS::Heat::DeployedServer'),
                'inner': res(
                    'OS::Heat::SoftwareDeployment',
                    name='2',
                    config=ref('config'),
                    server=ref('server'),
                    signal_transport='NO_SIGNAL',
                ),
            }
        )
        server = self.world.resource(stack, 'server').physical_id
        store = self.world.store
        software = SoftwareOperations(store, self.world.clock, StackLimits())

        def deploy(tenant: str, name: str, server_id: str | None) -> str:
            config = software.create_config(tenant, {'name': name, 'config': tenant})
            values = {'server_id': server_id, 'config_id': config.uuid}
            return software.create_deployment(
                tenant, {**values, 'status': 'IN_PROGRESS'}
            )

        for name in ('3', '1'):
            uuid = deploy(stack.tenant, name, server)
        deploy('another project', '0', server)
        deploy(stack.tenant, '0', 'another-server')
        with mock.patch.object(
            store, 'deployments_of_server', wraps=store.deployments_of_server
        ) as query:
            found = self.read(stack)['deployments']

        self.assertEqual(
            [('1', stack.tenant), ('2', 'of the stack'), ('3', stack.tenant)],
            [(one['name'], one['config']) for one in found],
        )
        query.assert_called_once_with(server, stack.tenant, MAX_PER_SERVER)
        self.assertEqual(
            found, self.reading.metadata(stack, 'server', ROOT)['deployments']
        )
        inputs = {item['name']: item['value'] for item in found[0]['inputs']}
        url, _, token = inputs['deploy_signal_id'].partition('?token=')
        self.assertEqual(f'{ROOT}/orchestration/v1/deployment_signals/{uuid}', url)
        software.signal(uuid, token, {'deploy_status_code': 0})
        deployment = store.find_software_deployment(uuid, stack.tenant).deployment
        self.assertEqual('COMPLETE', deployment.status)

    def test_a_template_uses_configs_of_the_api_and_of_other_stacks(self) -> None:
        store = self.world.store
        software = SoftwareOperations(store, self.world.clock, StackLimits())
        other = self.world.make(
            {'config': res('OS::Heat::SoftwareConfig', config='of a stack')}, name='x'
        )
        values = {'config': 'of the API', 'group': 'script'}
        config = software.create_config(other.tenant, values).uuid

        def deployed(kind: str = 'OS::Heat::SoftwareDeployment', **given: Any) -> Any:
            return res(kind, signal_transport='NO_SIGNAL', **given)

        stack = self.world.make(
            {
                'server': res('OS::Heat::DeployedServer'),
                'api': deployed(name='1', config=config, server=ref('server')),
                'stack': deployed(
                    name='2',
                    config=self.world.resource(other, 'config').physical_id,
                    server=ref('server'),
                ),
                'group': deployed(
                    'OS::Heat::SoftwareDeploymentGroup',
                    name='3',
                    config=config,
                    servers={'only': ref('server')},
                ),
                'parts': res('OS::Heat::MultipartMime', parts=[{'config': config}]),
            }
        )

        self.assertEqual('CREATE_COMPLETE', stack.state.name, stack.state.reason)
        self.assertEqual(
            ['of the API', 'of a stack', 'of the API'],
            [one['config'] for one in self.read(stack)['deployments']],
        )
        parts = self.world.resource(stack, 'parts').attributes['config']
        self.assertIn('of the API', parts)

    def test_a_config_of_another_project_does_not_exist(self) -> None:
        store = self.world.store
        software = SoftwareOperations(store, self.world.clock, StackLimits())
        config = software.create_config('another project', {'config': 'theirs'}).uuid

        stack = self.world.make(
            {
                'one': res(
                    'OS::Heat::SoftwareDeployment',
                    config=config,
                    server='a-server',
                    signal_transport='NO_SIGNAL',
                )
            }
        )

        self.assertEqual('CREATE_FAILED', stack.state.name)
        self.assertIn('nor the id of one of this project', stack.state.reason)
