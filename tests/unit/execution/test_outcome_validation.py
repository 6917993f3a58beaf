"""The validation of outcomes."""

import datetime
from typing import Any

from tests import base
from watcherlite.clock import EPOCH
from watcherlite.domain.outcomes import (
    Cancelled,
    Derived,
    DerivedAction,
    Done,
    Failed,
    Fault,
    InProgress,
    Outcome,
    Retry,
    Skipped,
    TimedOut,
)
from watcherlite.execution.results import indexed, json_problem, validated


class ValidationTest(base.TestCase):
    """Valid outcomes, and the failures of all others."""

    def test_a_valid_outcome_is_returned_unchanged(self) -> None:
        x = DerivedAction('x', 'nop', {'a': [1]})
        y = DerivedAction('y', 'nop', parents=('x',), needs='completion', timeout=3)
        for outcome in (
            Done(),
            Done({}),
            Done(again_at=EPOCH),
            Failed('x', again_at=EPOCH),
            Done({'a': {'b': [1, 2.5, None, True, 'ž', '😀', '\\u0000']}}),
            Failed(''),
            Failed('x', Fault('a', 'b', 'c', 'd'), {'n': 1}),
            Skipped('x'),
            Retry('x'),
            Retry('x', 1),
            Retry('x', 0.5),
            Cancelled(),
            TimedOut('x'),
            InProgress({'job': 1}),
            InProgress(0, 0),
            InProgress('', 3600.0),
            Derived((x, y)),
            Derived((y, x)),
        ):
            self.assertIs(outcome, validated(outcome))

    def assert_refused(self, outcome: Any, problem: str) -> None:
        self.assertEqual(
            Failed(f'its {type(outcome).__name__} {problem}'), validated(outcome)
        )

    def test_again_at_must_have_a_time_zone(self) -> None:
        for again in ('tomorrow', 5, datetime.datetime(2030, 1, 1)):
            self.assert_refused(
                Done(again_at=again),  # type: ignore[arg-type]
                'has an again_at that is not a datetime with a time zone',
            )

    def test_outputs_must_be_a_json_mapping(self) -> None:
        failed = Failed('no', None, [1])  # type: ignore[arg-type]
        nul = 'this text has a NUL character, which databases cannot store'
        half = 'this text has half of a surrogate pair, which is not a character'
        for outcome, problem in (
            (Done('x'), 'text, not a mapping'),
            (failed, 'a list, not a mapping'),
            (
                Done({'a': {'b': object()}}),
                'not JSON: a.b: this is a object, which JSON does not have',
            ),
            (Done({'a': float('inf')}), 'not JSON: a: inf is not a number in JSON'),
            (Done({'a': 'x\0'}), f'not JSON: a: {nul}'),
            (Done({'a': '\ud800'}), f'not JSON: a: {half}'),
        ):
            self.assert_refused(outcome, f'has outputs that are {problem}')

    def test_a_value_that_contains_itself_is_refused(self) -> None:
        loop: dict[str, Any] = {}
        loop['again'] = loop
        outcome = validated(Done(loop))
        assert isinstance(outcome, Failed)
        self.assertIn('nested deeper than', outcome.reason)

    def test_reasons_must_be_text(self) -> None:
        for outcome in (Failed(7), Skipped(7), Retry(7), Cancelled(7), TimedOut(7)):  # type: ignore[arg-type]
            self.assert_refused(outcome, 'has a reason that is a number, not text')

    def test_text_that_databases_refuse_is_cleaned(self) -> None:
        fault = Fault('Error', 'a\0b', 'm', '\ud800')
        self.assertEqual(
            Failed('a?b ?', Fault('Error', 'a?b', 'm', '?'), {'n': 1}),
            validated(Failed('a\0b \ud800', fault, {'n': 1})),
        )
        self.assertEqual(Skipped('a?'), validated(Skipped('a\0')))

    def test_a_fault_must_be_a_fault(self) -> None:
        text: Any = 'boom'
        number: Any = 7
        self.assert_refused(Failed('x', text), 'has a fault that is text')
        self.assert_refused(
            Failed('x', Fault('a', number, 'c', 'd')), 'has a fault that is a Fault'
        )

    def test_delays_must_be_finite_numbers_in_range(self) -> None:
        delays: tuple[tuple[Any, str], ...] = (
            (-1, '-1'),
            (float('inf'), 'inf'),
            (float('nan'), 'nan'),
            (1e12, '1000000000000.0'),
            (None, 'nothing'),
            ('1', 'text'),
            (True, 'true or false'),
        )
        for delay, shown in delays:
            problem = (
                f'has a delay of {shown}; it must be a number of seconds, at least 0'
            )
            self.assert_refused(Retry('x', delay), problem)
            self.assert_refused(InProgress('job', delay), problem)

    def test_a_token_must_be_json(self) -> None:
        self.assert_refused(InProgress(None), 'has no token; poll is called with it')
        self.assert_refused(
            InProgress({'a': {1}}),
            'has a token that is not JSON: a: this is a set, which JSON does not have',
        )

    def test_derived_actions_must_be_valid(self) -> None:
        def derived(*actions: Any) -> Outcome:
            return Derived(actions)

        x = DerivedAction('x', 'nop')
        for outcome, problem in (
            (Derived(()), 'has no actions'),
            (Derived(None), 'has no actions'),  # type: ignore[arg-type]
            (derived(x, 'y'), 'has text instead of a DerivedAction'),
            (derived(x, x), 'has two actions with one key'),
            (
                derived(DerivedAction('y', 'nop', parents=('x',))),
                'has an action y with a parent x that does not exist',
            ),
            (
                derived(x, DerivedAction('y', 'nop', parents=('x', 'x'))),
                'has an action y that names a parent twice',
            ),
            (
                derived(DerivedAction('y', 'nop', parents=('y',))),
                'has actions that wait for each other: y',
            ),
            (
                derived(DerivedAction('', 'nop')),
                'has an action whose key, action_type or parents are not text',
            ),
            (
                derived(DerivedAction('y', None)),  # type: ignore[arg-type]
                'has an action whose key, action_type or parents are not text',
            ),
            (
                derived(DerivedAction('y', 'nop', target=7)),  # type: ignore[arg-type]
                'has an action y whose name, target or lane is not text',
            ),
            (
                derived(DerivedAction('y', 'nop', needs='luck')),
                'has an action y that needs neither success nor completion',
            ),
            (
                derived(DerivedAction('y', 'nop', timeout=-1)),
                'has an action y whose timeout is no number of seconds',
            ),
            (
                derived(DerivedAction('y', 'nop', inputs=[1])),  # type: ignore[arg-type]
                'has an action y whose inputs are not a mapping',
            ),
            (
                derived(DerivedAction('y', 'nop', inputs={'a': b''})),
                'has an action y whose inputs are not JSON: a: this is a bytes, which '
                'JSON does not have',
            ),
        ):
            self.assert_refused(outcome, problem)

    def test_the_graph_of_derived_actions_must_have_no_cycles(self) -> None:
        x = DerivedAction('x', 'nop', parents=('y',))
        y = DerivedAction('y', 'nop')
        self.assertEqual([[1], []], indexed([x, y]))

    def test_json_problem_names_the_invalid_value(self) -> None:
        self.assertIsNone(json_problem({'a': [1, 'ž']}))
        self.assertEqual('this is a set, which JSON does not have', json_problem({1}))
