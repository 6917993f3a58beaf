"""Tests of software configs and deployments with the commands of Heat users."""

SCRIPT = '#!/bin/sh\necho "$greeting" > "$heat_outputs_path.result"\n'
DEFINITION = """
inputs:
- name: greeting
  default: hello
outputs:
- name: result
options:
  strict: true
"""
SERVER = {
    'heat_template_version': '2018-08-31',
    'resources': {'server': {'type': 'OS::Heat::DeployedServer'}},
    'outputs': {
        'id': {'value': {'get_resource': 'server'}},
        'metadata': {'value': {'get_attr': ['server', 'os_collect_config']}},
    },
}


class SoftwareTests:
    """Tests of configs from their creation, and of what a server reads of them."""

    def create_config(self, name):
        """Create a config; return its id."""
        made = self.json(
            *('software', 'config', 'create', name, '--group', 'script'),
            *('--config-file', self.file(f'{name}.sh', SCRIPT)),
            *('--definition-file', self.file(f'{name}.yaml', DEFINITION)),
        )
        return made['id']

    def deploy(self, name, config, server, *argv):
        """Create a deployment; return it."""
        return self.json(
            *('software', 'deployment', 'create', name, '--config', config),
            *('--server', server, '--signal-transport', 'NO_SIGNAL', *argv),
        )

    def test_a_software_config_is_created_shown_listed_and_deleted(self):
        uuid = self.create_config('walk')

        shown = self.json('software', 'config', 'show', uuid)
        text = self.check_output('software', 'config', 'show', uuid, '--config-only')
        rows = self.json('software', 'config', 'list', '--limit', '1')
        after = self.json('software', 'config', 'list', '--marker', uuid)
        self.check_output('software', 'config', 'delete', uuid)

        self.assertEqual(
            {
                'id': uuid,
                'name': 'walk',
                'group': 'script',
                'config': SCRIPT,
                'inputs': [{'name': 'greeting', 'type': 'String', 'default': 'hello'}],
                'outputs': [
                    {'name': 'result', 'type': 'String', 'error_output': False}
                ],
                'options': {'strict': True},
                'creation_time': shown['creation_time'],
            },
            shown,
        )
        self.assertEqual(SCRIPT.strip(), text.strip())
        self.assertEqual(
            [
                {
                    'id': uuid,
                    'name': 'walk',
                    'group': 'script',
                    'creation_time': shown['creation_time'],
                }
            ],
            rows,
        )
        self.assertNotIn(uuid, [row['id'] for row in after])
        self.assertIn(
            f'Configuration not found: {uuid}',
            self.refusal('software', 'config', 'show', uuid),
        )
        failed = self.command('software', 'config', 'delete', uuid)
        self.assertIn(f'Software config with ID {uuid} not found', failed.out)

    def test_a_software_deployment_is_created_shown_listed_and_deleted(self):
        config = self.create_config('greeting')

        made = self.deploy('1', config, 'walk-1', '--input-value', 'greeting=hi')
        uuid = made['id']
        rows = self.json('software', 'deployment', 'list', '--server', 'walk-1')
        (metadata,) = self.metadata('walk-1')
        self.ask(
            'PUT',
            f'/software_deployments/{uuid}',
            json={
                'status': 'COMPLETE',
                'status_reason': 'Outputs received',
                'output_values': {'result': 'hi', 'deploy_status_code': 0},
            },
        )
        shown = self.json('software', 'deployment', 'show', uuid, '--long')
        output = self.check_output(
            'software', 'deployment', 'output', 'show', uuid, 'result'
        )
        every = self.check_output(
            'software', 'deployment', 'output', 'show', uuid, '--all'
        )
        self.check_output('software', 'deployment', 'delete', uuid)

        derived = made['config_id']
        self.assertNotEqual(config, derived)
        self.assertEqual(
            [
                {
                    'id': uuid,
                    'config_id': derived,
                    'server_id': 'walk-1',
                    'action': 'UPDATE',
                    'status': 'IN_PROGRESS',
                }
            ],
            rows,
        )
        self.assertEqual((derived, SCRIPT), (metadata['id'], metadata['config']))
        self.assertEqual(
            {
                'greeting': 'hi',
                'deploy_server_id': 'walk-1',
                'deploy_action': 'UPDATE',
                'deploy_signal_transport': 'NO_SIGNAL',
            },
            {item['name']: item['value'] for item in metadata['inputs']},
        )
        self.assertEqual(
            {
                'id': uuid,
                'server_id': 'walk-1',
                'config_id': derived,
                'creation_time': made['creation_time'],
                'updated_time': shown['updated_time'],
                'status': 'COMPLETE',
                'status_reason': 'Outputs received',
                'input_values': {},
                'action': 'UPDATE',
                'output_values': {'result': 'hi', 'deploy_status_code': 0},
            },
            shown,
        )
        self.assertIn('hi', output)
        self.assertIn('deploy_status_code', every)
        self.assertIn(
            f'Software Deployment not found: {uuid}',
            self.refusal('software', 'deployment', 'show', uuid),
        )
        # The client deletes the derived config, too.
        self.refusal('software', 'config', 'show', derived)
        self.json('software', 'config', 'show', config)

    def metadata(self, server):
        """Return the metadata of a server as the client prints it."""
        done = self.command('software', 'deployment', 'metadata', 'show', server)
        return done.json()

    def test_a_deployed_server_reads_a_deployment_and_sends_its_results(self):
        made = self.ask('POST', '/stacks', json={'stack_name': 's', 'template': SERVER})
        self.wait_for('s', 'CREATE_COMPLETE')
        path = f'/stacks/s/{made["stack"]["id"]}/outputs'
        server, collect = (
            self.ask('GET', f'{path}/{key}')['output']['output_value']
            for key in ('id', 'metadata')
        )
        config = self.create_config('direct')
        deployment = self.ask(
            'POST',
            '/software_deployments',
            json={
                'config_id': config,
                'server_id': server,
                'action': 'CREATE',
                'status': 'IN_PROGRESS',
            },
        )['software_deployment']

        # The address of the configuration is not that of this process.
        address = collect['request']['metadata_url'].partition('/orchestration')[2]
        read = self.request('GET', f'/orchestration{address}')
        (found,) = read['deployments']
        inputs = {item['name']: item['value'] for item in found['inputs']}
        sent = inputs['deploy_signal_id'].partition('/orchestration')[2]
        results = {'deploy_status_code': 0, 'result': 'hello'}
        self.request('POST', f'/orchestration{sent}', json=results)

        self.assertEqual((config, 'hello'), (found['id'], inputs['greeting']))
        shown = self.json('software', 'deployment', 'show', deployment['id'], '--long')
        self.assertEqual(
            ('COMPLETE', 'Outputs received', 'hello'),
            (shown['status'], shown['status_reason'], shown['output_values']['result']),
        )
