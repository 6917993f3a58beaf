"""Contract of the store: the commit of a chain step."""

import dataclasses

from tests.contract.store_case import StoreCase
from tests.factories import at, make_action, make_event, new_uuid, store_plan
from watcherlite.db.api import ChainStep
from watcherlite.domain.actions import Action, ActionChange
from watcherlite.states import action as states
from watcherlite.states import action_plan as plan_states


class StoreChainCommitContract(StoreCase):
    """A step is written completely or not at all."""

    def make_step(self) -> None:
        """Store a chain of three whose first action runs; return its next step."""
        self.worker = new_uuid()
        first = make_action(name='first')
        second = make_action(name='second', parents=(first.uuid,))
        third = make_action(name='third', parents=(second.uuid,))
        self.plan, (first, second, self.third) = store_plan(
            self.store, first, second, third, active=1
        )
        (first,) = self.claim(self.worker, plan_id=self.plan.id)
        running = self.started(first)
        self.commit(lambda tx: tx.change_actions([ActionChange(first, running)]))
        ended = running.evolve(
            status=states.SUCCEEDED,
            owner=None,
            end_time=at(3),
            outputs={'text': 'é \' " \\ %s :x'},
            updated_at=at(3),
        )
        taken = second.evolve(owner=self.worker, attempt=1, pending=0)
        self.child = second
        after = self.plan.evolve(unfinished=2, updated_at=at(3))
        self.step = ChainStep(
            (self.plan, after),
            ActionChange(running, ended),
            ActionChange(second, self.started(taken)),
            [
                make_event(ended, old_status=states.RUNNING, occurred_at=at(3)),
                make_event(self.started(taken), occurred_at=at(3)),
            ],
        )

    def started(self, action: Action) -> Action:
        return action.evolve(
            status=states.RUNNING, start_time=at(2), data={'k': 1}, updated_at=at(2)
        )

    def stored_rows(self) -> object:
        """Return the rows that a step can change."""
        return (
            self.store.get_plan(self.plan.uuid),
            self.store.list_actions(),
            [stored.event for stored in self.store.list_events()],
        )

    def assert_refused(self, step: ChainStep) -> None:
        before = self.stored_rows()
        self.assertFalse(self.store.commit_chain_step(step))
        self.assertEqual(before, self.stored_rows())

    def test_all_changes_of_a_step_are_stored_and_the_next_action_starts(self) -> None:
        self.make_step()
        self.assertTrue(self.store.commit_chain_step(self.step))
        running, events = self.step.started.after, list(self.step.events)
        self.assertEqual(
            (self.step.plan[1], [self.step.ended.after, running, self.third], events),
            self.stored_rows(),
        )
        self.assertEqual(
            events, [stored.event for stored in self.store.pending_events(10)]
        )
        self.changed(running, status=states.SUCCEEDED, owner=None)
        self.commit(
            lambda tx: tx.release_dependents([running.id], started=True, now=at(4))
        )
        (claimed,) = self.claim(self.worker, plan_id=self.plan.id)
        self.assertEqual('third', claimed.name)

    def test_a_step_is_not_written_twice(self) -> None:
        self.make_step()
        self.assertTrue(self.store.commit_chain_step(self.step))
        again = [make_event(self.step.ended.after), make_event(self.child)]
        self.assert_refused(dataclasses.replace(self.step, events=again))

    def test_a_step_is_refused_when_the_plan_has_changed(self) -> None:
        self.make_step()
        for change in (
            {'state': plan_states.CANCELLING},
            {'stage': 'stopping'},
            {'status_message': 'edited'},
            {'unfinished': 7},
            {'active': 7},
            {'failed': 7},
            {'skipped': 7},
            {'total': 7},
            {'updated_at': at(99)},
            {'deleted_at': at(99)},
        ):
            before, after = self.step.plan
            step = dataclasses.replace(self.step, plan=(before.evolve(**change), after))
            self.assert_refused(step)

    def test_a_step_is_refused_when_the_ended_action_was_lost(self) -> None:
        self.make_step()
        ended = self.step.ended
        changes = (
            {'status': states.SUSPENDED},
            {'owner': new_uuid()},
            {'owner': None},
            {'attempt': 2},
        )
        others = [ended.before.evolve(**change) for change in changes]
        for before in (*others, ended.before.stored(0)):
            step = dataclasses.replace(
                self.step, ended=ActionChange(before, ended.after)
            )
            self.assert_refused(step)

    def test_a_step_is_refused_when_the_dependent_has_changed(self) -> None:
        self.make_step()
        for change in (
            {'status': states.SKIPPED},
            {'owner': new_uuid()},
            {'attempt': 3},
        ):
            child = self.store.get_action(self.child.uuid)
            changed = self.changed(child, **change)
            self.assert_refused(self.step)
            self.changed(
                changed, status=child.status, owner=child.owner, attempt=child.attempt
            )
        self.assertTrue(self.store.commit_chain_step(self.step))

    def test_a_step_is_refused_when_the_dependent_has_another_parent(self) -> None:
        self.make_step()
        self.commit(lambda tx: tx.add_pending(self.child.id, 1))
        self.assert_refused(self.step)

    def test_one_of_two_concurrent_steps_is_written(self) -> None:
        self.make_step()
        other = dataclasses.replace(
            self.step, events=[make_event(self.child), make_event(self.child)]
        )
        self.assertEqual(
            [False, True],
            sorted(
                self.run_concurrently(
                    lambda: self.store.commit_chain_step(self.step),
                    lambda: self.store.commit_chain_step(other),
                )
            ),
        )
        self.assertEqual(2, len(self.store.list_events()))
