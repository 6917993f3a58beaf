"""Tests of stacks with the commands of Heat users."""

from testtools import matchers

from tests.acceptance.clients.stack_templates import (
    CLOUDFORMATION,
    FAILING,
    MORE,
    SLOW,
    SLOW_DELETION,
    TEMPLATE,
)
from tests.acceptance.daemons import wait_until


class StackLifecycleTests:
    """Tests of stacks from creation to deletion."""

    def test_a_stack_is_created_listed_and_shown(self):
        path = self.file('basic.yaml', TEMPLATE)

        made = self.json(
            *('stack', 'create', 'basic', '-t', path, '--parameter', 'value=hi'),
            *('--tags', 'blue,green', '--timeout', '7', '--enable-rollback'),
        )
        self.wait_for('basic', 'CREATE_COMPLETE')
        listed = self.json('stack', 'list', '--tags', 'blue')
        shown = self.json('stack', 'show', 'basic')
        by_id = self.json('stack', 'show', made['id'])

        self.assertEqual(
            ('basic', 'Two resources.'), (made['stack_name'], made['description'])
        )
        self.assertIn(made['stack_status'], ('CREATE_IN_PROGRESS', 'CREATE_COMPLETE'))
        self.assertEqual(
            [
                {
                    'ID': made['id'],
                    'Stack Name': 'basic',
                    # Without authentication the user is an administrator.
                    'Project': 'own',
                    'Stack Status': 'CREATE_COMPLETE',
                    'Creation Time': shown['creation_time'],
                    'Updated Time': None,
                }
            ],
            listed,
        )
        self.assertEqual(shown, by_id)
        self.assertEqual(
            {'value': 'hi', 'OS::stack_name': 'basic'},
            {name: shown['parameters'][name] for name in ('value', 'OS::stack_name')},
        )
        self.assertEqual(
            [{'output_key': 'text', 'description': 'The value.', 'output_value': 'hi'}],
            shown['outputs'],
        )
        self.assertEqual(
            (['blue', 'green'], 7, False),
            (shown['tags'], shown['timeout_mins'], shown['disable_rollback']),
        )

    def test_a_stack_is_created_from_a_cloudformation_template(self):
        path = self.file('aws.template', CLOUDFORMATION)

        found = self.json('orchestration', 'template', 'validate', '-t', path)
        preview = self.json('stack', 'create', 'aws', '-t', path, '--dry-run')
        self.json('stack', 'create', 'aws', '-t', path, '--parameter', 'Value=hi')
        self.wait_for('aws', 'CREATE_COMPLETE')
        created = self.resources('aws')
        random = self.json('stack', 'output', 'show', 'aws', 'Random')
        self.check_output(
            *('stack', 'update', 'aws', '--existing', '--parameter', 'Value=hello'),
            '--wait',
        )
        updated = self.resources('aws')
        shown = self.json('stack', 'show', 'aws')
        text = self.json('stack', 'output', 'show', 'aws', 'Text')
        template = self.json('stack', 'template', 'show', 'aws')

        self.assertEqual(['hello', 'hi'], found['Parameters']['Value']['AllowedValues'])
        self.assertEqual(
            {'change', 'keep'},
            {resource['resource_name'] for resource in preview['resources']},
        )
        self.assertEqual(
            ({'change', 'keep', 'short'}, {'change', 'keep'}),
            (set(created), set(updated)),
        )
        self.assertEqual(
            (2, 'hello-aws'), (len(random['output_value']), text['output_value'])
        )
        self.assertEqual(
            {'Value': 'hello', 'AWS::StackName': 'aws'},
            {name: shown['parameters'][name] for name in ('Value', 'AWS::StackName')},
        )
        self.assertEqual('2010-09-09', template['AWSTemplateFormatVersion'])

    def test_a_client_waits_for_a_stack(self):
        path = self.file('waiting.yaml', TEMPLATE)

        # After two polls without events the client reads only the stack, and does
        # not print the events of a stack that has ended since then.
        out = self.check_output(
            *('stack', 'create', 'waiting', '-t', path, '--wait', '--poll', '5')
        )

        for text in (
            '[waiting]: CREATE_IN_PROGRESS  Stack CREATE started',
            '[waiting.change]: CREATE_COMPLETE  state changed',
            '[waiting]: CREATE_COMPLETE  Stack CREATE completed successfully',
            '| stack_status        | CREATE_COMPLETE',
        ):
            self.assertIn(text, out)

    def test_a_failed_stack_is_shown_with_its_reason(self):
        path = self.file('failing.yaml', FAILING)

        error = self.refusal(
            *('stack', 'create', 'failing', '-t', path, '--wait', '--poll', '1')
        )
        failures = self.check_output('stack', 'failures', 'list', 'failing')

        self.assertIn('Stack failing CREATE_FAILED', error)
        self.assertIn('failing.bad:', failures)
        self.assertIn('resource_type: OS::Heat::TestResource', failures)
        self.assertIn('status: CREATE_FAILED', failures)

    def test_an_update_replaces_nothing_unnecessarily(self):
        self.create('updated', TEMPLATE)
        before = self.resources('updated')
        more = self.file('more.yaml', MORE)

        preview = self.json('stack', 'update', 'updated', '-t', more, '--dry-run')
        out = self.check_output('stack', 'update', 'updated', '-t', more, '--wait')
        after = self.resources('updated')

        self.assertEqual(
            {
                'updated': ['change'],
                'unchanged': ['keep'],
                'added': ['more'],
                'replaced': [],
                'deleted': [],
            },
            {
                what: [resource['resource_name'] for resource in resources]
                for what, resources in preview.items()
            },
        )
        self.assertIn('[updated]: UPDATE_COMPLETE', out)
        self.assertEqual(
            {
                'change': ('UPDATE_COMPLETE', before['change'][1]),
                'keep': before['keep'],
                'more': ('CREATE_COMPLETE', after['more'][1]),
            },
            after,
        )

    def test_an_update_of_an_existing_stack_keeps_omitted_values(self):
        self.create('existing', TEMPLATE, value='first')

        self.check_output('stack', 'update', 'existing', '--existing')
        self.wait_for('existing', 'UPDATE_COMPLETE')
        same = self.json('stack', 'output', 'show', 'existing', 'text')
        self.check_output(
            *('stack', 'update', 'existing', '--existing', '--parameter', 'value=next'),
            '--wait',
        )
        changed = self.json('stack', 'output', 'show', 'existing', 'text')
        self.check_output(
            *('stack', 'update', 'existing', '--existing', '--wait'),
            *('--clear-parameter', 'value'),
        )
        cleared = self.json('stack', 'output', 'show', 'existing', 'text')

        self.assertEqual(
            ['first', 'next', 'hello'],
            [shown['output_value'] for shown in (same, changed, cleared)],
        )

    def test_stacks_are_deleted(self):
        for name in ('deleted-1', 'deleted-2'):
            self.create(name, SLOW_DELETION)

        out = self.check_output(
            'stack', 'delete', '--yes', '--wait', 'deleted-1', 'deleted-2'
        )
        self.wait_for_deletion('deleted-1', 'deleted-2')
        again = self.command('stack', 'delete', '--yes', 'deleted-1')
        remaining = [row['Stack Name'] for row in self.json('stack', 'list')]
        deleted = {
            row['Stack Name']: row['Stack Status']
            for row in self.json('stack', 'list', '--deleted')
        }

        # It requests them by their names, which are free after the deletion.
        self.assertIn(']: DELETE_IN_PROGRESS  Stack DELETE started', out)
        self.assertEqual(1, again.code)
        self.assertIn('Stack not found: deleted-1', again.out)
        self.assertEqual(set(), {'deleted-1', 'deleted-2'} & set(remaining))
        self.assertEqual('DELETE_COMPLETE', deleted['deleted-2'])

    def test_a_stack_is_suspended_resumed_and_checked(self):
        self.create('suspended', TEMPLATE)

        for verb in ('suspend', 'resume', 'check'):
            out = self.check_output('stack', verb, 'suspended', '--wait')
            shown = self.json('stack', 'show', 'suspended')

            self.assertIn(f'[suspended]: {verb.upper()}_COMPLETE', out)
            self.assertEqual(f'{verb.upper()}_COMPLETE', shown['stack_status'])

    def test_a_running_update_is_cancelled(self):
        self.create('cancelled', SLOW)
        long = ('--existing', '--parameter', 'seconds=600')
        self.check_output('stack', 'update', 'cancelled', *long)

        self.check_output('stack', 'cancel', 'cancelled')
        self.wait_for('cancelled', 'ROLLBACK_COMPLETE')
        self.check_output('stack', 'update', 'cancelled', *long)
        self.check_output('stack', 'cancel', 'cancelled', '--no-rollback')
        self.wait_for('cancelled', 'UPDATE_FAILED')

        shown = self.json('stack', 'show', 'cancelled')
        self.assertIn('cancelled', shown['stack_status_reason'].lower())

    def test_hooks_are_polled_and_cleared(self):
        path = self.file('hooked.yaml', TEMPLATE)
        environment = self.file(
            'hooked.env',
            'resource_registry:\n'
            '  resources: {"*": {hooks: [pre-update, pre-delete]}}\n',
        )

        self.check_output(
            *('stack', 'create', 'hooked', '-t', path, '-e', environment),
            *('--pre-create', 'change'),
        )
        created = self.clear_hooks('CREATE', 'pre-create', 'change', 'change')
        self.wait_for('hooked', 'CREATE_COMPLETE')
        self.check_output(
            'stack', 'update', 'hooked', '--existing', '--parameter', 'value=new'
        )
        updated = self.clear_hooks('UPDATE', 'pre-update', '*', 'change', 'keep')
        self.wait_for('hooked', 'UPDATE_COMPLETE')
        self.check_output('stack', 'delete', '--yes', 'hooked')
        deleted = self.clear_hooks('DELETE', 'pre-delete', 'k*p', 'change', 'keep')
        self.check_output('stack', 'hook', 'clear', '--pre-delete', 'hooked', 'change')
        self.wait_for_deletion('hooked')

        self.assertEqual(
            [
                {'change': 'INIT_COMPLETE'},
                {'change': 'CREATE_COMPLETE', 'keep': 'CREATE_COMPLETE'},
                {'change': 'UPDATE_COMPLETE', 'keep': 'CREATE_COMPLETE'},
            ],
            [created, updated, deleted],
        )

    def clear_hooks(self, action, hook, pattern, *names):
        """Wait until these resources wait at a hook; clear it for those of a pattern.

        :returns: the states of the resources
        """
        found = {}

        def polled():
            found.clear()
            for row in self.json('stack', 'hook', 'poll', 'hooked'):
                found[row['Resource Name']] = row
            return sorted(found) == sorted(names)

        wait_until(polled, lambda: f'{hook} of {names}, not of {list(found)}')
        self.assertEqual(
            {f'{action} paused until Hook {hook} is cleared'},
            {row['Resource Status Reason'] for row in found.values()},
        )
        self.check_output('stack', 'hook', 'clear', 'hooked', pattern)
        return {name: row['Resource Status'] for name, row in found.items()}

    def test_a_stack_is_abandoned_and_adopted(self):
        self.create('abandoned', TEMPLATE)
        before = self.resources('abandoned')
        path = str(self.home / 'abandoned.json')

        self.check_output('stack', 'abandon', 'abandoned', '--output-file', path)
        self.assertNotIn(
            'abandoned', [r['Stack Name'] for r in self.json('stack', 'list')]
        )
        self.check_output('stack', 'adopt', 'adopted', '--adopt-file', path)
        self.wait_for('adopted', 'ADOPT_COMPLETE')

        self.assertEqual(
            {name: physical for name, (_, physical) in before.items()},
            {name: row[1] for name, row in self.resources('adopted').items()},
        )


class StackQueryTests:
    """The client displays every part of a stack."""

    def test_resources_events_and_the_template_of_a_stack_are_shown(self):
        environment = self.file(
            'shown.env', 'parameter_defaults: {value: from the environment}\n'
        )
        path = self.file('shown.yaml', TEMPLATE)
        self.check_output('stack', 'create', 'shown', '-t', path, '-e', environment)
        self.wait_for('shown', 'CREATE_COMPLETE')

        rows = self.json('stack', 'resource', 'list', 'shown')
        shown = self.json('stack', 'resource', 'show', 'shown', 'keep')
        metadata = self.json('stack', 'resource', 'metadata', 'shown', 'keep')
        events = self.json('stack', 'event', 'list', 'shown')
        of_one = self.json('stack', 'event', 'list', 'shown', '--resource', 'keep')
        one = self.json('stack', 'event', 'show', 'shown', 'keep', of_one[-1]['id'])
        log = self.check_output(
            'stack', 'event', 'list', 'shown', '--sort', 'event_time:desc'
        )
        template = self.json('stack', 'template', 'show', 'shown')
        used = self.json('stack', 'environment', 'show', 'shown')
        files = self.check_output('stack', 'file', 'list', 'shown')
        outputs = self.json('stack', 'output', 'list', 'shown')
        output = self.json('stack', 'output', 'show', 'shown', 'text')
        exported = self.json('stack', 'export', 'shown')

        self.assertEqual(
            {'change': 'OS::Heat::TestResource', 'keep': 'OS::Heat::RandomString'},
            {row['resource_name']: row['resource_type'] for row in rows},
        )
        self.assertEqual(
            ('keep', 'CREATE_COMPLETE'),
            (shown['resource_name'], shown['resource_status']),
        )
        self.assertEqual(12, len(shown['attributes']['value']))
        self.assertEqual({}, metadata)
        changes = [
            (event['resource_name'], event['resource_status']) for event in events
        ]
        self.assertEqual(('shown', 'CREATE_IN_PROGRESS'), changes[0])
        self.assertEqual(('shown', 'CREATE_COMPLETE'), changes[-1])
        self.assertEqual(
            ['CREATE_IN_PROGRESS', 'CREATE_COMPLETE'],
            [status for name, status in changes if name == 'change'],
        )
        self.assertEqual(
            [event for event in events if event['resource_name'] == 'keep'], of_one
        )
        self.assertEqual('OS::Heat::RandomString', one['resource_type'])
        self.assertIn('[shown]: CREATE_COMPLETE', log)
        self.assertEqual('Two resources.', template['description'])
        self.assertEqual({'value': 'from the environment'}, used['parameter_defaults'])
        self.assertIn('shown.env', files)
        self.assertEqual(
            [('text', 'The value.')],
            [(row['output_key'], row['description']) for row in outputs],
        )
        self.assertEqual('from the environment', output['output_value'])
        self.assertEqual({'change', 'keep'}, set(exported['resources']))

    def test_files_and_nested_templates_are_sent(self):
        self.file('in/text', 'from a file')
        self.file(
            'in/inner.yaml',
            """\
            heat_template_version: 2021-04-16
            resources:
              leaf:
                type: OS::Heat::TestResource
                properties: {value: {get_file: text}}
            outputs: {text: {value: {get_attr: [leaf, output]}}}
            """,
        )
        outer = self.file(
            'outer.yaml',
            """\
            heat_template_version: 2021-04-16
            resources:
              inner: {type: in/inner.yaml}
            outputs: {text: {value: {get_attr: [inner, text]}}}
            """,
        )

        self.check_output('stack', 'create', 'outer', '-t', outer)
        self.wait_for('outer', 'CREATE_COMPLETE')
        output = self.json('stack', 'output', 'show', 'outer', 'text')
        rows = self.json('stack', 'resource', 'list', 'outer', '-n', '2')
        events = self.json('stack', 'event', 'list', 'outer', '--nested-depth', '2')
        stacks = self.json('stack', 'list', '--nested')

        self.assertEqual('from a file', output['output_value'])
        self.assertEqual({'inner', 'leaf'}, {row['resource_name'] for row in rows})
        self.assertIn('leaf', {event['resource_name'] for event in events})
        (outer,) = (row for row in stacks if row['Stack Name'] == 'outer')
        self.assertIn(outer['ID'], [row['Parent'] for row in stacks])

    def test_a_template_is_checked_and_previewed(self):
        path = self.file('checked.yaml', TEMPLATE)
        wrong = self.file('wrong.yaml', TEMPLATE.replace('[change,', '[missing,'))

        found = self.json('orchestration', 'template', 'validate', '-t', path)
        preview = self.json('stack', 'create', 'missing', '-t', path, '--dry-run')
        error = self.refusal('orchestration', 'template', 'validate', '-t', wrong)

        self.assertEqual('hello', found['Parameters']['value']['Default'])
        self.assertEqual(
            {'change', 'keep'},
            {resource['resource_name'] for resource in preview['resources']},
        )
        self.assertIn('missing', error)
        self.assertNotIn(
            'missing', [r['Stack Name'] for r in self.json('stack', 'list')]
        )

    def test_catalogs_are_listed(self):
        types = self.json('orchestration', 'resource', 'type', 'list')
        one = self.json(
            'orchestration', 'resource', 'type', 'show', 'OS::Heat::RandomString'
        )
        versions = self.json('orchestration', 'template', 'version', 'list')
        functions, more = (
            self.json('orchestration', 'template', 'function', 'list', version)
            for version in (
                'heat_template_version.2021-04-16',
                'AWSTemplateFormatVersion.2010-09-09',
            )
        )
        generated = self.json(
            *('orchestration', 'resource', 'type', 'show', 'OS::Heat::RandomString'),
            *('--template-type', 'cfn'),
        )
        build = self.json('orchestration', 'build', 'info')
        services = self.json('orchestration', 'service', 'list')

        self.assertThat(
            [row['Resource Type'] for row in types],
            matchers.ContainsAll(['Local::File', 'OS::Heat::None']),
        )
        self.assertIn('length', one['properties'])
        self.assertIn(
            'heat_template_version.2021-04-16', [row['Version'] for row in versions]
        )
        self.assertIn('get_attr', [row['Functions'] for row in functions])
        self.assertIn('Fn::GetAtt', [row['Functions'] for row in more])
        self.assertEqual(
            'OS::Heat::RandomString', generated['Resources']['RandomString']['Type']
        )
        self.assertIn('revision', build['api'])
        self.assertIn('up', {row['Status'] for row in services})

    def test_unsupported_requests_and_other_projects_are_refused(self):
        self.create('present', TEMPLATE)
        path = self.file('present.yaml', TEMPLATE)

        refusals = {
            'stack': self.refusal('stack', 'show', 'missing'),
            'resource': self.refusal('stack', 'resource', 'show', 'present', 'missing'),
            'output': self.refusal('stack', 'output', 'show', 'present', 'missing'),
            'name': self.refusal('stack', 'create', 'present', '-t', path),
            'parameter': self.refusal(
                'stack', 'create', 'x', '-t', path, '--parameter', 'missing=1'
            ),
            'cancel': self.refusal('stack', 'cancel', 'present'),
            'type': self.refusal('orchestration', 'resource', 'type', 'show', 'No::T'),
        }

        for what, text in {
            'stack': 'Stack not found: missing',
            'resource': 'missing',
            'output': 'missing',
            'name': 'present',
            'parameter': 'missing',
            'cancel': 'present',
            'type': 'No::T',
        }.items():
            self.assertIn(text, refusals[what], what)

        for argv in (
            ('create', 'present'),
            ('list', 'present'),
            ('show', 'present', 'x'),
            ('delete', 'present', 'x', '-y'),
            ('restore', 'present', 'x'),
        ):
            done = self.command('stack', 'snapshot', *argv)

            self.assertNotEqual(0, done.code, str(done))

        others = self.json('stack', 'list', project='other')
        error = self.refusal('stack', 'show', 'present', project='other')

        self.assertEqual([], others)
        self.assertIn('Stack not found: present', error)


class StackMaintenanceTests:
    """Tests of health marks and locks."""

    def test_a_marked_resource_is_replaced_unless_it_is_reset(self):
        self.create('marked', TEMPLATE)
        before = self.resources('marked')

        self.check_output(
            'stack', 'resource', 'mark', 'unhealthy', 'marked', 'keep', 'it is slow'
        )
        marked = self.json('stack', 'resource', 'show', 'marked', 'keep')
        self.check_output('stack', 'update', 'marked', '--existing', '--wait')
        after = self.resources('marked')

        self.assertEqual(
            ('CHECK_FAILED', 'it is slow'),
            (marked['resource_status'], marked['resource_status_reason']),
        )
        self.assertEqual(before['change'], after['change'])
        self.assertEqual('CREATE_COMPLETE', after['keep'][0])
        self.assertNotEqual(before['keep'][1], after['keep'][1])

        mark = ('stack', 'resource', 'mark', 'unhealthy')
        self.check_output(*mark, 'marked', after['keep'][1])
        self.check_output(*mark, '--reset', 'marked', 'keep', 'repaired')
        cleared = self.json('stack', 'resource', 'show', 'marked', 'keep')

        self.assertEqual(
            ('CHECK_COMPLETE', 'repaired', after['keep'][1]),
            (
                cleared['resource_status'],
                cleared['resource_status_reason'],
                cleared['physical_resource_id'],
            ),
        )

    def test_a_stack_that_watcherlite_has_locked_rejects_changes(self):
        self.create('locked', TEMPLATE)
        path = self.file('locked.yaml', TEMPLATE)
        before = self.resources('locked')

        self.run_watcherlite('stack', 'lock', 'locked', '--level', 'stacks', '--wait')
        shown = self.json('stack', 'show', 'locked')
        refusals = {
            'update': self.refusal('stack', 'update', 'locked', '-t', path),
            'suspend': self.refusal('stack', 'suspend', 'locked'),
            'resume': self.refusal('stack', 'resume', 'locked'),
            'check': self.refusal('stack', 'check', 'locked'),
            'mark': self.refusal(
                'stack', 'resource', 'mark', 'unhealthy', 'locked', 'keep'
            ),
            'delete': self.refusal('stack', 'delete', '-y', 'locked'),
        }
        self.run_watcherlite('stack', 'unlock', 'locked', '--wait')
        self.check_output('stack', 'check', 'locked', '--wait')
        after = self.resources('locked')

        self.assertEqual('LOCK_COMPLETE', shown['stack_status'])
        for what, error in refusals.items():
            self.assertIn('LOCK_COMPLETE', error, what)
        self.assertEqual(
            {name: physical for name, (_, physical) in before.items()},
            {name: row[1] for name, row in after.items()},
        )

    def test_a_resource_without_signals_rejects_one(self):
        self.create('signalled', TEMPLATE)

        error = self.refusal('stack', 'resource', 'signal', 'signalled', 'keep')

        self.assertIn('signal', error.lower())
