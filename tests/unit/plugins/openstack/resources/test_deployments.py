"""Deployments of software configs, and the metadata of servers."""

import base64
import email
import json
from typing import ClassVar

import yaml

from tests.unit.plugins.openstack.resources import case
from watcherlite import exceptions
from watcherlite.domain import bearer_tokens, stacks
from watcherlite.plugins.openstack.resources import (
    deployed_servers,
    deployment_groups,
    servers,
    software,
)
from watcherlite.plugins.openstack.resources import deployments as resources
from watcherlite.testing.resources import STACK, ResourceRun


def config_of(handler, properties):
    """Return the dependencies with the attributes of a config, and its reference."""
    run = ResourceRun(handler)
    run.create(properties)
    return {run.physical_id: run.attributes}, run.physical_id


class TestDeployments(case.ResourceCase):
    SCRIPT: ClassVar = {
        'group': 'script',
        'config': 'echo',
        'inputs': [{'name': 'foo', 'default': 'x'}, {'name': 'bar'}],
        'outputs': [{'name': 'result'}, {'name': 'broken', 'error_output': True}],
    }

    def deploy(self, properties, config=None, handler=resources.SoftwareDeployment):
        """Return a deployment of a config that was created."""
        dependencies, reference = config_of(
            *(config or (software.SoftwareConfig, self.SCRIPT))
        )
        run = ResourceRun(handler, dependencies=dependencies)
        self.settled = run.create({'config': reference, 'server': 's', **properties})
        return run

    def inputs(self, run):
        deployment = run.data[stacks.DEPLOYMENT]
        return {item['name']: item['value'] for item in deployment['inputs']}

    def test_without_a_signal_it_is_complete_at_once(self):
        run = self.deploy(
            {'signal_transport': 'NO_SIGNAL', 'input_values': {'bar': 1, 'more': 2}}
        )

        self.assertEqual('COMPLETE', self.settled.status, self.settled.reason)
        deployment = run.data[stacks.DEPLOYMENT]
        self.assertEqual(
            ('script', 'echo', 's', self.SCRIPT['outputs'][0]['name']),
            (
                deployment['group'],
                deployment['config'],
                deployment['server_id'],
                deployment['outputs'][0]['name'],
            ),
        )
        self.assertEqual(
            {
                'foo': 'x',
                'bar': 1,
                'more': 2,
                'deploy_server_id': 's',
                'deploy_action': 'CREATE',
                'deploy_stack_id': f'stack/{STACK}',
                'deploy_resource_name': 'resource',
                'deploy_signal_transport': 'NO_SIGNAL',
            },
            self.inputs(run),
        )

    def test_a_config_must_be_one_of_the_template(self):
        run = ResourceRun(resources.SoftwareDeployment)

        settled = run.create({'config': 'other', 'server': 's'})

        self.assertIn('is neither the value of get_resource', settled.reason)

    def waiting(self, details):
        """Return a deployment and the result of a signal to it."""
        dependencies, reference = config_of(software.SoftwareConfig, self.SCRIPT)
        run = ResourceRun(
            resources.SoftwareDeployment, dependencies=dependencies, timeout=60
        )
        run.create({'config': reference, 'server': 's'})
        return run, run.signal(details)

    def test_the_results_of_a_signal_are_attributes_once(self):
        run, signalled = self.waiting({'deploy_status_code': 0, 'result': 'yes'})

        self.assertEqual('Outputs received', signalled.reason)
        self.assertEqual(
            (0, 'yes', None),
            tuple(
                run.attributes[name]
                for name in ('deploy_status_code', 'result', 'deploy_stdout')
            ),
        )
        again = run.signal({'result': 'no'})
        self.assertEqual('It waits for no signal', again.reason)
        url = self.inputs(run)['deploy_signal_id']
        token = url.partition('token=')[2]
        digest = run.data[bearer_tokens.SIGNAL_DIGEST]
        self.assertTrue(bearer_tokens.is_valid(token, digest))

    def test_it_fails_with_an_exit_status_and_with_an_error_output(self):
        for details, expected in (
            ({'deploy_status_code': 3}, 'non-zero status code: 3'),
            ({'broken': 'disk full'}, 'broken : disk full'),
        ):
            run, signalled = self.waiting(details)
            self.assertIn(expected, signalled.reason)
            handler = resources.SoftwareDeployment()
            token = {'deployment': run.data[stacks.DEPLOYMENT]['id']}
            context = run._context(run._action(1))
            error = self.assertRaises(
                exceptions.WatcherliteError, handler.poll, context, 'create', token
            )
            self.assertIn(
                f'Deployment to server failed: {signalled.reason}', str(error)
            )

    def test_actions_without_a_deployment_do_nothing(self):
        run = self.deploy({'signal_transport': 'NO_SIGNAL', 'actions': ['SUSPEND']})
        self.assertNotIn(stacks.DEPLOYMENT, run.data)

        run.suspend()

        self.assertEqual('SUSPEND', self.inputs(run)['deploy_action'])
        self.assertEqual('COMPLETE', run.delete().status)

    def test_a_component_decides_its_actions(self):
        component = {
            'configs': [{'actions': ['RESUME'], 'config': 'echo', 'tool': 'script'}]
        }
        run = self.deploy(
            {'signal_transport': 'NO_SIGNAL'}, (software.SoftwareComponent, component)
        )
        self.assertNotIn(stacks.DEPLOYMENT, run.data)

        run.resume()

        deployment = run.data[stacks.DEPLOYMENT]
        self.assertEqual(
            ('component', component), (deployment['group'], deployment['config'])
        )

    def test_the_scripts_of_a_component_deploy_creations_and_updates_by_default(self):
        component = {'configs': [{'config': 'echo', 'tool': 'script'}]}
        fitted = ResourceRun(software.SoftwareComponent).fit(component)
        self.assertEqual(['CREATE', 'UPDATE'], fitted['configs'][0]['actions'])

        run = self.deploy(
            {'signal_transport': 'NO_SIGNAL'}, (software.SoftwareComponent, component)
        )

        self.assertEqual('component', run.data[stacks.DEPLOYMENT]['group'])
        with self.assertRaisesRegex(exceptions.Invalid, 'configs.0.actions.0'):
            run = ResourceRun(software.SoftwareComponent)
            run.fit({'configs': [{'actions': ['START'], 'tool': 'script'}]})

    def test_inputs_replace_mappings_of_a_structured_config(self):
        config = {'config': {'a': [{'get_input': 'foo'}], 'b': {'get_input': 'none'}}}
        given = (software.StructuredConfig, config)
        properties = {'signal_transport': 'NO_SIGNAL', 'input_values': {'foo': [1]}}

        run = self.deploy(properties, given, resources.StructuredDeployment)

        deployment = run.data[stacks.DEPLOYMENT]
        self.assertEqual({'a': [[1]], 'b': None}, deployment['config'])
        strict = {**properties, 'input_values_validate': 'STRICT'}
        self.deploy(strict, given, resources.StructuredDeployment)
        self.assertIn('the input none of the config has no value', self.settled.reason)


class TestGroups(case.ResourceCase):
    def test_the_stack_of_a_group_has_a_copy_of_the_config_and_a_deployment_each(self):
        for handler, properties, kind in (
            (software.SoftwareConfig, {'config': 'echo'}, 'SoftwareConfig'),
            (software.StructuredConfig, {'config': {'a': 1}}, 'StructuredConfig'),
        ):
            dependencies, reference = config_of(handler, properties)
            run = ResourceRun(
                deployment_groups.SoftwareDeploymentGroup, dependencies=dependencies
            )
            run.properties = run.fit(
                {'config': reference, 'servers': {'a': 's-a', 'b': 's-b'}}
            )
            context = run._context(run._action(1))

            (batch,) = run._instance().expand(context, ())

            resources_of = batch.template['resources']
            self.assertEqual(['config', 'a', 'b'], list(resources_of))
            self.assertEqual(f'OS::Heat::{kind}', resources_of['config']['type'])
            self.assertEqual(
                properties['config'], resources_of['config']['properties']['config']
            )
            self.assertEqual(
                {'get_resource': 'config'}, resources_of['b']['properties']['config']
            )
            self.assertEqual('s-b', resources_of['b']['properties']['server'])


class TestMetadata(case.ResourceCase):
    def test_a_server_reads_its_deployments_sorted_by_name(self):
        one = {'id': '1', 'name': '20', 'server_id': 's'}
        data = [
            {stacks.DEPLOYMENT: one},
            {stacks.DEPLOYMENT: {**one, 'id': '2', 'name': '10'}},
            {stacks.DEPLOYMENT: {**one, 'server_id': 'other'}},
            {},
        ]

        found = stacks.server_metadata({'a': 1}, 's', data)

        self.assertEqual(
            {
                'a': 1,
                'deployments': [{'id': '2', 'name': '10'}, {'id': '1', 'name': '20'}],
            },
            found,
        )

    def test_the_user_data_of_a_server_has_the_url_of_its_metadata(self):
        compute = self.connection.compute
        compute.create_flavor(id='1', name='small')
        compute.defaults['server'] = {'status': 'ACTIVE'}
        run = self.created(
            servers.Server,
            {
                'image': '11111111-2222-3333-4444-555555555555',
                'flavor': '1',
                'networks': [],
                'user_data_format': 'SOFTWARE_CONFIG',
                'user_data': '#!/bin/sh\nexit 0',
            },
        )

        (body,) = [kw for name, _, kw in compute.calls if name == 'create_server']
        message = email.message_from_bytes(base64.b64decode(body['user_data']))
        script, own = [part.get_payload() for part in message.get_payload()]
        self.assertEqual('#!/bin/sh\nexit 0', script)
        (file,) = yaml.safe_load(own)['write_files']
        config = json.loads(file['content'])['os-collect-config']
        self.assertEqual(run.attributes['os_collect_config'], config)
        self.assertEqual(run.data['metadata_url'], config['request']['metadata_url'])
        token = run.data['metadata_url'].partition('token=')[2]
        digest = run.data[bearer_tokens.METADATA_DIGEST]
        self.assertTrue(bearer_tokens.is_valid(token, digest))

    def test_a_deployed_server_has_the_url_as_an_attribute(self):
        run = self.created(deployed_servers.DeployedServer, {'name': 'metal'})

        self.assertEqual(
            run.data['metadata_url'],
            run.attributes['os_collect_config']['request']['metadata_url'],
        )
