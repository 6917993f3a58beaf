"""The commands that read stacks: their requests and their output."""

import json

from tests.functional.cli.fake_api import Reply, error_reply
from tests.functional.cli.stacks import stack_objects as shown
from tests.functional.cli.stacks.stack_case import ALL, WEB, StackCase


class StackListTest(StackCase):
    """`stack list`."""

    def test_lists_have_columns_and_formats(self):
        self.api.responses[f'GET {ALL}'] = {'stacks': [shown.LISTED]}
        everywhere = f'GET {ALL}?global_tenant=true'
        self.api.responses[everywhere] = {'stacks': [shown.LISTED]}

        (few,) = self.rows('stack', 'list')
        (many,) = self.rows('stack', 'list', '--long')
        (all_projects,) = self.rows('stack', 'list', '--all-projects')

        self.assertEqual(
            {
                'ID': shown.STACK_ID,
                'Stack Name': 'web',
                'Stack Status': 'CREATE_COMPLETE',
                'Creation Time': '2030-01-02T03:04:05Z',
                'Updated Time': None,
            },
            few,
        )
        self.assertEqual(
            {
                **few,
                'Project': 'default',
                'Deletion Time': None,
                'Stack Owner': 'me',
                'Parent': None,
                'Tags': ['blue'],
            },
            many,
        )
        self.assertEqual({**few, 'Project': 'default'}, all_projects)
        columns = ('-c', 'Stack Name', '-c', 'Stack Status')
        for form, text in (
            ('value', 'web CREATE_COMPLETE\n'),
            ('csv', '"Stack Name","Stack Status"\n"web","CREATE_COMPLETE"\n'),
            ('yaml', '- Stack Name: web\n  Stack Status: CREATE_COMPLETE\n'),
        ):
            self.assertEqual(text, self.succeed('stack', 'list', '-f', form, *columns))
        self.assertIn('| web ', self.succeed('stack', 'list'))

    def test_filters_become_query_parameters(self):
        for argv, query in (
            (['--name', 'web'], 'name=web'),
            (['--id', 'x'], 'id=x'),
            (['--status', 'FAILED'], 'status=FAILED'),
            (['--action', 'CHECK'], 'action=CHECK'),
            (['--owner', 'me'], 'username=me'),
            (['--parent', 'x'], 'owner_id=x'),
            (['--tags', 'a,b'], 'tags=a%2Cb'),
            (['--tags-any', 'a'], 'tags_any=a'),
            (['--not-tags', 'a'], 'not_tags=a'),
            (['--not-tags-any', 'a'], 'not_tags_any=a'),
            (['--nested'], 'show_nested=true'),
            (['--deleted'], 'show_deleted=true'),
            (['--sort-key', 'stack_name'], 'sort_keys=stack_name'),
            (['--sort-dir', 'asc'], 'sort_dir=asc'),
            (['--marker', 'x'], 'marker=x'),
            (['--limit', '3'], 'limit=3'),
        ):
            line = f'GET {ALL}?{query}'
            self.api.responses[line] = {'stacks': []}

            self.assertEqual([], self.rows('stack', 'list', *argv))

            self.assertEqual((line,), self.api.requests[-1])

    def test_list_reads_the_requested_pages(self):
        more = [{'href': 'http://elsewhere/', 'rel': 'next'}]
        first = {'stacks': [{**shown.LISTED, 'id': 'a'}], 'links': more}
        self.api.responses[f'GET {ALL}'] = first
        self.api.responses[f'GET {ALL}?marker=a'] = {
            'stacks': [{**shown.LISTED, 'id': 'b'}]
        }

        code, out, err = self.call('stack', 'list', '-f', 'value', '-c', 'ID')
        everything = self.succeed(
            *('stack', 'list', '--limit', '0', '-f', 'value', '-c', 'ID')
        )

        self.assertEqual(
            (
                0,
                'a\n',
                'watcherlite: only the first 1 rows are shown; --limit 0 shows all\n',
            ),
            (code, out, err),
        )
        self.assertEqual('a\nb\n', everything)

    def test_the_project_comes_from_the_option_or_the_endpoint(self):
        path = '/orchestration/v1/mine/stacks'
        self.api.responses[f'GET {path}'] = {'stacks': []}

        self.rows('stack', 'list', '--project', 'mine')
        self.rows(
            *('stack', 'list', '--endpoint', f'{self.api.url}/orchestration/v1/mine')
        )
        self._set('OS_PROJECT_ID', 'mine')
        self.rows('stack', 'list')

        self.assertEqual([(f'GET {path}',)] * 3, self.api.requests)


class StackShowTest(StackCase):
    """`stack show` and its outputs."""

    def test_show_finds_a_stack_by_name_with_or_without_outputs(self):
        self.api.responses[f'GET {WEB}'] = shown.stack()

        found = self.rows('stack', 'show', 'web')
        table = self.succeed('stack', 'show', 'web')

        self.assertEqual(
            {
                'ID': shown.STACK_ID,
                'Stack Name': 'web',
                'Description': 'A web server.',
                'Project': 'default',
                'Stack Owner': 'me',
                'Parent': None,
                'Creation Time': '2030-01-02T03:04:05Z',
                'Updated Time': None,
                'Deletion Time': None,
                'Stack Status': 'CREATE_COMPLETE',
                'Stack Status Reason': 'Stack CREATE completed successfully',
                'Base Status': 'CREATE_COMPLETE',
                'Lock Level': None,
                'Lock Owner': None,
                'Parameters': shown.STACK['parameters'],
                'Outputs': shown.STACK['outputs'],
                'Disable Rollback': True,
                'Timeout Minutes': 60,
                'Tags': ['blue'],
            },
            found,
        )
        for text in (
            'OS::stack_name: web',
            'url: http://a',
            'bad: (there is no attribute x)',
        ):
            self.assertIn(f'| {text} ', table)
        short = {k: v for k, v in shown.STACK.items() if k != 'outputs'}
        self.api.responses[f'GET {WEB}?resolve_outputs=false'] = {'stack': short}
        found = self.rows('stack', 'show', 'web', '--no-resolve-outputs')
        self.assertNotIn('Outputs', found)

    def test_missing_stacks_and_unexpected_servers_are_reported(self):
        text = 'The Stack (nothing) could not be found.'
        self.api.responses[f'GET {ALL}/nothing'] = error_reply(
            404, 'EntityNotFound', text
        )
        self.api.responses[f'GET {WEB}'] = {'goals': []}

        self.assertEqual((2, text), self.fail('stack', 'show', 'nothing'))
        code, message = self.fail('stack', 'show', 'web')
        self.assertEqual(2, code)
        self.assertIn('is not the orchestration API of watcherlite', message)

    def test_a_stack_with_a_reserved_name_is_found_in_the_list(self):
        self.api.responses[f'GET {ALL}/detail'] = {'stacks': []}
        line = f'GET {ALL}?name=detail&limit=1'
        self.api.responses[line] = {
            'stacks': [{**shown.LISTED, 'stack_name': 'detail'}]
        }
        place = f'{ALL}/detail/{shown.STACK_ID}'
        self.api.responses[f'GET {place}'] = shown.stack(stack_name='detail')

        self.assertEqual('detail', self.rows('stack', 'show', 'detail')['Stack Name'])
        self.api.responses[line] = {'stacks': []}
        self.assertEqual(2, self.fail('stack', 'show', 'detail')[0])

    def test_outputs_are_listed_and_shown(self):
        keys = [
            {'output_key': o['output_key'], 'description': o['description']}
            for o in shown.STACK['outputs']
        ]
        self.api.responses[f'GET {WEB}/outputs'] = {'outputs': keys}
        self.api.responses[f'GET {WEB}'] = shown.stack()
        self.api.responses[f'GET {WEB}/outputs/ports'] = {
            'output': shown.STACK['outputs'][1]
        }

        self.assertEqual(
            [
                {'Output Key': 'url', 'Description': 'Where it is.'},
                {'Output Key': 'ports', 'Description': ''},
                {'Output Key': 'bad', 'Description': ''},
            ],
            self.rows('stack', 'output', 'list', 'web'),
        )
        self.assertEqual(
            ['http://a', [1, 2], None],
            [
                row['Output Value']
                for row in self.rows('stack', 'output', 'list', 'web', '--long')
            ],
        )
        self.assertEqual(
            {'Output Key': 'ports', 'Description': '', 'Output Value': [1, 2]},
            self.rows('stack', 'output', 'show', 'web', 'ports'),
        )


class StackEventTest(StackCase):
    """`stack event list`."""

    def test_events_have_columns_and_filters(self):
        for argv, query in (
            ([], 'events?sort_dir=asc'),
            (['--sort-dir', 'desc'], 'events?sort_dir=desc'),
            (['--limit', '5'], 'events?sort_dir=asc&limit=5'),
            (['--marker', 'x'], 'events?sort_dir=asc&marker=x'),
            (['--resource', 'server'], 'resources/server/events?sort_dir=asc'),
        ):
            line = f'GET {WEB}/{query}'
            self.api.responses[line] = {'events': [shown.EVENT]}

            (found,) = self.rows('stack', 'event', 'list', 'web', *argv)

            self.assertEqual((line,), self.api.requests[-1])
            self.assertEqual(
                {
                    'Time': '2030-01-02T03:04:05Z',
                    'Resource Name': 'server',
                    'Resource Status': 'CREATE_COMPLETE',
                    'Resource Status Reason': 'state changed',
                    'User': 'alice',
                },
                found,
            )
        # Events of nested stacks name their stack.
        line = f'GET {WEB}/events?sort_dir=asc&nested_depth=2'
        self.api.responses[line] = {'events': [shown.EVENT]}
        (found,) = self.rows(
            *('stack', 'event', 'list', 'web', '--nested-depth', '2', '--long')
        )
        self.assertEqual((line,), self.api.requests[-1])
        self.assertEqual(
            ('web', '4711'), (found['Stack Name'], found['Physical Resource ID'])
        )

    def test_event_list_reads_all_pages(self):
        # Those of the service itself have no initiator.
        many = [{**shown.EVENT, 'id': str(n), 'initiator': None} for n in range(1000)]
        place = f'GET {WEB}/events?sort_dir=asc&limit=1000'
        self.api.responses[place] = {'events': many}
        self.api.responses[f'{place}&marker=999'] = {'events': many[:2]}

        self.api.responses[f'GET {WEB}/events?sort_dir=asc'] = {'events': []}

        rows = self.rows('stack', 'event', 'list', 'web', '--limit', '0')

        self.assertEqual((1002, ''), (len(rows), rows[0]['User'] or ''))
        self.assertEqual([], self.rows('stack', 'event', 'list', 'web'))


class StackResourceTest(StackCase):
    """`stack resource`."""

    def test_resources_are_listed(self):
        for argv, query in (
            ([], ''),
            (['--name', 'server'], '?name=server'),
            (['--type', 'Local::Process'], '?type=Local%3A%3AProcess'),
            (['--status', 'FAILED'], '?status=FAILED'),
            (['--action', 'CHECK'], '?action=CHECK'),
            (['--physical-id', '4711'], '?physical_resource_id=4711'),
        ):
            line = f'GET {WEB}/resources{query}'
            self.api.responses[line] = {'resources': [shown.RESOURCE]}

            (found,) = self.rows('stack', 'resource', 'list', 'web', *argv)

            self.assertEqual((line,), self.api.requests[-1])
            self.assertEqual(
                {
                    'Resource Name': 'server',
                    'Physical Resource ID': '4711',
                    'Resource Type': 'Local::Process',
                    'Resource Status': 'CREATE_COMPLETE',
                    'Updated Time': '2030-01-02T03:04:06Z',
                },
                found,
            )
        # Resources of nested stacks name their stack.
        inner = {**shown.RESOURCE, 'parent_resource': 'group'}
        self.api.responses[f'GET {WEB}/resources?nested_depth=1'] = {
            'resources': [shown.RESOURCE, inner]
        }
        rows = self.rows(*('stack', 'resource', 'list', 'web', '-n', '1', '--long'))
        self.assertEqual(
            [('web', None), ('web', 'group')],
            [(row['Stack Name'], row['Parent Resource']) for row in rows],
        )

    def test_a_resource_and_its_metadata_are_shown(self):
        place = f'GET {WEB}/resources/server'
        self.api.responses[place] = {'resource': shown.DETAILED_RESOURCE}
        self.api.responses[f'{place}?with_attr=a&with_attr=b'] = {
            'resource': {**shown.DETAILED_RESOURCE, 'attributes': {'a': 1, 'b': 2}}
        }
        self.api.responses[f'{place}/metadata'] = {'metadata': {'x': 1}}
        words = ('stack', 'resource', 'show', 'web', 'server')

        found = self.rows(*words)
        self.assertEqual(
            ({'pid': 4711}, False), (found['Attributes'], found['Protected'])
        )
        self.assertEqual(
            {'a': 1, 'b': 2},
            self.rows(*words, '--with-attr', 'a', '--with-attr', 'b')['Attributes'],
        )
        self.assertEqual(
            {'Metadata': {'x': 1}},
            self.rows('stack', 'resource', 'metadata', 'web', 'server'),
        )

    def test_mark_unhealthy_sends_the_reason_and_reports_conflicts(self):
        place = f'{WEB}/resources/server'
        self.api.responses[f'PATCH {place}'] = Reply(b'null')
        self.api.responses[f'GET {place}'] = {
            'resource': {**shown.DETAILED_RESOURCE, 'resource_status': 'CHECK_FAILED'}
        }
        words = ('stack', 'resource', 'mark-unhealthy', 'web', 'server')
        for argv, body in (
            ([], {'mark_unhealthy': True}),
            (
                ['it is slow'],
                {'mark_unhealthy': True, 'resource_status_reason': 'it is slow'},
            ),
            (
                ['--reset', 'fast again'],
                {'mark_unhealthy': False, 'resource_status_reason': 'fast again'},
            ),
        ):
            found = self.rows(*words, *argv)

            self.assertEqual('CHECK_FAILED', found['Resource Status'])
            self.assertEqual(
                [('PATCH WEB/resources/server', body), ('GET WEB/resources/server',)],
                self.take_requests(),
            )
        text = 'Stack web already has an action (UPDATE) in progress.'
        self.api.responses[f'PATCH {WEB}/resources/server'] = error_reply(
            409, 'ActionInProgress', text
        )
        self.assertEqual((1, text), self.fail(*words))

    def test_a_resource_is_signalled_with_data(self):
        self.api.responses[f'POST {WEB}/resources/server/signal'] = Reply(b'null')
        path = self.file('{"a": 1}', 'data.json')
        words = ('stack', 'resource', 'signal', 'web', 'server')

        for argv, body in (
            ([], ()),
            (['--data', '{"a": 2}'], ({'a': 2},)),
            (['--data', f'@{path}'], ({'a': 1},)),
        ):
            self.assertEqual('', self.succeed(*words, *argv))
            self.assertEqual(
                [('POST WEB/resources/server/signal', *body)], self.take_requests()
            )
        self.assertIn('invalid JSON', self.fail(*words, '--data', '{a')[1])
        self.assertEqual([], self.take_requests())

    def test_resource_types_are_listed_and_shown(self):
        root = '/orchestration/v1/default/resource_types'
        one = {'resource_type': 'OS::Heat::None', 'description': 'Nothing.'}
        self.api.responses[f'GET {root}?with_description=true'] = {
            'resource_types': [one]
        }
        self.api.responses[f'GET {root}?with_description=true&name=Local'] = {
            'resource_types': []
        }
        self.api.responses[
            f'GET {root}/OS%3A%3AHeat%3A%3ANone?with_description=true'
        ] = {
            **one,
            'properties': {'p': {'type': 'string'}},
            'attributes': {},
            'support_status': {'status': 'SUPPORTED'},
        }
        words = ('stack', 'resource', 'type')

        self.assertEqual(
            [{'Resource Type': 'OS::Heat::None', 'Description': 'Nothing.'}],
            self.rows(*words, 'list'),
        )
        self.assertEqual([], self.rows(*words, 'list', '--name', 'Local'))
        self.assertEqual(
            {
                'Resource Type': 'OS::Heat::None',
                'Description': 'Nothing.',
                'Properties': {'p': {'type': 'string'}},
                'Attributes': {},
            },
            self.rows(*words, 'show', 'OS::Heat::None'),
        )


class StackContentsTest(StackCase):
    """The content of a stack, and its failed resources."""

    def test_the_template_and_the_environment_are_printed_as_yaml_or_json(self):
        for noun in ('template', 'environment'):
            found = {'b': {'x': 1}, 'a': ['\u017e']}
            self.api.responses[f'GET {WEB}/{noun}'] = found
            words = ('stack', noun, 'show', 'web')

            self.assertEqual('b:\n  x: 1\na:\n- \u017e\n', self.succeed(*words))
            self.assertEqual(found, json.loads(self.succeed(*words, '-f', 'json')))

    def test_an_exported_file_is_readable_only_by_its_owner(self):
        self.api.responses[f'GET {WEB}/export'] = {'name': 'web', 'resources': {}}
        path = self.home / 'web.json'

        printed = self.succeed('stack', 'export', 'web')
        self.succeed('stack', 'export', 'web', '--output-file', str(path))

        self.assertEqual({'name': 'web', 'resources': {}}, json.loads(printed))
        self.assertEqual(printed, path.read_text())
        self.assertEqual(0o600, path.stat().st_mode & 0o777)

    def test_failed_resources_are_listed_with_their_paths(self):
        def row(name, status, stack, nested=None):
            links = [{'rel': 'stack', 'href': stack}]
            if nested is not None:
                links.append({'rel': 'nested', 'href': nested})
            return {
                **shown.RESOURCE,
                'resource_name': name,
                'resource_status': status,
                'resource_status_reason': f'{name} is broken',
                'links': links,
            }

        self.api.responses[f'GET {WEB}/resources?nested_depth=100'] = {
            'resources': [
                row('g', 'CREATE_FAILED', 'web', 'inner'),
                row('h', 'CHECK_FAILED', 'web', 'other'),
                row('ok', 'CREATE_COMPLETE', 'web'),
                row('m', 'CREATE_FAILED', 'inner', 'deep'),
                row('n', 'UPDATE_FAILED', 'deep'),
            ]
        }

        found = self.rows('stack', 'failures', 'list', 'web')

        self.assertEqual(
            [
                ('h', 'CHECK_FAILED', 'h is broken'),
                ('g.m.n', 'UPDATE_FAILED', 'n is broken'),
            ],
            [
                (r['Resource'], r['Resource Status'], r['Resource Status Reason'])
                for r in found
            ],
        )


class StackAbandonTest(StackCase):
    def test_abandon_prints_or_writes_the_adoption_data(self):
        words = ('stack', 'abandon', 'web')
        path = self.file('before', 'web.json')
        written = (*words, '--output-file', path)

        code, message = self.fail(*words, '--output-file', f'{self.home}/no/web.json')
        self.assertEqual(2, code)
        self.assertIn('cannot be written: No such file or directory', message)
        self.assertEqual([], self.take_requests())

        self.api.responses[f'DELETE {WEB}/abandon'] = error_reply(
            409, 'Conflict', 'Locked.'
        )
        self.assertEqual((1, 'Locked.'), self.fail(*written))
        self.assertEqual('before', (self.home / 'web.json').read_text())

        found = {'name': 'web', 'resources': {}}
        self.api.responses[f'DELETE {WEB}/abandon'] = found
        printed = self.succeed(*words)
        self.assertEqual(('', found), (self.succeed(*written), json.loads(printed)))
        self.assertEqual(printed, (self.home / 'web.json').read_text())
