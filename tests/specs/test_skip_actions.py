"""Spec 000: skip actions. One class per paragraph of it.

What it says about messages is in `test_skip_actions_messages`, what REST clients see
in `test_skip_actions_api`, and the rest of its impact in `test_skip_actions_impact`.
"""

from collections.abc import Sequence
from typing import Any

from tests.factories import all_plans
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

    def test_what_was_skipped_is_not_executed_and_the_rest_is(self) -> None:
        plan = self.world.create(*chain('a', 'b', 'c', action_type='told'))

        self.skip('b')
        self.world.plans.start(plan.uuid)
        self.world.worker()
        ended = self.world.until_ended(plan)

        message = 'One or more actions were skipped. Action b was skipped by user.'
        self.assert_story(
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

    def test_a_started_plan_may_be_skipped_in_until_a_worker_takes_it(self) -> None:
        plan = self.world.start('a', 'b')

        self.skip('a')
        self.world.worker()
        self.world.until_ended(plan)

        self.assertEqual(
            {'a': states.SKIPPED, 'b': states.SUCCEEDED}, self.world.statuses(plan)
        )

    def test_all_actions_of_a_plan_may_be_skipped(self) -> None:
        plan = self.world.create(*chain('a', 'b'))
        self.skip('a')
        self.skip('b')
        self.world.worker()
        self.world.plans.start(plan.uuid)
        self.world.until_ended(plan)
        message = (
            'One or more actions were skipped. Action a was skipped by user. '
            'Action b was skipped by user.'
        )
        self.assert_story(
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

    def test_the_last_action_of_a_plan_that_waits_to_be_due_may_be_skipped(
        self,
    ) -> None:
        self.world.worker()
        later = '2999-01-01T00:00:00Z'
        plan = self.world.start(action('a', not_before=later))
        self.skip('a')
        self.assertEqual(plan_states.SUCCEEDED, self.world.until_ended(plan).state)

    def test_what_follows_a_skipped_action_still_waits_for_what_came_before_it(
        self,
    ) -> None:
        gate = self.a_gate()
        world = self.a_world({'waits': kind(execute=gate)})
        plan = world.create(
            action('drain', 'waits'),
            action('reboot', parents=['drain']),
            action('check', parents=['reboot']),
            action('enable', parents=['check']),
        )
        # In any order: each holds its place.
        for name in ('check', 'reboot'):
            world.plans.skip_action(world.action(name).uuid)
        world.worker()
        world.plans.start(plan.uuid)
        gate.until_entered()
        world.run('another plan')

        self.assertEqual(states.INIT, world.action('enable').status)
        gate.open()
        world.until_ended(plan)
        self.assertEqual([*ran('drain'), *ran('enable')], world.story(plan)[-5:-1])

    def test_a_skipped_action_blocks_nobody(self) -> None:
        self.world.create(
            action('a'),
            action('b'),
            action('join', parents=['a', 'b']),
            action('end', parents=['join']),
        )
        self.skip('a')
        self.skip('join')
        plan = all_plans(self.world.store)[0]
        self.world.worker()
        self.world.plans.start(plan.uuid)
        self.world.until_ended(plan)
        story = self.world.story(plan, 'b', 'end')
        self.assertEqual([*ran('b'), *ran('end')], story)


class TestAPreConditionDetectsThatAnActionShouldNotBeApplied(SkipCase):
    """Use case 2: ActionSkipException from pre_condition means SKIPPED."""

    def test_the_exception_skips_and_its_message_becomes_the_status_message(
        self,
    ) -> None:
        plan = self.world.run(action('a', 'gone'), action('b', parents=['a']))
        message = 'Action was skipped automatically: the instance does not exist'
        self.assert_story(
            [('a', 'READY', 'SKIPPED', message), *ran('b')], self.world, plan, 'a', 'b'
        )
        self.assertEqual(message, self.world.action('a').status_message)

    def test_execute_and_post_condition_are_not_called(self) -> None:
        self.world.run(action('a', 'gone'))
        self.assertEqual([('a', 'pre_condition')], self.calls.made)

    def test_the_name_that_shipped_plugins_import_and_the_value_do_the_same(
        self,
    ) -> None:
        plan = self.world.run(action('a', 'old_name'), action('b', 'says_skipped'))
        self.assertEqual(
            [
                (
                    'a',
                    'READY',
                    'SKIPPED',
                    'Action was skipped automatically: gone as well',
                ),
                (
                    'b',
                    'READY',
                    'SKIPPED',
                    'Action was skipped automatically: no longer there',
                ),
            ],
            sorted(self.world.story(plan, 'a', 'b'), key=str),
        )

    def test_it_has_no_start_and_an_end(self) -> None:
        self.world.run(action('a', 'gone'))
        skipped = self.world.action('a')
        self.assertIsNone(skipped.start_time)
        self.assertIsNotNone(skipped.end_time)
        self.assertIsNone(skipped.owner)


class TestTransitionsFromPending(SkipCase):
    """PENDING to SKIPPED, PENDING to FAILED, and what ONGOING implies."""

    def test_any_other_error_in_pre_condition_fails_before_ongoing(self) -> None:
        plan = self.world.run(action('a', 'unchecked'), action('b', parents=['a']))
        self.assert_story(
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
        world = self.a_world(
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

    def test_skipped_is_final(self) -> None:
        plan = self.world.run(action('a', 'gone'))
        action_uuid = self.world.action('a').uuid
        for signal in sorted(states.SIGNALS):
            self.assertRaises(
                exceptions.Conflict, self.world.plans.signal_action, action_uuid, signal
            )
        self.assertEqual(1, len(self.world.story(plan, 'a')))


class TestSkippedActionsDoNotAffectTheFinalStateOfThePlan(SkipCase):
    """A plan is FAILED only when actions are FAILED at its end."""

    def final(self, *actions: Any, skipped: Sequence[str] = (), **plan: Any) -> str:
        created = self.world.create(*actions, **plan)
        for name in skipped:
            self.skip(name)
        if not self.world.workers:
            self.world.worker()
        self.world.plans.start(created.uuid)
        return self.world.until_ended(created).state

    def test_with_skipped_actions_only_it_is_succeeded(self) -> None:
        self.assertEqual('SUCCEEDED', self.final('a', skipped=['a']))
        self.assertEqual('SUCCEEDED', self.final(action('b', 'gone')))

    def test_with_skipped_and_succeeded_ones_it_is_succeeded(self) -> None:
        self.assertEqual('SUCCEEDED', self.final('a', 'b', skipped=['a']))

    def test_with_skipped_and_failed_ones_it_is_failed(self) -> None:
        self.assertEqual('FAILED', self.final('a', action('b', 'fails'), skipped=['a']))

    def test_a_skip_does_not_stop_a_plan_that_stops_at_failures(self) -> None:
        for on_failure in ('stop', 'rollback'):
            self.assertEqual(
                'SUCCEEDED',
                self.final(
                    action('a', 'gone'),
                    action('b', parents=['a']),
                    on_failure=on_failure,
                ),
            )

    def test_a_skipped_action_is_not_reverted(self) -> None:
        state = self.final(
            action('a', 'told'),
            action('b', 'told', parents=['a']),
            action('c', 'gone', parents=['b']),
            action('d', 'fails', parents=['c']),
            skipped=['b'],
            on_failure='rollback',
        )
        self.assertEqual('FAILED', state)
        self.assertEqual(['revert a'], self.calls.of('revert'))


class TestCancelledIsForOtherCases(SkipCase):
    """CANCELLED stays what it was; SKIPPED ones are left alone by it."""

    def test_cancelling_a_plan_leaves_skipped_actions_as_they_are(self) -> None:
        plan = self.world.create(*chain('a', 'b', 'c'))
        self.skip('b', 'not now')
        self.world.plans.cancel(plan.uuid)
        message = 'Action was cancelled before it started.'
        skipped = 'One or more actions were skipped. Action b was skipped by user.'
        cancelled = f'Action plan was cancelled. {skipped}'
        self.assert_story(
            [
                ('b', 'INIT', 'SKIPPED', 'Action skipped by user. Reason: not now'),
                ('a', 'INIT', 'CANCELLED', message),
                ('c', 'INIT', 'CANCELLED', message),
                ('plan', 'RECOMMENDED', 'CANCELLED', cancelled),
            ],
            self.world,
            plan,
        )

    def test_skipped_is_reserved_for_what_never_ran(self) -> None:
        world: World = self.a_world(
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
            world.story(plan, 'a', 'b'),
        )
