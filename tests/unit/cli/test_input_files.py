"""Reading the plan of a command line, and the actions to skip."""

import io
import os
import sys

import fixtures

from tests import base
from watcherlite import exceptions
from watcherlite.cli import input_files
from watcherlite.cmd import exits

PLAN = b'actions: [{name: a, action_type: nop}]\n'


class ReadPlanTest(base.TestCase):
    def read_error(self, path):
        return str(self.assertRaises(exceptions.Invalid, input_files.read, str(path)))

    def test_a_plan_is_read_from_a_file_or_standard_input(self):
        path = self.home / 'plan.yaml'
        path.write_bytes(PLAN)
        stdin = io.TextIOWrapper(io.BytesIO(PLAN))
        self.useFixture(fixtures.MonkeyPatch('sys.stdin', stdin))

        for name in (str(path), '-'):
            document = input_files.read(name)

            self.assertEqual(['a'], [action.name for action in document.actions])

    def test_inputs_are_validated_only_for_an_invalid_plan(self):
        good, bad = self.home / 'good.yaml', self.home / 'bad.yaml'
        good.write_bytes(PLAN)
        bad.write_bytes(PLAN.replace(b'}', b', timeout: soon}'))
        asked = []

        def validate(action_type, inputs):
            asked.append((action_type, inputs))
            raise exceptions.InvalidInput('input_parameters.message: is required')

        input_files.read(str(good), lambda: validate)
        error = self.assertRaises(
            exceptions.InvalidDocument, input_files.read, str(bad), lambda: validate
        )

        self.assertEqual(([('nop', {})], 2), (asked, len(error.problems)))

    def test_errors_in_standard_input_name_their_line(self):
        stdin = io.TextIOWrapper(io.BytesIO(b'\nactions: 1\n'))
        self.useFixture(fixtures.MonkeyPatch('sys.stdin', stdin))

        self.assertEqual(
            'standard input:2: actions: this is a number; it must be a list of actions',
            self.read_error('-'),
        )

    def test_missing_files_and_directories_are_reported(self):
        for path, text in (
            ('plan.yaml', 'the plan file plan.yaml does not exist'),
            (self.home, f'the plan file {self.home} cannot be read: Is a directory'),
        ):
            self.assertEqual(text, self.read_error(path))

    def test_an_endless_file_is_rejected(self):
        if not os.path.exists('/dev/zero') or sys.platform != 'linux':
            self.skipTest('there is no /dev/zero')

        self.assertEqual(
            '/dev/zero: is larger than 64 MiB; split the plan',
            self.read_error('/dev/zero'),
        )


class SkipOptionsTest(base.TestCase):
    NAMES = ('drain', 'restart', 'a=b', 'a=b=c', 'a')

    def test_skip_options_are_names_with_an_optional_reason(self):
        for options, expected in (
            (
                ['drain', 'restart=not = today'],
                {'drain': None, 'restart': 'not = today'},
            ),
            (['drain='], {'drain': None}),
            # The longest name that exists precedes a reason.
            (['a=b=d', 'a=b=c', 'a=c'], {'a=b': 'd', 'a=b=c': None, 'a': 'c'}),
        ):
            self.assertEqual(expected, input_files.skips(options, self.NAMES))

    def test_unknown_and_repeated_names_are_rejected(self):
        unknown = "--skip: the plan has no action 'drian'; did you mean drain?"
        for options, text in (
            (['drian'], unknown),
            (['drian=because'], unknown),
            (['drain', 'drain=x'], '--skip: drain is specified twice'),
        ):
            error = self.assertRaises(
                exits.UsageError, input_files.skips, options, self.NAMES
            )
            self.assertEqual(text, str(error))
