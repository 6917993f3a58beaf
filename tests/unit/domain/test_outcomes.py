"""The results and exceptions of plugins as outcomes and faults."""

from tests import base
from watcherlite import exceptions
from watcherlite.domain import outcomes
from watcherlite.domain.outcomes import (
    Cancelled,
    Derived,
    DerivedAction,
    Done,
    Failed,
    Fault,
    InProgress,
    Retry,
    Skipped,
    TimedOut,
    fault_of,
    from_returned,
    public_text,
)
from watcherlite.states.action_plan import MACHINE


class TestFromReturned(base.TestCase):
    def test_every_outcome_stands_for_itself(self):
        every = [
            Done({'a': 1}),
            Failed('no'),
            Skipped('off'),
            Retry('again', 2.0),
            Cancelled(),
            TimedOut('late'),
            Derived((DerivedAction('a', 'nop'),)),
            InProgress('token', 3.0),
        ]

        self.assertEqual(set(outcomes.Outcome.__args__), {type(one) for one in every})
        for outcome in every:
            self.assertIs(outcome, from_returned(outcome))

    def test_true_is_success_as_in_watcher(self):
        self.assertEqual(Done(), from_returned(True))

    def test_false_and_nothing_are_failures_as_in_watcher(self):
        self.assertEqual(
            Failed('execute returned False, not True'), from_returned(False)
        )
        self.assertEqual(Failed('execute returned None, not True'), from_returned(None))

    def test_a_failure_names_the_hook_that_returned(self):
        self.assertEqual(
            Failed('poll returned None, not True'), from_returned(None, 'poll')
        )

    def test_a_result_and_a_reason_are_read_as_in_senlin(self):
        self.assertEqual(
            [
                Done({'reason': 'fine'}),
                Failed('broken'),
                Retry('busy'),
                Cancelled('told to'),
                TimedOut('too slow'),
            ],
            [
                from_returned(pair)
                for pair in (
                    ('OK', 'fine'),
                    ('ERROR', 'broken'),
                    ('RETRY', 'busy'),
                    ('CANCEL', 'told to'),
                    ('TIMEOUT', 'too slow'),
                )
            ],
        )

    def test_a_result_without_a_reason_is_enough(self):
        self.assertEqual(Done(), from_returned(('OK', '')))
        self.assertEqual(Done(), from_returned(('OK', None)))
        self.assertEqual(Failed(''), from_returned(('ERROR', None)))

    def test_reason_is_converted_to_text(self):
        self.assertEqual(Failed('404'), from_returned(('ERROR', 404)))

    def test_rubbish_is_a_failure_that_names_only_its_type(self):
        for rubbish, named in (
            (1, 'int'),
            (0, 'int'),
            ('OK', 'str'),
            ('s3cret', 'str'),
            ([], 'list'),
            (['OK', 'fine'], 'list'),
            ({'state': 'OK'}, 'dict'),
            ((), 'tuple'),
            (('OK',), 'tuple'),
            (('OK', 'fine', 'more'), 'tuple'),
            (('ok', 'fine'), 'tuple'),
            (('WHAT', 'fine'), 'tuple'),
            ((['OK'], 'fine'), 'tuple'),
            ((True, 'fine'), 'tuple'),
            (Done, 'type'),
            (ValueError('s3cret'), 'ValueError'),
            (object(), 'object'),
        ):
            self.assertEqual(
                Failed(f'execute returned a {named}, which is not an outcome'),
                from_returned(rubbish),
            )

    def test_truthy_values_are_not_success(self):
        class Agreeable:
            def __eq__(self, other):
                return True

            __hash__ = None

        self.assertEqual(
            Failed('execute returned a Agreeable, which is not an outcome'),
            from_returned(Agreeable()),
        )


class TestPublicText(base.TestCase):
    def test_our_own_errors_speak_to_users(self):
        self.assertEqual(
            'The disk is full.',
            public_text(exceptions.WatcherliteError('The disk is full.')),
        )

    def test_error_without_message_has_that_of_its_class(self):
        self.assertEqual('There is no such object.', public_text(exceptions.NotFound()))

    def test_derived_exceptions_of_plugins_are_public(self):
        class DiskGone(exceptions.WatcherliteError):
            """The disk is gone."""

        self.assertEqual('The disk is gone.', public_text(DiskGone()))

    def test_of_a_foreign_error_only_the_class_is_shown(self):
        self.assertEqual('ValueError', public_text(ValueError('password=hunter2')))

    def test_base_exceptions_are_handled_as_well(self):
        self.assertEqual('SystemExit', public_text(SystemExit('password=hunter2')))


def _raise(error):
    raise error


def _caught(function, *args):
    try:
        function(*args)
    except BaseException as error:
        return error
    raise AssertionError('nothing was raised')


class TestFaultOf(base.TestCase):
    def test_it_names_where_the_error_was_raised(self):
        error = _caught(_raise, exceptions.WatcherliteError('The disk is full.'))

        self.assertEqual(
            Fault('WatcherliteError', 'The disk is full.', __name__, '_raise'),
            fault_of(error),
        )

    def test_a_raise_in_another_module_is_followed_to_there(self):
        error = _caught(MACHINE.check, 'DELETED', 'ONGOING')

        self.assertEqual(
            Fault(
                'TransitionNotAllowed',
                'State transition not allowed: (DELETED -> ONGOING)',
                'watcherlite.states.machine',
                'check',
            ),
            fault_of(error),
        )

    def test_the_text_of_a_foreign_error_stays_here(self):
        error = _caught(_raise, KeyError('password=hunter2'))

        self.assertEqual(
            Fault('KeyError', 'KeyError', __name__, '_raise'), fault_of(error)
        )

    def test_one_that_was_never_raised_has_no_place(self):
        self.assertEqual(Fault('KeyError', 'KeyError', '', ''), fault_of(KeyError('a')))
