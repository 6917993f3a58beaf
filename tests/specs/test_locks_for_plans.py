"""Locks on stacks skip actions of plans; plans lock stacks."""

from tests.specs.test_stacks_in_plans import PlanWorldCase
from tests.stack_worlds import TENANT, res
from tests.worlds import action


class TestLocks(PlanWorldCase):
    """`stack_lock` and `stack_unlock`, and the effect of a lock on other actions."""

    def test_a_plan_can_act_under_its_own_lock(self) -> None:
        plan = self.run_plan(
            self.world.do('stack_lock', self.stack, level='stacks'),
            action('work', 'ours', parents=['stack_lock']),
            {**self.world.do('stack_unlock', self.stack), 'parents': ['work']},
        )

        self.assertEqual('SUCCEEDED', plan.state)
        self.assertEqual(
            [
                'LOCK_IN_PROGRESS',
                'LOCK_COMPLETE',
                'UNLOCK_IN_PROGRESS',
                'UNLOCK_COMPLETE',
            ],
            [
                state
                for name, state in self.world.transitions(self.stack)
                if name == 's'
            ][2:],
        )
        # A failed lock is repeated.
        self.world.external.fails.add(('lock', 'a'))
        self.world.act(self.stack, 'LOCK')
        self.world.external.fails.clear()
        self.assertEqual('LOCK_FAILED', self.world.reload(self.stack).state.name)
        self.run_plan(self.world.do('stack_lock', self.stack))
        self.assertEqual('LOCK_COMPLETE', self.world.reload(self.stack).state.name)
        self.assertEqual(2, len(self.world.external.locked))

    def test_an_action_on_a_locked_stack_is_skipped_and_names_the_lock(self) -> None:
        self.world.act(self.stack, 'LOCK', 'stacks')

        plan = self.run_plan(
            self.world.do('stack_update', self.stack),
            self.world.do('stack_check', self.stack),
            self.world.do('resource_mark_unhealthy', self.stack, resource='a'),
            self.world.do('stack_lock', self.stack, level='stacks'),
            action('other', 'ours'),
        )

        self.assertEqual('SUCCEEDED', plan.state)
        skipped = (
            'Action was skipped automatically: Stack s is locked (LOCK_COMPLETE, level '
            'stacks).'
        )
        self.assertEqual(
            {
                **dict.fromkeys(('stack_update', 'stack_check', 'stack_lock'), skipped),
                'resource_mark_unhealthy': skipped,
                'other': None,
            },
            {
                name: self.world.message(name)
                for name in map(str, self.world.statuses())
                if name not in ('s', 'a', 'b')
            },
        )
        self.assertEqual('LOCK_COMPLETE', self.world.reload(self.stack).state.name)
        # A lock with another level is not skipped.
        self.run_plan(self.world.do('stack_lock', self.stack))

        self.assertEqual('all', self.world.reload(self.stack).lock_level)
        self.assertEqual(2, len(self.world.external.locked))

    def test_the_lock_of_a_parent_or_nested_stack_is_named(self) -> None:
        stack = self.world.make({'g': res('Group', count=1)}, name='outer')
        inner = self.world.nested(stack, 'g')
        around = (
            f'{inner.name} is locked by the lock of stack outer (LOCK_COMPLETE, level '
            'all), which it is part of.'
        )
        inside = (
            f'{inner.name}, which is part of outer, is locked (LOCK_COMPLETE, level '
            'all).'
        )
        for locked, update, unlock, messages in (
            (stack, inner, inner, [around, around]),
            (inner, stack, self.stack, [inside, 's is not locked (CREATE_COMPLETE).']),
        ):
            self.world.act(locked, 'LOCK')

            self.run_plan(
                self.world.do('stack_update', update),
                self.world.do('stack_unlock', unlock),
            )

            self.assertEqual(
                [
                    f'Action was skipped automatically: Stack {text}'
                    for text in messages
                ],
                [self.world.message(name) for name in ('stack_update', 'stack_unlock')],
            )
            self.world.act(locked, 'UNLOCK')

    def test_a_lock_requested_during_a_wait_fails_the_action(self) -> None:
        self.engine.stop(1.0)
        self.world.workers.remove(self.engine)
        plan = self.world.start(self.world.do('stack_update', self.stack))
        self.world.wait_for_action('stack_update', 'WAITING')

        self.world.stacks.start_operation(self.stack.uuid, TENANT, 'LOCK')
        self.world.worker(lanes=('engine',))

        self.assertEqual('FAILED', self.world.wait_until_ended(plan).state)
        self.assertIn(
            'Stack s already has an action (LOCK) in progress.',
            self.world.message('stack_update') or '',
        )
        stack = self.world.wait_until_settled(self.stack)
        self.assertEqual('LOCK_COMPLETE', stack.state.name)


class TestMaintenance(PlanWorldCase):
    """Actions of any type whose target is in a locked stack are skipped."""

    def run_for_targets(self, *targets: str) -> dict[str, str | None]:
        """Run a plan with an action for each target; return their messages."""
        names = {f'n{at}': target for at, target in enumerate(targets)}
        self.run_plan(*(action(n, 'ours', target=names[n]) for n in names))
        return {target: self.world.message(name) for name, target in names.items()}

    def test_every_action_is_skipped_and_the_lock_named(self) -> None:
        self.world.act(self.stack, 'LOCK')
        uuid = self.stack.uuid

        messages = self.run_for_targets(
            f'stack:{uuid}', f'stack:{uuid}/a', 'stack:s', 'host:one'
        )

        skipped = (
            'Action was skipped automatically: Stack s is locked (LOCK_COMPLETE, '
            'level all).'
        )
        self.assertEqual([skipped, skipped, None, None], list(messages.values()))
        # Without a lock no action is skipped.
        self.world.act(self.stack, 'UNLOCK')
        messages = self.run_for_targets(f'stack:{uuid}', 'stack:gone')
        self.assertEqual([None, None], list(messages.values()))
        # A lock on the parent stack has the same effect.
        stack = self.world.make({'g': res('Group', count=1)}, name='outer')
        self.world.act(stack, 'LOCK', 'stacks')
        inner = self.world.nested(stack, 'g')
        (message,) = self.run_for_targets(f'stack:{inner.uuid}').values()
        self.assertIn('by the lock of stack outer', message or '')
