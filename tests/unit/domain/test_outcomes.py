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
    def test_every_outcome_is_returned_unchanged(self):
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

    def test_booleans_are_as_in_watcher_and_pairs_as_in_senlin(self):
        for returned, expected in (
            (True, Done()),
            (False, Failed('execute returned False, not True')),
            (None, Failed('execute returned None, not True')),
            (('OK', 'fine'), Done({'reason': 'fine'})),
            (('OK', ''), Done()),
            (('OK', None), Done()),
            (('ERROR', 'broken'), Failed('broken')),
            (('ERROR', None), Failed('')),
            (('ERROR', 404), Failed('404')),
            (('RETRY', 'busy'), Retry('busy')),
            (('CANCEL', 'requested'), Cancelled('requested')),
            (('TIMEOUT', 'too slow'), TimedOut('too slow')),
        ):
            self.assertEqual(expected, from_returned(returned), returned)
        self.assertEqual(
            Failed('poll returned None, not True'), from_returned(None, 'poll')
        )

    def test_an_invalid_outcome_is_a_failure_that_names_only_its_type(self):
        class EqualToEverything:
            def __eq__(self, other):
                return True

            __hash__ = None

        for invalid, named in (
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
            (EqualToEverything(), 'EqualToEverything'),
        ):
            self.assertEqual(
                Failed(f'execute returned a {named}, which is not an outcome'),
                from_returned(invalid),
            )


class TestPublicText(base.TestCase):
    def test_own_errors_show_their_message_and_foreign_ones_their_class(self):
        class DiskGone(exceptions.WatcherliteError):
            """The disk is gone."""

        for error, text in (
            (exceptions.WatcherliteError('The disk is full.'), 'The disk is full.'),
            (exceptions.NotFound(), 'The object could not be found.'),
            (DiskGone(), 'The disk is gone.'),
            (ValueError('password=hunter2'), 'ValueError'),
            (SystemExit('password=hunter2'), 'SystemExit'),
        ):
            self.assertEqual(text, public_text(error))


def _raise(error):
    raise error


def _caught(function, *args):
    try:
        function(*args)
    except BaseException as error:
        return error
    raise AssertionError('nothing was raised')


class TestFaultOf(base.TestCase):
    def test_a_fault_has_the_place_where_its_error_was_raised(self):
        refusal = 'State transition not allowed: (DELETED -> ONGOING)'
        for error, expected in (
            (
                _caught(_raise, exceptions.WatcherliteError('The disk is full.')),
                ('WatcherliteError', 'The disk is full.', __name__, '_raise'),
            ),
            (
                _caught(MACHINE.check, 'DELETED', 'ONGOING'),
                (
                    'TransitionNotAllowed',
                    refusal,
                    'watcherlite.states.machine',
                    'check',
                ),
            ),
            (
                _caught(_raise, KeyError('password=hunter2')),
                ('KeyError', 'KeyError', __name__, '_raise'),
            ),
            (KeyError('a'), ('KeyError', 'KeyError', '', '')),
        ):
            self.assertEqual(Fault(*expected), fault_of(error))
