"""Spec 000: skip actions. One class per paragraph.

`test_skip_actions_messages` covers the messages, `test_skip_actions_api` the REST API,
and `test_skip_actions_impact` the other impacts.
"""

from collections.abc import Sequence
from typing import Any

from tests.specs.skip_case import SkipCase
from tests.worlds import Line, World, action, chain, kind, raises, ran
from watcherlite import exceptions
from watcherlite.states import action as states
from watcherlite.states import action_plan as plan_states

STARTED: list[Line] = [
    ('plan', 'RECOMMENDED', 'PENDING', None),
    ('plan', 'PENDING', 'ONGOING', None),
]
BY_USER = 'Action skipped by user.'


class TestAnAdminExcludesActionsBeforeStartingAPlan(SkipCase):
    """Use case 1: a PENDING action is moved to SKIPPED and not executed."""

    def test_a_skipped_action_is_not_executed_and_the_others_are(self) -> None:
        plan = self.world.create(*chain('a', 'b', 'c', action_type='recorded'))

        self.skip('b')
        self.world.plans.start(plan.uuid)
        self.world.worker()
        ended = self.world.wait_until_ended(plan)

        message = 'One or more actions were skipped. Action b was skipped by user.'
        self.assert_history(
            [
                ('b', 'INIT', 'SKIPPED', BY_USER),
                ('plan', 'RECOMMENDED', 'PENDING', message),
                ('plan', 'PENDING', 'ONGOING', message),
                *ran('a'),
                *ran('c'),
                ('plan', 'ONGOING', 'SUCCEEDED', message),
            ],
            self.world,
            plan,
        )
        self.assertEqual(plan_states.SUCCEEDED, ended.state)
        self.assertEqual(['a', 'c'], self.calls.of('execute'))

    def test_actions_of_a_started_plan_may_be_skipped_until_its_claim(self) -> None:
        plan = self.world.start('a', 'b')

        self.skip('a')
        self.world.worker()
        self.world.wait_until_ended(plan)

        self.assertEqual(
            {'a': states.SKIPPED, 'b': states.SUCCEEDED}, self.world.statuses(plan)
        )
        # The last action, scheduled for later, is skipped while a worker runs.
        plan = self.world.start(action('c', not_before='2999-01-01T00:00:00Z'))
        self.skip('c')
        self.assertEqual(plan_states.SUCCEEDED, self.world.wait_until_ended(plan).state)

    def test_all_actions_of_a_plan_may_be_skipped(self) -> None:
        plan = self.world.create(*chain('a', 'b'))
        self.skip('a')
        self.skip('b')
        self.world.worker()
        self.world.plans.start(plan.uuid)
        self.world.wait_until_ended(plan)
        message = (
            'One or more actions were skipped. Action a was skipped by user. '
            'Action b was skipped by user.'
        )
        self.assert_history(
            [
                ('a', 'INIT', 'SKIPPED', BY_USER),
                ('b', 'INIT', 'SKIPPED', BY_USER),
                ('plan', 'RECOMMENDED', 'PENDING', message),
                ('plan', 'PENDING', 'ONGOING', message),
                ('plan', 'ONGOING', 'SUCCEEDED', message),
            ],
            self.world,
            plan,
        )

    def test_dependents_of_a_skipped_action_wait_only_for_its_parents(self) -> None:
        gate = self.create_gate()
        world = self.create_world({'waits': kind(execute=gate)})
        plan = world.create(
            action('drain', 'waits'),
            action('reboot', parents=['drain']),
            action('check', parents=['reboot']),
            action('enable', parents=['check']),
            *('a', 'b', action('join', parents=['a', 'b'])),
            action('end', parents=['join']),
        )
        # In any order, each action keeps its place in the graph.
        for name in ('check', 'reboot', 'a', 'join'):
            world.plans.skip_action(world.action(name).uuid)
        world.worker()
        world.plans.start(plan.uuid)
        gate.wait_until_entered()
        world.wait_for_action('end', states.SUCCEEDED)

        self.assertEqual(states.INIT, world.action('enable').status)
        self.assertEqual([*ran('b'), *ran('end')], world.history(plan, 'b', 'end'))
        gate.open()
        world.wait_until_ended(plan)
        held = ('drain', 'reboot', 'check', 'enable')
        self.assertEqual(
            [*ran('drain'), *ran('enable')], world.history(plan, *held)[2:]
        )


class TestAPreConditionDetectsThatAnActionShouldNotBeApplied(SkipCase):
    """Use case 2: ActionSkipException from pre_condition means SKIPPED."""

    def test_the_exception_skips_and_its_message_becomes_the_status_message(
        self,
    ) -> None:
        """Also by the name that shipped plugins import, and as a return value."""
        plan = self.world.run(
            action('a', 'gone'),
            action('b', 'old_name', parents=['a']),
            action('c', 'says_skipped', parents=['b']),
            action('d', parents=['c']),
        )
        skipped = 'Action was skipped automatically: '
        self.assert_history(
            [
                ('a', 'READY', 'SKIPPED', f'{skipped}the instance does not exist'),
                ('b', 'READY', 'SKIPPED', f'{skipped}gone as well'),
                ('c', 'READY', 'SKIPPED', f'{skipped}no longer there'),
                *ran('d'),
            ],
            self.world,
            plan,
            *'abcd',
        )
        # Neither execute nor post_condition is called.
        self.assertEqual([('a', 'pre_condition')], self.calls.made)
        ended = self.world.action('a')
        self.assertEqual(
            (f'{skipped}the instance does not exist', None, None),
            (ended.status_message, ended.start_time, ended.owner),
        )
        self.assertIsNotNone(ended.end_time)
        # SKIPPED is final.
        for signal in sorted(states.SIGNALS):
            self.assertRaises(
                exceptions.Conflict, self.world.plans.signal_action, ended.uuid, signal
            )
        self.assertEqual(1, len(self.world.history(plan, 'a')))


class TestTransitionsFromPending(SkipCase):
    """PENDING to SKIPPED, PENDING to FAILED, and what ONGOING implies."""

    def test_any_other_error_in_pre_condition_fails_before_ongoing(self) -> None:
        plan = self.world.run(action('a', 'unchecked'), action('b', parents=['a']))
        self.assert_history(
            [
                *STARTED,
                ('a', 'READY', 'FAILED', 'Action failed in pre_condition: KeyError'),
                *ran('b'),
                ('plan', 'ONGOING', 'FAILED', 'An action failed: KeyError'),
            ],
            self.world,
            plan,
        )
        self.assertEqual([('a', 'pre_condition')], self.calls.made)

    def test_ongoing_implies_that_pre_condition_finished(self) -> None:
        at_execute: list[Any] = []
        world = self.create_world(
            {
                'checked': kind(
                    pre_condition=lambda context: at_execute.append(
                        ('pre_condition', world.action('a').state)
                    ),
                    execute=lambda context: (
                        at_execute.append(('execute', world.action('a').state)) or True
                    ),
                )
            }
        )
        world.run(action('a', 'checked'))
        self.assertEqual(
            [('pre_condition', 'PENDING'), ('execute', 'ONGOING')], at_execute
        )


class TestSkippedActionsDoNotAffectTheFinalStateOfThePlan(SkipCase):
    """A plan is FAILED only if actions are FAILED at its end."""

    def final(self, *actions: Any, skipped: Sequence[str] = (), **plan: Any) -> str:
        created = self.world.create(*actions, **plan)
        for name in skipped:
            self.skip(name)
        if not self.world.workers:
            self.world.worker()
        self.world.plans.start(created.uuid)
        return self.world.wait_until_ended(created).state

    def test_only_failed_actions_fail_or_stop_the_plan(self) -> None:
        gone, fails = action('b', 'gone'), action('b', 'fails')
        after = action('c', parents=['b'])
        for expected, actions, skipped, on_failure in (
            ('SUCCEEDED', ('a',), ['a'], 'continue'),
            ('SUCCEEDED', (gone,), [], 'continue'),
            ('SUCCEEDED', ('a', 'b'), ['a'], 'continue'),
            ('FAILED', ('a', fails), ['a'], 'continue'),
            ('SUCCEEDED', (gone, after), [], 'stop'),
            ('SUCCEEDED', (gone, after), [], 'rollback'),
        ):
            self.assertEqual(
                expected, self.final(*actions, skipped=skipped, on_failure=on_failure)
            )

    def test_a_skipped_action_is_not_reverted(self) -> None:
        state = self.final(
            action('a', 'recorded'),
            action('b', 'recorded', parents=['a']),
            action('c', 'gone', parents=['b']),
            action('d', 'fails', parents=['c']),
            skipped=['b'],
            on_failure='rollback',
        )
        self.assertEqual('FAILED', state)
        self.assertEqual(['revert a'], self.calls.of('revert'))


class TestCancelledIsForOtherCases(SkipCase):
    """CANCELLED keeps its meaning; a cancellation does not change SKIPPED actions."""

    def test_cancelling_a_plan_leaves_skipped_actions_as_they_are(self) -> None:
        plan = self.world.create(*chain('a', 'b', 'c'))
        self.skip('b', 'not now')
        self.world.plans.cancel(plan.uuid)
        message = 'Action was cancelled before it started.'
        skipped = 'One or more actions were skipped. Action b was skipped by user.'
        cancelled = f'Action plan was cancelled. {skipped}'
        self.assert_history(
            [
                ('b', 'INIT', 'SKIPPED', 'Action skipped by user. Reason: not now'),
                ('a', 'INIT', 'CANCELLED', message),
                ('c', 'INIT', 'CANCELLED', message),
                ('plan', 'RECOMMENDED', 'CANCELLED', cancelled),
            ],
            self.world,
            plan,
        )

    def test_skipped_is_reserved_for_actions_that_never_ran(self) -> None:
        world: World = self.create_world(
            {
                'late': kind(
                    execute=raises(exceptions.ActionSkipException('too late'))
                ),
                'later': kind(
                    post_condition=raises(
                        exceptions.ActionSkipException('far too late')
                    )
                ),
            }
        )
        plan = world.run(action('a', 'late'), action('b', 'later', parents=['a']))
        self.assertEqual(
            [
                *ran(
                    'a',
                    'FAILED',
                    'Action failed in execute: execute returned Skipped (too late), '
                    'which only pre_condition may',
                ),
                *ran(
                    'b',
                    'FAILED',
                    'Action failed in post_condition: post_condition returned Skipped '
                    '(far too late), which only pre_condition may',
                ),
            ],
            world.history(plan, 'a', 'b'),
        )
