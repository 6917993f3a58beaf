"""Validation of the inputs of `command`."""

from tests import base
from watcherlite import exceptions, testing
from watcherlite.plugins import options, schemas
from watcherlite.plugins.action_types.command import Command

GROUP = '[watcherlite.action_types.command]'


def checked(inputs, allowed=()):
    group = options.standalone_group(Command, {'allowed': list(allowed)})
    schemas.validate_inputs(Command(group), inputs)


def make_command_type(*directories):
    """Return an action type that may check paths below these directories."""
    given = {'allowed': ['/bin/ls'], 'creates_below': list(directories)}
    return Command(options.standalone_group(Command, given))


class TestAllowList(base.TestCase):
    def refusal(self, argv, allowed=()):
        error = self.assertRaises(
            exceptions.InvalidInput, checked, {'argv': argv}, allowed
        )
        return str(error)

    def test_nothing_is_allowed_by_default(self):
        error = self.assertRaises(
            exceptions.InvalidInput,
            schemas.validate_inputs,
            Command,
            {'argv': ['/bin/true']},
        )

        self.assertEqual(
            'input_parameters.argv.0: /bin/true is not allowed; an operator may add '
            f'it to the option allowed in the group {GROUP}',
            str(error),
        )

    def test_an_entry_is_a_whole_command(self):
        checked({'argv': ['/bin/ls', '-l', '/']}, ['/bin/ls', '/bin/ls -l /'])

        self.assertEqual(
            'input_parameters.argv: /bin/ls is allowed only as /bin/ls or /bin/ls -l / '
            f'(option allowed in the group {GROUP})',
            self.refusal(['/bin/ls', '-l', '/', '/etc'], ['/bin/ls', '/bin/ls -l /']),
        )

    def test_the_allow_list_has_placeholders_for_arguments(self):
        cases = {
            '/bin/x {value}': (['a'], ['-a'], [], ['a', 'b']),
            '/bin/x {value} -v {value}': (['', '-v', '~'], ['a', '-w', 'b']),
            '/bin/x {~[0-9]{1,2}}': (['12'], ['123'], ['1x'], ['']),
            '/bin/x --port={~8[0-9]+}': (['--port=80'], ['--port=9'], ['80']),
            '/bin/x ...': ([], ['-a', 'b']),
            '/bin/x run ...': (['run', '--all'], ['stop'], []),
            "/bin/x '{~\\d}'": (['7'], ['d']),
        }
        well = {'/bin/x ...': 2}
        for entry, arguments in cases.items():
            for at, rest in enumerate(arguments):
                with self.subTest(entry=entry, rest=rest):
                    argv = ['/bin/x', *rest]
                    if at < well.get(entry, 1):
                        checked({'argv': argv}, [entry])
                    else:
                        self.assertIn('only as', self.refusal(argv, [entry]))

    def test_a_placeholder_is_not_an_argument(self):
        self.refusal(['/bin/x', '...', 'a'], ['/bin/x a'])
        self.refusal(['/bin/x', '-{value}'], ['/bin/x {value}'])

    def test_words_after_a_path_are_required(self):
        allowed = ['/bin/systemctl restart', "/bin/systemctl status 'a b'"]

        checked({'argv': ['/bin/systemctl', 'restart']}, allowed)
        checked({'argv': ['/bin/systemctl', 'status', 'a b']}, allowed)
        self.assertEqual(
            'input_parameters.argv: /bin/systemctl is allowed only as /bin/systemctl '
            "restart or /bin/systemctl status 'a b' (option allowed in the group "
            f'{GROUP})',
            self.refusal(['/bin/systemctl', 'stop', 'restart'], allowed),
        )
        self.refusal(['/bin/systemctl'], allowed)

    def test_paths_are_compared_literally(self):
        for path in ('/usr/bin/ls', '/bin/ls ', '/bin/LS', '/bin/lsof', '/bin/l'):
            self.assertIn('is not allowed', self.refusal([path], ['/bin/ls']))

    def test_a_path_has_to_be_absolute_and_short(self):
        cases = {
            'ls': "'ls' is not an absolute path",
            '': "'' is not an absolute path",
            './ls': "'./ls' is not an absolute path",
            '{python}x': "'{python}x' is not an absolute path",
            '/bin/../bin/ls': "'/bin/../bin/ls' is not in its shortest form, '/bin/ls'",
            '/bin//ls': "'/bin//ls' is not in its shortest form, '/bin/ls'",
            '/bin/ls/': "'/bin/ls/' is not in its shortest form, '/bin/ls'",
        }
        for path, words in cases.items():
            self.assertEqual(
                f'input_parameters.argv.0: {words}', self.refusal([path], ['/bin/ls'])
            )

    def test_the_interpreter_has_a_name_of_its_own(self):
        checked({'argv': ['{python}', '-m', 'x', '1']}, ['{python} -m x {value}'])

        self.assertIn(
            '{python} is allowed only as ',
            self.refusal(['{python}', '-c', 'x'], ['{python} -m x']),
        )

    def test_invalid_options_are_found_at_the_start(self):
        for text in ('ls', '/bin/../ls', '', '"/bin/ls', '/bin/ls/', '/x {~(}'):
            self.assertRaises(ValueError, checked, {'argv': ['/x']}, [text])


class TestInputs(base.TestCase):
    def test_an_invalid_argument_list_is_refused(self):
        cases = [
            ({}, 'argv: is required'),
            ({'argv': []}, 'argv: has 0 items, at least 1 needed'),
            ({'argv': '/bin/ls -l'}, 'argv: "/bin/ls -l" is not a list'),
            ({'argv': ['/bin/ls', 1]}, 'argv.1: 1 is not a string'),
            (
                {'argv': ['/bin/ls', 'a\0b']},
                'argv.1: "a\\u0000b" does not match ^[^\\x00]*$ (no NUL characters)',
            ),
            (
                {'argv': ['/bin/ls'], 'creates': 'x'},
                'creates: "x" does not match ^/[^\\x00]*$ (a full path)',
            ),
            (
                {'argv': ['/bin/ls'], 'expected_exit_codes': [256]},
                'expected_exit_codes.0: 256 is greater than the maximum of 255',
            ),
            (
                {'argv': ['/bin/ls'], 'shell': True},
                'shell: is not known (known: argv, creates, expected_exit_codes, '
                'idempotent, stdin)',
            ),
        ]
        for inputs, words in cases:
            error = self.assertRaises(
                exceptions.InvalidInput, checked, inputs, ['/bin/ls ...']
            )
            self.assertEqual(f'input_parameters.{words}', str(error))

    def test_the_author_declares_a_command_idempotent(self):
        for inputs, expected in (
            ({}, False),
            ({'idempotent': True}, True),
            ({'idempotent': False}, False),
        ):
            argv = {'argv': ['/x']}
            self.assertEqual(expected, Command().is_idempotent({**argv, **inputs}))

    def test_a_created_path_can_be_checked(self):
        self.assertFalse(Command().is_checkable({}))
        self.assertTrue(Command().is_checkable({'creates': '/x'}))

    def test_is_applied_checks_the_path(self):
        kind = make_command_type(str(self.home))
        for path, expected in ((self.home, True), (self.home / 'not-there', False)):
            context = testing.FakeContext({'creates': str(path)})
            self.assertEqual(expected, kind.is_applied(context))

    def test_only_paths_in_permitted_directories_are_checked(self):
        kind = make_command_type('/srv/a')
        inputs = {'argv': ['/bin/ls']}
        for path in ('/srv', '/srv/ab', '/srv/a/../b', '/srv/a/', '//srv/a', '/etc'):
            error = self.assertRaises(
                exceptions.InvalidInput, kind.validate, {**inputs, 'creates': path}
            )
            self.assertEqual(
                f'input_parameters.creates: {path} is below no directory of the option '
                f'creates_below in the group {GROUP}, to which an operator may add one',
                str(error),
            )
        for path in ('/srv/a', '/srv/a/b/c'):
            kind.validate({**inputs, 'creates': path})
        self.assertRaises(
            exceptions.InvalidInput, checked, {**inputs, 'creates': '/tmp'}, ['/bin/ls']
        )

    def test_links_out_of_permitted_directories_are_refused(self):
        allowed = self.home / 'allowed'
        allowed.mkdir()
        (allowed / 'out').symlink_to('/')
        kind = make_command_type(str(allowed))

        self.assertEqual(
            [False, True],
            [
                kind.is_applied(testing.FakeContext({'creates': str(allowed / name)}))
                for name in ('out/etc', 'out')
            ],
        )
