"""Chain commits, which have the same effects as transactions."""

from tests import factories
from tests.unit.execution.attempts import Commit, make_attempt
from tests.unit.execution.test_committer import AWAY, DONE, CommitterCase
from watcherlite.domain import outcomes
from watcherlite.execution import results
from watcherlite.execution.results import Conclusion
from watcherlite.states import action as states
from watcherlite.states import action_plan as plan_states
from watcherlite.testing.memory_store import MemoryStore

FAILED = outcomes.Failed('no')


class ChainStore(MemoryStore):
    """Writes steps as PostgreSQL does, but in a transaction."""

    def commit_chain_step(self, step):
        before, after = step.plan
        parent, child = step.ended.before, step.started.after
        with self.transaction() as tx:
            plan = tx.lock_plans([before.id]).get(before.id)
            found = self.actions_by_id([child.id]).get(child.id)
            if (
                plan != before
                or found is None
                or (found.pending, found.attempt) != (1, child.attempt - 1)
                or found.owner is not None
                or found.status not in (states.INIT, states.WAITING)
                or not tx.change_actions([step.ended])
            ):
                return False
            tx.release_dependents(
                [parent.id],
                started=True,
                handovers={child.id: child},
                now=factories.NOW,
            )
            tx.save_plans([after])
            tx.add_events(step.events)
        return True


class ChainCase(CommitterCase):
    """A plan with a chain of five actions, whose first one this worker executes."""

    def make_store(self):
        return ChainStore(self.clock)

    def build(self):
        super().build()
        actions = [factories.make_action(name='a')]
        for name in 'bcde':
            parent = actions[-1].uuid
            actions.append(factories.make_action(name=name, parents=(parent,)))
        self.plan, self.actions = factories.store_plan(self.store, *actions, active=1)
        with self.store.transaction() as tx:
            tx.claim(worker='me', limit=1, now=factories.NOW, plan_id=self.plan.id)
        self.attempt = make_attempt(self.store.get_action(actions[0].uuid))
        self.write(Conclusion(results.start(self.attempt.action, self.clock.now())))

    def write(self, conclusion, handover=None):
        """Write a conclusion of the attempt."""
        item = Commit(self.attempt, conclusion, self.on_settled, handover)
        self.settled.clear()
        self.queue.submit(item)
        self.commit(1)
        return item

    def step(self, outcome=DONE):
        """End the running action and start the next; return whether it started."""
        ended = results.conclude(
            self.attempt.action, outcome, results.EXECUTE, self.clock.now()
        )
        names = [action.name for action in self.actions]
        following = names.index(self.attempt.action.name) + 1
        if following == len(names):
            return self.write(ended).handed_over
        taken = self.actions[following].evolve(
            status=states.READY, owner='me', attempt=1, pending=0
        )
        child = make_attempt(taken)
        start = Conclusion(results.start(taken, self.clock.now()))
        handed_over = self.write(ended, (child, start)).handed_over
        if handed_over:
            child.action = start.action
            self.attempt = child
        return handed_over

    def stored_plan(self):
        return self.store.get_plan(self.plan.uuid)

    def history(self):
        """Return all changes of state, and the state and counters of the plan."""
        names = {action.id: action.name for action in self.actions}
        plan = self.stored_plan()
        return (
            [
                (names.get(e.event.action_id, 'plan'), e.event.new_status)
                for e in self.store.pending_events(100)
            ],
            (plan.state, plan.unfinished, plan.active, plan.failed),
        )


WHOLE = (
    [
        ('a', 'RUNNING'),
        ('a', 'SUCCEEDED'),
        ('b', 'RUNNING'),
        ('b', 'SUCCEEDED'),
        ('c', 'RUNNING'),
        ('c', 'SUCCEEDED'),
        ('d', 'RUNNING'),
        ('d', 'SUCCEEDED'),
        ('e', 'RUNNING'),
        ('e', 'SUCCEEDED'),
        ('plan', 'SUCCEEDED'),
    ],
    ('SUCCEEDED', 0, 0, 0),
)


class TestChains(ChainCase):
    def test_a_chain_of_an_exclusive_plan_needs_no_transactions(self):
        self.assertEqual([True] * 4 + [False], [self.step() for _ in 'abcde'])

        # The start; the first end, which verifies the plan; the last end.
        self.assertEqual(([1, 1, 1], [True] * 3), (self.fragile.sizes, self.steps()))
        self.assertEqual(WHOLE, self.history())

    def test_a_store_without_links_has_the_same_result(self):
        self.fragile.has_chain_commit = False
        for _ in 'abcde':
            self.step()

        self.assertEqual(([1] * 6, []), (self.fragile.sizes, self.steps()))
        self.assertEqual(WHOLE, self.history())

    def steps(self):
        return self.fragile.steps

    def test_a_changed_plan_falls_back_to_a_transaction(self):
        self.step()
        self.change_plan(status_message='edited by a user')
        self.assertTrue(self.step())

        self.assertEqual([False], self.steps())
        self.assertEqual('edited by a user', self.stored_plan().status_message)
        self.step()
        self.step()
        self.step()
        self.assertEqual([False, True], self.steps())
        self.assertEqual(WHOLE, self.history())

    def test_a_cancelled_plan_starts_no_dependent(self):
        self.step()
        self.change_plan(state=plan_states.CANCELLING)

        self.assertFalse(self.step())
        self.assertEqual(
            (WHOLE[0][:4], (plan_states.CANCELLING, 3, 0, 0)), self.history()
        )

    def test_a_failure_is_counted_and_the_chain_continues(self):
        self.step()
        self.assertTrue(self.step(FAILED))

        self.assertEqual([True], self.steps())
        self.assertEqual(
            (('ONGOING', 3, 1, 1), 'no'),
            (self.history()[1], self.stored_plan().fault['message']),
        )

    def test_a_link_is_recognized_by_its_events_or_written_again(self):
        for before, after, steps, asked in (
            ([], [AWAY], [AWAY], [True]),
            ([AWAY], [], [AWAY, True], [False]),
        ):
            self.build()
            self.step()
            self.fragile.before, self.fragile.after = before, after
            self.assertTrue(self.step())

            self.assertEqual((steps, asked), (self.steps(), self.fragile.asked))
            self.assertEqual([('b', True)], self.settled)
            for _ in 'cde':
                self.step()
            self.assertEqual(WHOLE, self.history())

    def change_plan(self, **values):
        """Change the plan as another worker would."""
        with self.store.transaction() as tx:
            plan = tx.lock_plans([self.plan.id])[self.plan.id]
            tx.save_plans([plan.evolve(**values)])
