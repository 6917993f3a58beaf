"""Reading the plan of a command line, and what is to be skipped of it."""

import io
import os
import sys

import fixtures

from tests import base
from watcherlite import exceptions
from watcherlite.cli import input_files
from watcherlite.cmd import exits

PLAN = b'actions: [{name: a, action_type: nop}]\n'


class ReadTest(base.TestCase):
    def refused(self, path):
        return str(self.assertRaises(exceptions.Invalid, input_files.read, str(path)))

    def test_a_file(self):
        path = self.home / 'plan.yaml'
        path.write_bytes(PLAN)

        document = input_files.read(str(path))

        self.assertEqual(['a'], [action.name for action in document.actions])

    def test_standard_input(self):
        stdin = io.TextIOWrapper(io.BytesIO(PLAN))
        self.useFixture(fixtures.MonkeyPatch('sys.stdin', stdin))

        document = input_files.read('-')

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

    def test_problems_in_standard_input_are_placed_there(self):
        stdin = io.TextIOWrapper(io.BytesIO(b'\nactions: 1\n'))
        self.useFixture(fixtures.MonkeyPatch('sys.stdin', stdin))

        self.assertEqual(
            'standard input:2: actions: this is a number; it must be a list of actions',
            self.refused('-'),
        )

    def test_missing_file(self):
        self.assertEqual(
            'the plan file plan.yaml does not exist', self.refused('plan.yaml')
        )

    def test_directory_instead_of_a_file(self):
        self.assertEqual(
            f'the plan file {self.home} cannot be read: Is a directory',
            self.refused(self.home),
        )

    def test_a_file_without_end_is_not_read_to_its_end(self):
        if not os.path.exists('/dev/zero') or sys.platform != 'linux':
            self.skipTest('there is no /dev/zero')

        self.assertEqual(
            '/dev/zero: is larger than 64 MiB; split the plan',
            self.refused('/dev/zero'),
        )


class SkipsTest(base.TestCase):
    NAMES = ('drain', 'restart', 'a=b', 'a=b=c', 'a')

    def test_names_with_and_without_a_reason(self):
        self.assertEqual(
            {'drain': None, 'restart': 'not = today'},
            input_files.skips(['drain', 'restart=not = today'], self.NAMES),
        )

    def test_an_empty_reason_is_none(self):
        self.assertEqual({'drain': None}, input_files.skips(['drain='], self.NAMES))

    def test_a_name_with_an_equals_sign_goes_before_a_reason(self):
        self.assertEqual(
            {'a=b': 'd', 'a=b=c': None, 'a': 'c'},
            input_files.skips(['a=b=d', 'a=b=c', 'a=c'], self.NAMES),
        )

    def test_an_unknown_name_is_refused_with_the_nearest(self):
        for option in ('drian', 'drian=because'):
            error = self.assertRaises(
                exits.UsageError, input_files.skips, [option], self.NAMES
            )
            self.assertEqual(
                "--skip: the plan has no action 'drian'; did you mean drain?",
                str(error),
            )

    def test_a_name_is_refused_the_second_time(self):
        error = self.assertRaises(
            exits.UsageError, input_files.skips, ['drain', 'drain=x'], self.NAMES
        )

        self.assertEqual('--skip: drain is given twice', str(error))
