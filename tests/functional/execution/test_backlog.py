"""Claimed actions without a free thread."""

from tests.factories import all_plans, make_action, store_actions
from tests.functional.execution.test_dispatcher import DispatcherCase
from tests.worlds import kind
from watcherlite.domain.outcomes import Done, InProgress


class ReleaseTest(DispatcherCase):
    def setUp(self) -> None:
        super().setUp()
        self.gate = self.create_gate()

    def fill_queue(self, **types: type) -> None:
        """Run short actions first, so that the dispatcher claims many at once."""
        self.build({'waits': kind(execute=self.gate), **types}, max_parallel=1)
        self.create_plan(*(make_action(name=f'short {n}') for n in range(100)))
        self.wait_for_status('short 99', 'SUCCEEDED')

    def test_unstarted_actions_are_released_and_hinted(self) -> None:
        self.fill_queue()
        actions = [make_action(name=f'a{n}', action_type='waits') for n in range(6)]
        self.create_plan(*actions)
        for action in actions:
            self.wait_for_status(action.name or '', 'RUNNING')
        self.gate.wait_until_entered()
        self.hinted.clear()
        # Otherwise it would claim them again, since its window is still large.
        self.settings.claim_batch = 1

        self.dispatcher.release_unstarted()

        for name in ('a1', 'a2', 'a3', 'a4', 'a5'):
            self.wait_for_status(name, 'READY')
        self.wait_until(lambda: len(self.dispatcher.owned) == 1)
        found = {a.name: a for a in self.store.list_actions()}
        self.assertEqual(
            [(found[f'a{n}'].owner, found[f'a{n}'].attempt) for n in range(6)],
            [('w', 1)] + [(None, 1)] * 5,
        )
        plan = all_plans(self.store)[-1]
        self.assertEqual((1, 6), (plan.active, plan.unfinished))
        self.wait_until(lambda: ([plan.uuid], []) in self.hinted)
        self.gate.open()
        self.wait_for_status('a5', 'SUCCEEDED')

    def test_an_action_in_progress_is_kept(self) -> None:
        polls = self.create_gate()
        self.fill_queue(
            external=kind(
                execute=lambda context: InProgress(1, 1), poll=lambda *args: polls()
            )
        )
        self.create_plan(make_action(name='external', action_type='external'))
        self.wait_until(lambda: self.store.list_actions()[-1].token is not None)
        self.create_plan(make_action(name='waits', action_type='waits'))
        self.gate.wait_until_entered()

        self.dispatcher.release_unstarted()

        self.assertEqual(2, len(self.dispatcher.owned))

    def test_an_adopted_action_is_kept(self) -> None:
        def has_ended() -> bool:
            self.timers.run_due()
            return self.status('external') != 'RUNNING'

        self.fill_queue(external=kind(poll=lambda context, token: Done()))
        self.create_plan(make_action(name='waits', action_type='waits'))
        self.gate.wait_until_entered()
        (adopted,) = store_actions(
            self.store,
            make_action(
                name='external',
                action_type='external',
                status='RUNNING',
                owner='w',
                token='job',
            ),
        )
        self.dispatcher.adopt(adopted)

        self.dispatcher.release_unstarted()

        self.gate.open()
        self.wait_until(has_ended)
        self.assertEqual('SUCCEEDED', self.status('external'))

    def test_a_drain_releases_unstarted_actions_first(self) -> None:
        self.fill_queue()
        self.create_plan(
            *(make_action(name=f'a{n}', action_type='waits') for n in range(3))
        )
        for name in ('a0', 'a1', 'a2'):
            self.wait_for_status(name, 'RUNNING')
        self.gate.wait_until_entered()

        self.assertFalse(self.dispatcher.drain(0))

        for name in ('a1', 'a2'):
            self.wait_for_status(name, 'READY')
        self.wait_until(lambda: len(self.dispatcher.owned) == 1)
