"""Plan rules, on_failure = rollback: succeeded actions are reverted, last first."""

from typing import Any

from tests.specs.plan_case import PlanCase, outcome
from tests.worlds import action, chain, kind, ran
from watcherlite.domain.outcomes import Failed
from watcherlite.plugins import loader
from watcherlite.states import action as states
from watcherlite.states import action_plan as plan_states

STOPPED = 'Action was not started because another action of its plan failed.'


class TestOnFailureRollback(PlanCase):
    """As `stop`; then the actions that succeeded are reverted, last first."""

    def test_actions_are_reverted_one_after_the_other(self) -> None:
        plan = self.world.run(
            *chain('a', 'b', action_type='does'),
            action('c', 'cannot', parents=['b']),
            action('d', 'fails', parents=['c']),
            action('e', 'does', parents=['d']),
            on_failure='rollback',
        )
        self.assertEqual(
            [
                *ran('d', 'FAILED', 'Action failed in execute: no disk'),
                ('e', self.world.history(plan, 'e')[0][1], 'CANCELLED', STOPPED),
                *ran('revert b'),
                *ran('revert a'),
                ('plan', 'ONGOING', 'FAILED', 'An action failed: no disk'),
            ],
            self.world.history(plan)[8:],
        )
        self.assertEqual(['revert b', 'revert a'], self.calls.of('revert'))
        self.assertEqual('SUCCEEDED', self.world.action('a').status)

    def test_a_revert_receives_the_outputs_of_the_action(self) -> None:
        seen: list[Any] = []
        world = self.create_world(
            {
                'makes': kind(
                    execute=lambda c: ('OK', 'volume 7'),
                    revert=lambda c: seen.append((c.inputs, c.outputs)) or True,
                ),
                'fails': kind(execute=lambda c: False),
            }
        )
        world.run(
            action('a', 'makes', input_parameters={'size': 1}),
            action('b', 'fails', parents=['a']),
            on_failure='rollback',
        )
        self.assertEqual([({'size': 1}, {'reason': 'volume 7'})], seen)

    def test_a_failed_revert_is_reported_and_the_others_continue(self) -> None:
        plan = self.world.run(
            *chain('a', 'b', action_type='sticks'),
            action('d', 'fails', parents=['b']),
            on_failure='rollback',
        )
        message = 'Action failed in revert: rust'
        self.assertEqual(
            [*ran('revert b', 'FAILED', message), *ran('revert a', 'FAILED', message)],
            self.world.history(plan, 'revert a', 'revert b'),
        )
        self.assertEqual(('FAILED', '3 actions failed: no disk'), outcome(plan))

    def test_a_type_that_is_no_longer_installed_is_reported(self) -> None:
        gate = self.create_gate()
        makes, waits = kind(revert=lambda c: True), kind(execute=gate)
        world = self.create_world({'makes': makes, 'gone': makes, 'waits': waits})
        worker = world.worker()
        plan = world.start(
            *chain('a', 'b', action_type='makes'),
            action('c', 'gone', parents=['b']),
            action('d', 'waits', parents=['c']),
            on_failure='rollback',
        )
        gate.wait_until_entered()
        world.kill(worker)
        world.types = loader.Plugins.of(action_types={'makes': makes, 'waits': waits})
        world.worker()
        gate.open()
        ended = world.wait_until_ended(plan)
        missing = (
            'Action failed in pre_condition: There is no action type gone. Installed: '
            'makes, waits.'
        )
        unknown = (
            'Outcome unknown: worker UUID was lost while the action ran, and its type '
            'cannot tell whether it took effect.'
        )
        self.assertEqual(
            [
                ('d', 'RUNNING', 'FAILED', unknown),
                ('revert c', 'READY', 'FAILED', missing),
                *ran('revert b'),
                *ran('revert a'),
                ('plan', 'ONGOING', 'FAILED', f'2 actions failed: {unknown}'),
            ],
            world.history(plan)[-7:],
        )
        self.assertEqual('FAILED', ended.state)

    def test_a_rollback_waits_for_running_actions(self) -> None:
        self.world.worker()
        plan = self.world.start(
            action('runs', 'waits'), action('fails', 'fails'), on_failure='rollback'
        )
        self.gate.wait_until_entered()
        self.world.wait_for_action('fails', states.FAILED)
        self.assertEqual([], self.calls.of('revert'))
        self.gate.open()
        self.world.wait_until_ended(plan)
        self.assertEqual(['revert runs'], self.calls.of('revert'))

    def test_a_plan_with_nothing_to_revert_ends(self) -> None:
        plan = self.world.run(action('a', 'fails'), on_failure='rollback')
        self.assertEqual(('FAILED', 'An action failed: no disk'), outcome(plan))

    def test_a_cancel_ends_a_rollback_half_way(self) -> None:
        gate = self.create_gate()
        world = self.create_world(
            {
                'does': kind(revert=gate),
                'fails': kind(execute=lambda c: Failed('no disk')),
            }
        )
        world.worker()
        plan = world.start(
            *chain('a', 'b', action_type='does'),
            action('c', 'fails', parents=['b']),
            on_failure='rollback',
        )
        gate.wait_until_entered()
        world.plans.cancel(plan.uuid)
        world.wait_for_action('revert a', states.CANCELLED)
        gate.open()
        self.assertEqual(plan_states.CANCELLED, world.wait_until_ended(plan).state)
        self.assertEqual(
            {
                'a': 'SUCCEEDED',
                'b': 'SUCCEEDED',
                'c': 'FAILED',
                'revert b': 'SUCCEEDED',
                'revert a': 'CANCELLED',
            },
            world.statuses(plan),
        )

    def reverts_when_a_worker_is_lost(self, on_worker_loss: str) -> list[str]:
        gate = self.create_gate()
        reverts: list[str] = []

        def revert(context: Any) -> bool:
            reverts.append(context.name)
            return bool(gate()) if context.attempt == 1 else True

        world = self.create_world(
            {
                'does': kind(revert=revert, idempotent=True),
                'fails': kind(execute=lambda c: Failed('no disk')),
            },
            on_worker_loss,
        )
        worker = world.worker()
        plan = world.start(
            *chain('a', 'b', action_type='does'),
            action('c', 'fails', parents=['b']),
            on_failure='rollback',
        )
        gate.wait_until_entered()
        world.kill(worker)
        gate.open()
        world.worker()
        self.assertEqual(plan_states.FAILED, world.wait_until_ended(plan).state)
        return reverts

    def test_a_rollback_continues_on_another_worker(self) -> None:
        for on_worker_loss in ('resume', 'fail'):
            self.assertEqual(
                ['revert b', 'revert b', 'revert a'],
                self.reverts_when_a_worker_is_lost(on_worker_loss),
            )
