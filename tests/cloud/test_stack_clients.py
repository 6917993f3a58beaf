"""Stacks in a real cloud, as the unmodified clients of a user request them."""

import base64
import email
import json
import pathlib
import urllib.parse

import yaml
from openstack import exceptions as sdk_exceptions

from tests.acceptance.daemons import wait_until
from tests.cloud import case
from tests.cloud.stack_client_case import (
    CONDITION,
    SERVER,
    TIMEOUT,
    StackClientCase,
    template,
)

ROOT = pathlib.Path(__file__).parents[2]
THREE_TIERS = str(ROOT / 'etc/watcherlite/examples/three_tier.yaml')
SERVERS = ('application', 'database', 'web')
#: A script in the user data.
SETUP = '#!/bin/sh\necho ready\n'
#: A server with metadata.
TAGGED = {
    **template(
        server={
            **SERVER,
            'properties': {
                **SERVER['properties'],
                'metadata': {'tier': {'get_param': 'tier'}},
            },
        }
    ),
    'parameters': {'tier': {'type': 'string', 'default': 'none'}},
    'outputs': {'id': {'value': {'get_resource': 'server'}}},
}


class TestThreeTiers(StackClientCase):
    """`openstack stack`, from the validation of a template to the deletion."""

    def test_a_stack_is_created_changed_repaired_locked_moved_and_deleted(self):
        name = self.name
        before = self.create()
        self.assert_shown(before)

        # In place.
        change = ('--existing', '--parameter', 'volume_size=2')
        preview = self.shown('stack', 'update', name, *change, '--dry-run')
        out = self.output('stack', 'update', name, *change, '--wait')
        self.assertEqual(
            (['data'], [], []),
            tuple(
                [resource['resource_name'] for resource in preview[kind]]
                for kind in ('updated', 'replaced', 'deleted')
            ),
        )
        self.assertIn(f'[{name}]: UPDATE_COMPLETE', out)
        self.assertEqual(before, self.ids(name))
        volume = self.user.block_storage.get_volume(before['data'])
        self.assertEqual(
            (2, before['database']), (volume.size, volume.attachments[0]['server_id'])
        )

        # Only the marked server is replaced.
        mark = ('stack', 'resource', 'mark', 'unhealthy', name, 'application')
        self.output(*mark, 'no response')
        marked = self.shown('stack', 'resource', 'show', name, 'application')
        self.output('stack', 'update', name, '--existing', '--wait')
        after = self.ids(name)
        self.assertEqual(
            ('CHECK_FAILED', 'no response'),
            (marked['resource_status'], marked['resource_status_reason']),
        )
        self.assertEqual(
            {'application'}, {key for key in before if before[key] != after[key]}
        )
        self.assertEqual({after[key] for key in SERVERS}, set(self.servers()))
        self.output('stack', 'check', name, '--wait')

        self.assert_lock_protects(after)
        self.assert_abandoned_servers_are_adopted(after)

        self.output('stack', 'delete', '--yes', '--wait', name)
        self.assertEqual({}, self.left())
        deleted = self.shown('stack', 'list', '--deleted')
        # The abandoned and the adopted one.
        self.assertEqual(
            ['DELETE_COMPLETE'] * 2,
            [row['Stack Status'] for row in deleted if row['Stack Name'] == name],
        )

    def create(self):
        """Create the stack; return the physical ids of its resources by name."""
        environment = self.file(
            'shop.yaml', {'parameters': {'flavor': 'm1.tiny', 'cidr': '10.66.1.0/24'}}
        )
        arguments = (
            *('-t', THREE_TIERS, '-e', environment),
            *('--parameter', 'flavor=m1.nano'),
        )
        found = self.shown('orchestration', 'template', 'validate', '-t', THREE_TIERS)
        preview = self.shown('stack', 'create', self.name, *arguments, '--dry-run')
        self.assertEqual('m1.nano', found['Parameters']['flavor']['Default'])
        self.assertEqual([], self.shown('stack', 'list'))
        out = self.output(
            *('stack', 'create', self.name, *arguments, '--tags', 'shop', '--wait')
        )
        self.assertIn(f'[{self.name}]: CREATE_COMPLETE', out)
        ids = self.ids(self.name)
        self.assertEqual(
            set(ids), {resource['resource_name'] for resource in preview['resources']}
        )
        return ids

    def assert_shown(self, ids):
        """Assert that the client shows the stack as it is in the cloud."""
        name, servers = self.name, self.servers()
        (row,) = self.shown('stack', 'list', '--tags', 'shop')
        self.assertEqual(
            (name, 'CREATE_COMPLETE'), (row['Stack Name'], self.status(name))
        )
        self.assertEqual(
            {ids[tier]: ('ACTIVE', tier, 'm1.nano') for tier in SERVERS},
            {
                uuid: (one.status, one.metadata['tier'], one.flavor.original_name)
                for uuid, one in servers.items()
            },
        )
        parameters = self.shown('stack', 'show', name)['parameters']
        self.assertEqual('10.66.1.0/24', parameters['cidr'])
        self.assertEqual(self.user.current_project_id, parameters['OS::project_id'])
        url = self.shown('stack', 'output', 'show', name, 'url')['output_value']
        address = url.removeprefix('https://').rstrip('/')
        (floating,) = self.user.network.ips(floating_ip_address=address)
        self.assertEqual(ids['web_port'], floating.port_id)
        listed = self.shown('stack', 'output', 'list', name)
        self.assertEqual({'url', 'private_key'}, {one['output_key'] for one in listed})
        events = self.shown('stack', 'event', 'list', name)
        self.assertEqual(
            ['CREATE_IN_PROGRESS', 'CREATE_COMPLETE'],
            [
                event['resource_status']
                for event in events
                if event['physical_resource_id'] == row['ID']
            ],
        )
        self.assertEqual(
            set(ids), {event['resource_name'] for event in events} - {name}
        )

    def assert_lock_protects(self, ids):
        """Assert that a lock protects the servers and the stack until the unlock."""
        name, statuses = self.name, {}
        self.install_plugin()
        self.output('stack', 'lock', name, '--wait')

        self.assertEqual({True}, self.locked())
        for words in (
            ('update', name, '--existing'),
            ('suspend', name),
            ('check', name),
            ('resource', 'mark', 'unhealthy', name, 'web'),
            ('delete', '--yes', name),
        ):
            text = self.refusal('stack', *words)
            self.assertIn(f'Stack {name} is locked (LOCK_COMPLETE)', text)
            self.assertIn('needs an unlock first', text)
        self.assertIn('locked', self.refusal('server', 'delete', ids['web']))
        preview = self.shown('stack', 'update', name, '--existing', '--dry-run')
        self.assertEqual([], preview['replaced'])
        statuses['all'] = self.status(name)
        # The servers are free, the stack is not.
        self.output('stack', 'lock', name, '--level', 'stacks', '--wait')
        self.assertEqual({False}, self.locked())
        self.refusal('stack', 'suspend', name)
        statuses['stacks'] = self.status(name)
        self.output('stack', 'unlock', name, '--wait')
        statuses['none'] = self.status(name)
        self.assertEqual(
            {
                'all': 'LOCK_COMPLETE',
                'stacks': 'LOCK_COMPLETE',
                'none': 'UNLOCK_COMPLETE',
            },
            statuses,
        )
        self.assertEqual(ids, self.ids(name))

    def locked(self):
        """Return whether the servers are locked."""
        return {server.is_locked for server in self.servers().values()}

    def assert_abandoned_servers_are_adopted(self, ids):
        """Assert that an abandoned stack is adopted with all its objects."""
        name, path = self.name, str(self.home / 'abandoned.json')
        key = self.shown('stack', 'output', 'show', name, 'private_key')
        self.output('stack', 'abandon', name, '--output-file', path)
        self.assertEqual([], self.shown('stack', 'list'))
        self.assertEqual({ids[tier] for tier in SERVERS}, set(self.servers()))

        self.output('stack', 'adopt', name, '--adopt-file', path, '--wait')

        self.assertEqual('ADOPT_COMPLETE', self.status(name))
        self.assertEqual(ids, self.ids(name))
        self.assertEqual({ids[tier] for tier in SERVERS}, set(self.servers()))
        self.assertEqual(
            key, self.shown('stack', 'output', 'show', name, 'private_key')
        )
        self.output('stack', 'check', name, '--wait')
        self.output('stack', 'update', name, '--existing', '--wait')
        self.assertEqual(ids, self.ids(name))


class TestFaults(StackClientCase):
    """`openstack stack`, with what happens to stacks that fail or wait."""

    def test_the_reason_is_an_exhausted_quota_or_an_unknown_region(self):
        self.assert_quota_is_the_reason()
        remote = {'type': 'OS::Heat::Stack'}
        remote['properties'] = {
            'context': {'region_name': 'nowhere'},
            'template': json.dumps(template(server=SERVER)),
        }
        path = self.file('remote.json', template(remote=remote))
        before = set(self.servers())

        self.refusal('stack', 'create', f'{self.name}-2', '-t', path, '--wait')

        failures = self.output('stack', 'failures', 'list', f'{self.name}-2')
        self.assertIn(
            'Cannot establish connection to Heat endpoint at region "nowhere"',
            ' '.join(failures.split()),
        )
        self.assertEqual(before, set(self.servers()))

    def assert_quota_is_the_reason(self):
        """Assert that failures have the quota as their reason until it is raised."""
        name, volume = self.name, {'type': 'OS::Cinder::Volume'}
        volume['properties'] = {'size': {'get_param': 'size'}}
        path = self.file(
            'quota.json',
            {
                **template(volume=volume, server=SERVER),
                'parameters': {'size': {'type': 'number'}},
            },
        )
        self.admin.compute.update_quota_set(self.project.id, instances=0)

        create = ('stack', 'create', name, '-t', path, '--parameter', 'size=100000')
        error = self.refusal(*create, '--wait')
        failures = ' '.join(self.output('stack', 'failures', 'list', name).split())
        self.assertIn(f'Stack {name} CREATE_FAILED', error)
        for kind, service in (('volume', 'block-storage'), ('server', 'compute')):
            self.assertIn(f'{name}.{kind}:', failures)
            self.assertIn(f'the quota of the {service} service is exhausted', failures)
        self.assertEqual({}, self.left())

        self.admin.compute.update_quota_set(self.project.id, instances=2)
        update = ('stack', 'update', name, '--existing', '--parameter', 'size=1')
        self.output(*update, '--wait')
        ids = self.ids(name)
        self.assertEqual({ids['server']}, set(self.servers()))
        self.assertEqual(1, self.user.block_storage.get_volume(ids['volume']).size)
        self.assertEqual('', self.output('stack', 'failures', 'list', name).strip())

    def assert_missing_server_is_replaced(self):
        """Assert that an update replaces a server that was deleted, or has failed."""
        name = self.name
        path = self.file('server.json', template(server=SERVER))
        self.output('stack', 'create', name, '-t', path, '--wait')
        first = self.ids(name)['server']
        self.output('server', 'delete', '--wait', first)

        error = self.refusal('stack', 'check', name, '--wait')
        failures = self.output('stack', 'failures', 'list', name)
        self.assertEqual('CHECK_FAILED', self.status(name))
        self.assertIn(f'server {first} no longer exists', ' '.join(failures.split()))
        self.assertIn(name, error)
        self.output('stack', 'update', name, '--existing', '--wait')
        second = self.ids(name)['server']
        self.assertNotEqual(first, second)
        self.assertEqual({second}, set(self.servers()))
        self.output('stack', 'check', name, '--wait')

        # A server in the status ERROR fails a check, too.
        self.admin.compute.reset_server_state(second, 'error')
        self.refusal('stack', 'check', name, '--wait')
        self.output('stack', 'update', name, '--existing', '--wait')
        self.assertNotEqual(second, self.ids(name)['server'])

    def test_hooks_hold_servers_until_they_are_cleared(self):
        name = self.name
        path = self.file('hooked.json', template(server=SERVER))
        create = ('stack', 'create', name, '-t', path, '--pre-create', 'server')
        self.output(*create)
        self.wait_for_hook('pre-create')
        self.assertEqual({}, self.servers())
        self.assertEqual('CREATE_IN_PROGRESS', self.status(name))

        self.output('stack', 'hook', 'clear', name, 'server')
        self.wait_for(name, 'CREATE_COMPLETE')
        (server,) = self.servers()
        hooks = {'resources': {'server': {'hooks': ['pre-update', 'pre-delete']}}}
        environment = self.file('hooks.json', {'resource_registry': hooks})
        changed = {**SERVER['properties'], 'metadata': {'tier': 'web'}}
        path = self.file(
            'changed.json', template(server={**SERVER, 'properties': changed})
        )
        self.output('stack', 'update', name, '-t', path, '-e', environment)
        self.wait_for_hook('pre-update')
        self.assertNotIn('tier', self.servers()[server].metadata)
        self.output('stack', 'hook', 'clear', name, 'server')
        self.wait_for(name, 'UPDATE_COMPLETE')
        self.assertEqual('web', self.servers()[server].metadata['tier'])

        self.output('stack', 'delete', '--yes', name)
        self.wait_for_hook('pre-delete')
        self.assertEqual({server}, set(self.servers()))
        self.output('stack', 'hook', 'clear', '--pre-delete', name, 'server')

    def wait_for_hook(self, hook):
        """Wait until the server waits at a hook."""

        def found():
            rows = self.shown('stack', 'hook', 'poll', self.name)
            return [row['Resource Status Reason'] for row in rows]

        wait_until(
            lambda: any(f'Hook {hook} ' in reason for reason in found()),
            self.describe,
            TIMEOUT,
        )

    def test_a_server_is_replaced_if_it_is_missing_and_kept_after_a_cancellation(self):
        self.assert_missing_server_is_replaced()
        name, known = f'{self.name}-2', set(self.servers())
        path = self.file('waiting.json', template(server=SERVER, **CONDITION))
        self.output('stack', 'create', name, '-t', path)
        reached = {'server': 'CREATE_COMPLETE', 'condition': 'CREATE_IN_PROGRESS'}
        wait_until(
            lambda: reached.items() <= self.statuses(name).items(),
            self.describe,
            TIMEOUT,
        )

        self.output('stack', 'cancel', name, '--no-rollback')
        cancelled = self.wait_for(name, 'CREATE_FAILED')
        (server,) = set(self.servers()) - known
        rest = self.file('rest.json', template(server=SERVER))
        self.output('stack', 'update', name, '-t', rest, '--wait')

        self.assertIn('cancel', cancelled.status_reason.lower())
        self.assertEqual({'server': server}, self.ids(name))
        self.assertEqual(known | {server}, set(self.servers()))


class TestSignals(StackClientCase):
    """URLs of the API that servers call without a token of keystone."""

    def engine_options(self):
        endpoint = {'endpoint': f'http://127.0.0.1:{self.port}'}
        kinds = 'heat_softwaredeployment', 'heat_waitconditionhandle', 'nova_server'
        return {
            **super().engine_options(),
            **{f'watcherlite.resource_handlers.os_{kind}': endpoint for kind in kinds},
        }

    def test_a_server_applies_deployments_and_signals_their_results(self):
        name, script = self.name, self.create_config('script', 'hostname')
        path = self.file('signals.json', self.template(script))
        self.output('stack', 'create', name, '-t', path)
        wait_until(
            lambda: (
                self.statuses(name).get('server') == 'CREATE_COMPLETE'
                and self.statuses(name)['handle'] == 'CREATE_COMPLETE'
            ),
            self.describe,
            TIMEOUT,
        )
        (server,) = self.servers()
        url = self.metadata_url(server)
        (found,) = wait_until(
            lambda: self.call_url('GET', url)['deployments'], self.describe, TIMEOUT
        )
        inputs = {item['name']: item['value'] for item in found['inputs']}
        self.assertEqual(('script', 'hostname'), (found['group'], found['config']))

        self.call_url(
            inputs['deploy_signal_verb'],
            inputs['deploy_signal_id'],
            {'result': 'web-1', 'deploy_status_code': 0},
        )
        # It has a token, which `resource show` masks.
        handle = self.shown('stack', 'output', 'show', name, 'endpoint')
        self.assertEqual('CREATE_IN_PROGRESS', self.status(name))
        for at in ('first', 'second'):
            signal = {'id': at, 'data': 'ready'}
            self.call_url('POST', handle['output_value'], signal)

        self.wait_for(name, 'CREATE_COMPLETE')
        output = self.shown('stack', 'output', 'show', name, 'result')
        self.assertEqual('web-1', output['output_value'])
        self.assert_deployed(server, url)

    def template(self, script):
        """Return a template of a server that applies a config and signals."""
        properties = {
            **SERVER['properties'],
            'user_data_format': 'SOFTWARE_CONFIG',
            'user_data': self.create_config('setup', SETUP),
        }
        deployment = {'config': script, 'server': {'get_resource': 'server'}}
        condition = {**CONDITION['condition']['properties'], 'count': 2}
        return {
            **template(
                server={**SERVER, 'properties': properties},
                deployment={
                    'type': 'OS::Heat::SoftwareDeployment',
                    'properties': deployment,
                },
                handle=CONDITION['handle'],
                condition={**CONDITION['condition'], 'properties': condition},
            ),
            'outputs': {
                'endpoint': {'value': {'get_attr': ['handle', 'endpoint']}},
                'result': {'value': {'get_attr': ['deployment', 'result']}},
            },
        }

    def create_config(self, name, text):
        """Create a config; return its id."""
        definition = self.file('definition.json', {'outputs': [{'name': 'result'}]})
        made = self.shown(
            *('software', 'config', 'create', name, '--group', 'script'),
            *('--config-file', self.file(f'{name}.sh', text)),
            *('--definition-file', definition),
        )
        return made['id']

    def metadata_url(self, server):
        """Return the URL in the user data of the server for os-collect-config."""
        # Only administrators may read it.
        data = self.admin.compute.get_server(server).user_data
        message = email.message_from_bytes(base64.b64decode(data))
        parts = [part.get_payload(decode=True) or b'' for part in message.walk()]
        self.assertIn(SETUP.encode(), parts)
        (written,) = (text for text in parts if b'write_files' in text)
        (file,) = yaml.safe_load(written)['write_files']
        collected = json.loads(file['content'])['os-collect-config']
        return collected['request']['metadata_url']

    def call_url(self, method, url, body=None):
        """Call a URL of the API without a token of keystone; return the body."""
        parts = urllib.parse.urlsplit(url)
        self.assertEqual(f'127.0.0.1:{self.port}', parts.netloc)
        status, answer = self.ask(
            self.port, method, f'{parts.path}?{parts.query}', body
        )
        self.assertEqual(200, status, answer)
        return answer

    def assert_deployed(self, server, url):
        """Assert that the server reads a deployment that the client creates."""
        config = self.create_config('motd', 'uptime')
        made = self.shown(
            *('software', 'deployment', 'create', 'motd', '--config', config),
            *('--server', server, '--signal-transport', 'NO_SIGNAL'),
        )
        listed = self.shown('software', 'deployment', 'list', '--server', server)
        read = self.call_url('GET', url)['deployments']
        self.heat.update_software_deployment(
            made['id'], status='COMPLETE', output_values={'result': 'web-1'}
        )
        shown = self.shown('software', 'deployment', 'show', made['id'], '--long')
        self.output('software', 'deployment', 'delete', made['id'])

        self.assertEqual([made['id']], [row['id'] for row in listed])
        self.assertEqual({'hostname', 'uptime'}, {item['config'] for item in read})
        self.assertEqual(
            ('COMPLETE', {'result': 'web-1'}), (shown['status'], shown['output_values'])
        )


class TestOpenStackSdk(StackClientCase):
    """`connection.orchestration` of openstacksdk."""

    def test_a_stack_is_created_read_changed_suspended_and_abandoned(self):
        heat = self.heat
        self.assert_validated()
        made = heat.create_stack(
            name=self.name,
            template=TAGGED,
            environment={'parameter_defaults': {'tier': 'web'}},
            files={'motd': 'hello'},
            tags=['blue', 'green'],
            timeout_mins=7,
            is_rollback_disabled=False,
        )
        self.wait(made, 'CREATE_COMPLETE')
        self.assert_read()

        stack = heat.find_stack(self.name)
        heat.update_stack(stack.id, template=TAGGED, parameters={'tier': 'app'})
        self.wait(stack, 'UPDATE_COMPLETE')
        (server,) = self.servers().values()
        self.assertEqual('app', server.metadata['tier'])
        statuses = []
        for verb in ('suspend', 'resume', 'check'):
            getattr(heat, f'{verb}_stack')(stack.id)
            self.wait(stack, f'{verb.upper()}_COMPLETE')
            (server,) = self.servers().values()
            statuses.append(server.status)
        self.assertEqual(['SUSPENDED', 'ACTIVE', 'ACTIVE'], statuses)

        exported = heat.export_stack(self.name)
        abandoned = heat.abandon_stack(heat.get_stack(stack.id))
        self.assertEqual(
            [server.id] * 2,
            [d['resources']['server']['resource_id'] for d in (exported, abandoned)],
        )
        self.assertIsNone(heat.find_stack(self.name))
        self.assertEqual('ACTIVE', self.user.compute.get_server(server).status)
        self.user.compute.delete_server(server)
        self.user.compute.wait_for_delete(server, wait=TIMEOUT)

    def wait(self, stack, status):
        """Wait for a status as programs do."""
        failed = f'{status.partition("_")[0]}_FAILED'
        self.heat.wait_for_status(stack, status, [failed], 0.5, TIMEOUT)

    def assert_validated(self):
        """Assert that templates are validated."""
        found = self.heat.validate_template(TAGGED)
        wrong = template(server={'type': 'OS::Nova::Server', 'properties': {'x': 1}})
        with self.assertRaises(sdk_exceptions.BadRequestException) as caught:
            self.heat.validate_template(wrong)
        self.assertEqual('none', found.parameters['tier']['Default'])
        self.assertIn('x', str(caught.exception))

    def assert_read(self):
        """Assert that the stack is read with everything that belongs to it."""
        heat, (server,) = self.heat, self.servers().values()
        stack = heat.find_stack(self.name)
        self.assertEqual(
            (stack.id, self.name, ['blue', 'green'], 7, False),
            (
                heat.get_stack(stack.id).id,
                stack.name,
                stack.tags,
                stack.timeout_mins,
                stack.is_rollback_disabled,
            ),
        )
        self.assertEqual(
            [[self.name], [self.name], []],
            [
                [one.name for one in heat.stacks(**query)]
                for query in ({}, {'tags': ['blue']}, {'tags': ['red']})
            ],
        )
        self.assertEqual(server.id, stack.outputs[0]['output_value'])
        self.assertEqual(
            [('server', server.id, 'OS::Nova::Server', 'CREATE_COMPLETE')],
            [
                (one.name, one.physical_resource_id, one.resource_type, one.status)
                for one in heat.resources(stack)
            ],
        )
        self.assertEqual(
            ['CREATE_IN_PROGRESS', 'CREATE_COMPLETE'],
            [
                event.resource_status
                for event in heat.stack_events(stack, sort_dir='asc')
                if event.resource_name == 'server'
            ],
        )
        of_one = list(heat.stack_events(stack, resource_name='server'))
        self.assertEqual({'server'}, {event.resource_name for event in of_one})
        self.assertEqual(TAGGED['resources'], heat.get_stack_template(stack).resources)
        environment = heat.get_stack_environment(stack)
        self.assertEqual({'tier': 'web'}, environment.parameter_defaults)
        self.assertEqual({'motd': 'hello'}, heat.get_stack_files(stack))
        self.assertEqual('web', server.metadata['tier'])

    def test_configs_and_stacks_of_files_are_used_by_the_endpoint_of_the_catalog(self):
        clouds = json.loads(pathlib.Path(self.clouds_file).read_text())
        mine = clouds['clouds'][case.DEMO]
        del mine['orchestration_endpoint_override'], mine['regions']
        mine['region_name'] = self.region
        self.clouds_file = self.file('catalog.yaml', clouds)
        user = self.connect_user()
        self.assert_deployments(user.orchestration)

        path = self.file('tagged.json', TAGGED)
        made = user.create_stack(self.name, template_file=path, tags=['a'], wait=True)
        (before,) = self.servers()
        changed = user.update_stack(
            self.name, template_file=path, wait=True, tier='app'
        )
        (server,) = self.servers().values()

        self.assertEqual(
            ('CREATE_COMPLETE', 'UPDATE_COMPLETE', before, 'app'),
            (made.status, changed.status, server.id, server.metadata['tier']),
        )
        (found,) = user.search_stacks(self.name)
        self.assertEqual(made.id, found.id)
        self.assertTrue(user.delete_stack(self.name, wait=True))
        self.assertFalse(user.delete_stack(self.name))
        self.assertEqual({}, self.left())

    def assert_deployments(self, heat):
        """Assert that software configs and deployments are created and deleted."""
        config = heat.create_software_config(
            name='motd', group='script', config='uptime', outputs=[{'name': 'result'}]
        )
        made = heat.create_software_deployment(
            config_id=config.id, server_id='one', action='CREATE', status='IN_PROGRESS'
        )
        heat.update_software_deployment(
            made, status='COMPLETE', output_values={'result': 'up'}
        )
        found = heat.get_software_deployment(made.id)
        listed = [
            [one.id for one in listing()]
            for listing in (heat.software_configs, heat.software_deployments)
        ]
        heat.delete_software_deployment(made)
        heat.delete_software_config(config)

        self.assertEqual('uptime', config.config)
        self.assertEqual(
            ('COMPLETE', {'result': 'up'}), (found.status, found.output_values)
        )
        self.assertIn(config.id, listed[0])
        self.assertEqual([made.id], listed[1])
        self.assertEqual([], list(heat.software_configs()))
