"""The message and the exit code at the end of a command."""

import contextlib
import io

from tests import base
from watcherlite import exceptions
from watcherlite.cmd import exits


class CodeTest(base.TestCase):
    def test_every_kind_of_error_has_its_code(self):
        for error, code in (
            (exits.UsageError(), 2),
            (exceptions.InvalidDocument(['x']), 2),
            (exceptions.InvalidInput(), 2),
            (exceptions.NotFound(), 2),
            (exceptions.ConfigurationError(), 2),
            (exceptions.PluginNotFound(), 2),
            (exceptions.StoreUnavailable(), 3),
            (exceptions.StoreConflict(), 3),
            (exceptions.SchemaMismatch(), 3),
            (exceptions.BrokerUnavailable(), 3),
            (exceptions.Conflict(), 1),
            (exceptions.LeaseLost(), 1),
            (ValueError(), 1),
            (KeyboardInterrupt(), 130),
        ):
            self.assertEqual(code, exits.code_of(error), error)


class ErrorReportTest(base.TestCase):
    def run(self, debug):
        """Return the exit code and the lines on standard error."""
        err = io.StringIO()
        with contextlib.redirect_stderr(err):
            try:
                raise exceptions.NotFound('there is no plan')
            except exceptions.NotFound as error:
                code = exits.print_error('watcherlite', error, debug)
        return code, err.getvalue().splitlines()

    def test_an_error_is_one_line_and_a_code(self):
        self.assertEqual((2, ['watcherlite: there is no plan']), self.run(debug=False))

    def test_debug_shows_the_origin_of_an_error(self):
        code, lines = self.run(debug=True)

        self.assertEqual(2, code)
        self.assertEqual('Traceback (most recent call last):', lines[0])
        self.assertEqual('watcherlite: there is no plan', lines[-1])


class ExplainTest(base.TestCase):
    def test_one_line_that_names_the_command(self):
        self.assertEqual(
            'watcherlite: there is no plan',
            exits.explain('watcherlite', exceptions.NotFound('there is\nno plan')),
        )

    def test_one_problem_of_a_document_is_the_line(self):
        self.assertEqual(
            'watcherlite: plan.yaml:1: no',
            exits.explain(
                'watcherlite', exceptions.InvalidDocument(['plan.yaml:1: no'])
            ),
        )

    def test_several_problems_are_listed(self):
        error = exceptions.InvalidDocument(
            ['plan.yaml:1: one', 'plan.yaml:2: two\nmore']
        )

        self.assertEqual(
            'watcherlite: the plan has 2 problems; nothing was stored\n'
            '  plan.yaml:1: one\n'
            '  plan.yaml:2: two more',
            exits.explain('watcherlite', error),
        )

    def test_several_problems_of_a_template_are_listed(self):
        error = exceptions.TemplateInvalid(['a: wrong', 'b: wrong, too'])

        self.assertEqual(
            'watcherlite: the template has 2 problems; nothing was stored\n'
            '  a: wrong\n'
            '  b: wrong, too',
            exits.explain('watcherlite', error),
        )

    def test_the_number_of_listed_problems_is_limited(self):
        lines = exits.explain(
            'watcherlite', exceptions.InvalidDocument([f'p{i}' for i in range(1000)])
        ).splitlines()

        self.assertEqual(
            ['watcherlite: the plan has 1000 problems; nothing was stored', '  p0'],
            lines[:2],
        )
        self.assertEqual(['  p99', '  ... and 900 more'], lines[-2:])

    def test_credentials_are_masked(self):
        self.assertEqual(
            'watcherlite: cannot reach mysql+pymysql://root:***@db/x',
            exits.explain(
                'watcherlite',
                exceptions.StoreUnavailable(
                    'cannot reach mysql+pymysql://root:hunter2@db/x'
                ),
            ),
        )

    def test_unexpected_error_refers_to_debug(self):
        self.assertEqual(
            'watcherlite: unexpected ZeroDivisionError: by zero; --debug shows the '
            'traceback',
            exits.explain('watcherlite', ZeroDivisionError('by zero')),
        )

    def test_an_interruption_is_reported_as_such(self):
        self.assertEqual(
            'watcherlite: interrupted',
            exits.explain('watcherlite', KeyboardInterrupt()),
        )
