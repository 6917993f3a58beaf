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
  said: {description: What it says., value: {get_attr: [change, output]}}
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
  said: {value: {get_attr: [inner, said]}}
"""
#: The maximum number of polls of a stack.
LOOKS = 500


class RealStackCase(RealApiCase):
    def create(self, name, *argv, template=TEMPLATE):
        """Create a stack, and wait for it; return it."""
        path = self.file(template, f'{name}.yaml')
        words = ('stack', 'create', name, '-t', path, '--wait', '-f', 'json')
        code, _, err = self.call(*words, *argv)
        self.assertEqual(0, code, err)
        return self.rows('stack', 'show', name)

    def done(self, *argv):
        """Run a command that waits; return the exit code and its last message."""
        code, _, err = self.call(*argv, '--wait')
        return code, err.strip().splitlines()[-1].partition(' ')[2]

    def wait_for_other_status(self, status, name):
        """Poll a stack until its status changes; each poll is a request."""
        for _ in range(LOOKS):
            if self.rows('stack', 'show', name)['Stack Status'] != status:
                return
        raise AssertionError(f'{name} stays {status}')

    def resources(self, name):
        """Return the status and the physical id of each resource, by name."""
        return {
            row['Resource Name']: (row['Resource Status'], row['Physical Resource ID'])
            for row in self.rows('stack', 'resource', 'list', name)
        }


class LifeTest(RealStackCase):
    """A stack from its template to its end."""

    def test_created_shown_updated_and_deleted(self):
        made = self.create('life', '--parameter', 'value=hi', '--tags', 'blue')
        before = self.resources('life')
        listed = self.rows('stack', 'list', '--tags', 'blue')
        said = self.rows('stack', 'output', 'show', 'life', 'said')
        updated = self.done(
            *('stack', 'update', 'life', '--existing', '--parameter', 'value=bye')
        )
        after = self.resources('life')
        deleted = self.done('stack', 'delete', 'life', '--yes')

        self.assertEqual('CREATE_COMPLETE', made['Stack Status'])
        self.assertEqual([made['ID']], [row['ID'] for row in listed])
        self.assertEqual('hi', said['Output Value'])
        self.assertEqual(
            (0, 'life UPDATE_COMPLETE Stack UPDATE completed successfully'), updated
        )
        self.assertEqual(('UPDATE_COMPLETE', before['change'][1]), after['change'])
        self.assertEqual(before['keep'], after['keep'])
        self.assertEqual(0, deleted[0])
        self.assertEqual([], self.rows('stack', 'list'))
        shown = self.rows('stack', 'list', '--deleted')
        self.assertEqual(['DELETE_COMPLETE'], [row['Stack Status'] for row in shown])

    def test_nested_templates_and_files_come_with_it(self):
        self.file(TEMPLATE, 'inner.yaml')
        self.file('from a file', 'text')
        environment = self.file(
            'resource_registry: {"My::Inner": inner.yaml}', 'types.env'
        )

        self.create('outer', '-e', environment, template=OUTER)
        said = self.rows('stack', 'output', 'list', 'outer', '--long')
        rows = self.rows('stack', 'resource', 'list', 'outer', '-n', '2')
        nested = self.rows('stack', 'list', '--nested')
        events = self.rows('stack', 'event', 'list', 'outer', '--nested-depth', '2')

        self.assertEqual(['from a file'], [row['Output Value'] for row in said])
        self.assertEqual(
            {'inner', 'change', 'keep'}, {row['Resource Name'] for row in rows}
        )
        self.assertEqual(2, len(nested))
        self.assertEqual(2, len({event['Stack Name'] for event in events}))

    def test_checked_and_previewed_before_anything_is_made(self):
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

    def test_abandoned_and_adopted_and_a_failed_one_is_reported(self):
        path = self.file(FAILING)
        code, message = self.done('stack', 'create', 'failing', '-t', path)

        self.assertEqual(1, code)
        self.assertIn('the stack failing is CREATE_FAILED: ', message)
        self.create('left')
        before = self.resources('left')
        path = str(self.home / 'left.json')

        self.succeed('stack', 'abandon', 'left', '--output-file', path)
        code, _ = self.done('stack', 'adopt', 'again', '--adopt-file', path)

        self.assertEqual(0, code)
        self.assertEqual(
            {name: row[1] for name, row in before.items()},
            {name: row[1] for name, row in self.resources('again').items()},
        )


class MaintenanceTest(RealStackCase):
    """Suspension, health marks and locks."""

    def test_suspended_resumed_checked_locked_refused_and_unlocked(self):
        self.create('kept')

        for verb in ('suspend', 'resume', 'check'):
            code, last = self.done('stack', verb, 'kept')

            self.assertEqual(0, code)
            self.assertIn(f'kept {verb.upper()}_COMPLETE', last)

        locked = self.done('stack', 'lock', 'kept', '--level', 'stacks')
        shown = self.rows('stack', 'show', 'kept')
        refusals = [self.fail('stack', verb, 'kept') for verb in ('check', 'suspend')]
        refusals.append(self.fail('stack', 'update', 'kept', '--existing'))
        refusals.append(
            self.fail('stack', 'resource', 'mark-unhealthy', 'kept', 'keep')
        )
        deleted = self.fail('stack', 'delete', '--yes', 'kept')
        unlocked = self.done('stack', 'unlock', 'kept')
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

    def test_marked_and_replaced_by_the_next_update_and_refused_as_the_api_does(self):
        self.create('marked')
        before = self.resources('marked')

        words = ('stack', 'resource', 'mark-unhealthy', 'marked', 'keep')
        self.rows(*words)
        reset = self.rows(*words, '--reset', 'it is well')
        marked = self.rows(*words, 'it is slow')
        preview = self.rows('stack', 'update', 'marked', '--existing', '--dry-run')
        self.done('stack', 'update', 'marked', '--existing')
        after = self.resources('marked')

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
            (2, 'The Stack (nowhere) could not be found.'),
            self.fail('stack', 'show', 'nowhere'),
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

    def test_events_are_listed_and_an_update_is_cancelled(self):
        path = self.file(SLOW, 'slow.yaml')
        self.succeed('stack', 'create', 'slow', '-t', path)

        cancelled = self.rows('stack', 'cancel', 'slow', '--no-rollback')
        self.wait_for_other_status('CREATE_IN_PROGRESS', 'slow')
        other = self.file(TEMPLATE, 'other.yaml')
        code, last = self.done('stack', 'update', 'slow', '-t', other)
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
