"""The commands on stacks with the real API, from a template to the deletion."""

from tests.functional.cli.test_real_api import RealApiCase

TEMPLATE = """\
heat_template_version: 2021-04-16
parameters:
  value: {type: string, default: hello}
resources:
  change:
    type: OS::Heat::TestResource
    properties: {value: {get_param: value}}
  keep: {type: OS::Heat::RandomString}
outputs:
  greeting: {description: The greeting., value: {get_attr: [change, output]}}
"""
SLOW = """\
heat_template_version: 2021-04-16
resources:
  waits: {type: OS::Heat::TestResource, properties: {wait_secs: -1}}
"""
FAILING = """\
heat_template_version: 2021-04-16
resources:
  bad: {type: OS::Heat::TestResource, properties: {fail: true}}
"""
OUTER = """\
heat_template_version: 2021-04-16
resources:
  inner:
    type: My::Inner
    properties: {value: {get_file: text}}
outputs:
  greeting: {value: {get_attr: [inner, greeting]}}
"""
HOOKED = """\
heat_template_version: 2021-04-16
resources:
  alone: {type: OS::Heat::None}
  inner: {type: My::Inner}
"""
#: The maximum number of polls of a stack.
MAX_POLLS = 500


class RealStackCase(RealApiCase):
    def create_stack(self, name, *argv, template=TEMPLATE):
        """Create a stack, and wait for it; return it."""
        path = self.file(template, f'{name}.yaml')
        words = ('stack', 'create', name, '-t', path, '--wait', '-f', 'json')
        code, _, err = self.call(*words, *argv)
        self.assertEqual(0, code, err)
        return self.rows('stack', 'show', name)

    def call_and_wait(self, *argv):
        """Run a command that waits; return the exit code and its last message."""
        code, _, err = self.call(*argv, '--wait')
        return code, err.strip().splitlines()[-1].partition(' ')[2]

    def wait_for_other_status(self, status, name):
        """Poll a stack until its status changes; each poll is a request."""
        for _ in range(MAX_POLLS):
            if self.rows('stack', 'show', name)['Stack Status'] != status:
                return
        raise AssertionError(f'{name} stays {status}')

    def resource_states(self, name):
        """Return the status and the physical id of each resource, by name."""
        return {
            row['Resource Name']: (row['Resource Status'], row['Physical Resource ID'])
            for row in self.rows('stack', 'resource', 'list', name)
        }


class StackLifecycleTest(RealStackCase):
    """A stack from its template to its end."""

    def test_a_stack_is_created_shown_updated_and_deleted(self):
        made = self.create_stack('life', '--parameter', 'value=hi', '--tags', 'blue')
        before = self.resource_states('life')
        listed = self.rows('stack', 'list', '--tags', 'blue')
        output = self.rows('stack', 'output', 'show', 'life', 'greeting')
        updated = self.call_and_wait(
            *('stack', 'update', 'life', '--existing', '--parameter', 'value=bye')
        )
        after = self.resource_states('life')
        deleted = self.call_and_wait('stack', 'delete', 'life', '--yes')

        self.assertEqual('CREATE_COMPLETE', made['Stack Status'])
        self.assertEqual([made['ID']], [row['ID'] for row in listed])
        self.assertEqual('hi', output['Output Value'])
        self.assertEqual(
            (0, 'life UPDATE_COMPLETE Stack UPDATE completed successfully'), updated
        )
        self.assertEqual(('UPDATE_COMPLETE', before['change'][1]), after['change'])
        self.assertEqual(before['keep'], after['keep'])
        self.assertEqual(0, deleted[0])
        self.assertEqual([], self.rows('stack', 'list'))
        shown = self.rows('stack', 'list', '--deleted')
        self.assertEqual(['DELETE_COMPLETE'], [row['Stack Status'] for row in shown])

    def test_a_stack_is_created_with_nested_templates_and_files(self):
        self.file(TEMPLATE, 'inner.yaml')
        self.file('from a file', 'text')
        environment = self.file(
            'resource_registry: {"My::Inner": inner.yaml}', 'types.env'
        )

        self.create_stack('outer', '-e', environment, template=OUTER)
        outputs = self.rows('stack', 'output', 'list', 'outer', '--long')
        rows = self.rows('stack', 'resource', 'list', 'outer', '-n', '2')
        nested = self.rows('stack', 'list', '--nested')
        events = self.rows('stack', 'event', 'list', 'outer', '--nested-depth', '2')

        self.assertEqual(['from a file'], [row['Output Value'] for row in outputs])
        self.assertEqual(
            {'inner', 'change', 'keep'}, {row['Resource Name'] for row in rows}
        )
        self.assertEqual(2, len(nested))
        self.assertEqual(2, len({event['Stack Name'] for event in events}))

    def test_validate_and_dry_run_create_no_stack(self):
        path = self.file(TEMPLATE)

        found = self.rows('stack', 'template', 'validate', '-t', path)
        preview = self.rows('stack', 'create', 'nothing', '-t', path, '--dry-run')
        types = self.rows('stack', 'resource', 'type', 'list', '--name', 'Local')
        one = self.rows('stack', 'resource', 'type', 'show', 'Local::File')

        self.assertIn('Local::File', [row['Resource Type'] for row in types])
        self.assertIn('path', one['Properties'])
        self.assertIn('value', found['Parameters'])
        self.assertEqual(
            {'change', 'keep'}, {row['resource_name'] for row in preview['Resources']}
        )
        self.assertEqual([], self.rows('stack', 'list'))

    def test_a_stack_is_abandoned_and_adopted_and_failures_are_reported(self):
        path = self.file(FAILING)
        code, message = self.call_and_wait('stack', 'create', 'failing', '-t', path)

        self.assertEqual(1, code)
        self.assertIn('the stack failing is CREATE_FAILED: ', message)
        self.create_stack('left')
        before = self.resource_states('left')
        path = str(self.home / 'left.json')

        self.succeed('stack', 'abandon', 'left', '--output-file', path)
        code, _ = self.call_and_wait('stack', 'adopt', 'again', '--adopt-file', path)

        self.assertEqual(0, code)
        self.assertEqual(
            {name: row[1] for name, row in before.items()},
            {name: row[1] for name, row in self.resource_states('again').items()},
        )


class StackMaintenanceTest(RealStackCase):
    """Suspension, health marks, hooks and locks."""

    def test_hooks_are_listed_and_cleared_by_paths_and_patterns(self):
        inner = f'file://{self.file(TEMPLATE, "inner.yaml")}'
        environment = self.file(
            f"""\
            resource_registry:
              My::Inner: {inner}
              resources:
                alone: {{hooks: [pre-create, post-create]}}
                inner: {{'*': {{hooks: pre-create}}}}
            """,
            'hooks.env',
        )
        path = self.file(HOOKED, 'hooked.yaml')
        self.succeed('stack', 'create', 'paused', '-t', path, '-e', environment)
        self.wait_for_hooks('alone', 'inner/change', 'inner/keep')

        self.assertIn(
            'No resource inner of stack paused waits at a hook; ',
            self.fail('stack', 'hook', 'clear', 'paused', 'alone', 'inner')[1],
        )
        self.assertIn(
            'No resource * of stack paused waits at the hook pre-delete; ',
            self.fail('stack', 'hook', 'clear', 'paused', '*', '--hook', 'pre-delete')[
                1
            ],
        )
        self.assertEqual(
            [
                {
                    'Resource': name,
                    'Hook': 'pre-create',
                    'Resource Status': 'INIT_COMPLETE',
                }
                for name in ('alone', 'inner/change', 'inner/keep')
            ],
            sorted(
                self.rows('stack', 'hook', 'clear', 'paused', 'al*', 'inner/*'),
                key=lambda row: row['Resource'],
            ),
        )
        (found,) = self.wait_for_hooks('alone')
        self.assertEqual('post-create', found['Hook'])
        self.succeed('stack', 'hook', 'clear', 'paused', 'alone')
        self.wait_for_other_status('CREATE_IN_PROGRESS', 'paused')
        shown = self.rows('stack', 'resource', 'show', 'paused', 'alone')

        self.assertEqual(
            ('CREATE_COMPLETE', None), (shown['Resource Status'], shown['Hook'])
        )

    def wait_for_hooks(self, *names):
        """Poll the stack until exactly these resources wait; return the rows."""
        for _ in range(MAX_POLLS):
            rows = self.rows('stack', 'hook', 'list', 'paused')
            if sorted(row['Resource'] for row in rows) == list(names):
                return rows
        raise AssertionError(f'{rows} wait instead of {names}')

    def test_a_stack_is_suspended_resumed_checked_locked_and_unlocked(self):
        self.create_stack('kept')

        for verb in ('suspend', 'resume', 'check'):
            code, last = self.call_and_wait('stack', verb, 'kept')

            self.assertEqual(0, code)
            self.assertIn(f'kept {verb.upper()}_COMPLETE', last)

        locked = self.call_and_wait('stack', 'lock', 'kept', '--level', 'stacks')
        shown = self.rows('stack', 'show', 'kept')
        refusals = [self.fail('stack', verb, 'kept') for verb in ('check', 'suspend')]
        refusals.append(self.fail('stack', 'update', 'kept', '--existing'))
        refusals.append(
            self.fail('stack', 'resource', 'mark-unhealthy', 'kept', 'keep')
        )
        deleted = self.fail('stack', 'delete', '--yes', 'kept')
        unlocked = self.call_and_wait('stack', 'unlock', 'kept')
        again = self.fail('stack', 'unlock', 'kept')

        self.assertEqual(0, locked[0])
        self.assertEqual(
            ('LOCK_COMPLETE', 'stacks', shown['ID']),
            (shown['Stack Status'], shown['Lock Level'], shown['Lock Owner']),
        )
        for code, message in (*refusals, deleted):
            self.assertEqual(1, code)
            self.assertIn('locked (LOCK_COMPLETE)', message)
        self.assertEqual(0, unlocked[0])
        self.assertEqual(1, again[0])

    def test_an_update_replaces_a_resource_marked_as_unhealthy(self):
        self.create_stack('marked')
        before = self.resource_states('marked')

        words = ('stack', 'resource', 'mark-unhealthy', 'marked', 'keep')
        self.rows(*words)
        reset = self.rows(*words, '--reset', 'it is well')
        marked = self.rows(*words, 'it is slow')
        preview = self.rows('stack', 'update', 'marked', '--existing', '--dry-run')
        self.call_and_wait('stack', 'update', 'marked', '--existing')
        after = self.resource_states('marked')

        self.assertEqual(
            [('CHECK_COMPLETE', 'it is well'), ('CHECK_FAILED', 'it is slow')],
            [
                (row['Resource Status'], row['Resource Status Reason'])
                for row in (reset, marked)
            ],
        )
        self.assertEqual(
            ['keep'], [row['resource_name'] for row in preview['Replaced']]
        )
        self.assertEqual(before['change'], after['change'])
        self.assertNotEqual(before['keep'][1], after['keep'][1])
        path = str(self.home / 'marked.yaml')
        self.assertEqual(
            (2, 'The Stack (missing) could not be found.'),
            self.fail('stack', 'show', 'missing'),
        )
        self.assertEqual(
            (2, 'Signal is not supported for resource keep (OS::Heat::RandomString).'),
            self.fail('stack', 'resource', 'signal', 'marked', 'keep'),
        )
        self.assertEqual(1, self.fail('stack', 'create', 'marked', '-t', path)[0])
        self.assertEqual(
            2, self.fail('stack', 'create', 'x', '-t', path, '--parameter', 'no=1')[0]
        )
        self.assertEqual(2, self.fail('stack', 'cancel', 'marked')[0])
        self.assertEqual(
            2, self.fail('stack', 'resource', 'show', 'marked', 'nothing')[0]
        )

    def test_an_update_is_cancelled_and_events_are_listed(self):
        path = self.file(SLOW, 'slow.yaml')
        self.succeed('stack', 'create', 'slow', '-t', path)

        cancelled = self.rows('stack', 'cancel', 'slow', '--no-rollback')
        self.wait_for_other_status('CREATE_IN_PROGRESS', 'slow')
        other = self.file(TEMPLATE, 'other.yaml')
        code, last = self.call_and_wait('stack', 'update', 'slow', '-t', other)
        listed = self.rows('stack', 'event', 'list', 'slow')

        self.assertTrue(cancelled['Stack Status'].startswith('CREATE_'))
        self.assertEqual((0, True), (code, 'slow UPDATE_COMPLETE' in last), last)
        self.assertEqual(
            [
                *('CREATE_IN_PROGRESS', 'CREATE_FAILED'),
                *('UPDATE_IN_PROGRESS', 'UPDATE_COMPLETE'),
            ],
            [
                row['Resource Status']
                for row in listed
                if row['Resource Name'] == 'slow'
            ],
        )
