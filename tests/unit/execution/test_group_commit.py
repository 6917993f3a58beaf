"""The group commit: one transaction of a worker."""

from collections.abc import Collection, Sequence
from typing import Any

from tests import base
from tests.factories import all_plans, at, make_action, store_actions, store_plan
from tests.unit.execution.attempts import Commit, make_attempt
from watcherlite.applier.progress import PlanProgress
from watcherlite.domain import outcomes
from watcherlite.domain.action_plans import ActionPlan
from watcherlite.domain.actions import Action, ActionChange
from watcherlite.domain.outcomes import Derived, DerivedAction, Done, Failed
from watcherlite.execution import results
from watcherlite.execution.group_commit import (
    ClaimRequest,
    CommitResult,
    GroupCommit,
    PendingCommit,
)
from watcherlite.execution.in_flight import Attempt
from watcherlite.execution.results import Conclusion
from watcherlite.states import action as states
from watcherlite.testing.memory_store import MemoryStore


class FakeClaims:
    """A claim source that prefetches the dependents of all started actions."""

    def claim_requests(self) -> Sequence[Any]:
        return ()

    def prefetch_roots(self, started: Sequence[Action]) -> tuple[list[int], int]:
        return [a.id for a in started], 2

    def retry_plans(self, plan_ids: Collection[int]) -> None:
        raise AssertionError('the committer calls this, not the group commit')

    def result(self, batch: CommitResult) -> None:
        raise AssertionError('the committer calls this, not the group commit')


class GroupCase(base.TestCase):
    """A plan whose actions worker 'w' executes."""

    def setUp(self) -> None:
        super().setUp()
        self.store = MemoryStore()
        self.addCleanup(self.store.close)
        self.group = GroupCommit('w', PlanProgress(), claims=FakeClaims())

    def create_plan(
        self, *names: str, after: str | None = None, **plan: Any
    ) -> ActionPlan:
        """Store a plan; `after`: the name of the first action, which others follow."""
        actions = [make_action(name=name) for name in names]
        parent = actions[0].uuid
        stored, _ = store_plan(
            self.store,
            *(
                a.evolve(parents=(parent,)) if after and a.uuid != parent else a
                for a in actions
            ),
            **plan,
        )
        self.plan_id = stored.id
        return stored

    def action(self, name: str) -> Action:
        found = [a for a in self.store.list_actions() if a.name == name]
        return found[-1]

    def fill(self, *items: PendingCommit, claim: int = 0) -> CommitResult:
        result = CommitResult(at(1))
        claim_requests = [ClaimRequest(self.plan_id, None, claim)] if claim else []
        with self.store.transaction() as tx:
            self.group.write(tx, result, list(items), claim_requests)
        for item, applied in result.outcomes:
            item.on_written(applied)
        return result

    def claim(self, limit: int) -> list[Attempt]:
        """Claim actions; return their attempts."""
        result = self.fill(claim=limit)
        return [make_attempt(action) for action in result.claims[0].actions]

    def start(self, attempt: Attempt) -> PendingCommit:
        return self.item(attempt, Conclusion(results.start(attempt.action, at(1))))

    def end(
        self, attempt: Attempt, outcome: outcomes.Outcome, *handover: Any
    ) -> PendingCommit:
        done = results.conclude(attempt.action, outcome, results.EXECUTE, at(1))
        return self.item(attempt, done, handover or None)

    def item(
        self, attempt: Attempt, conclusion: Conclusion, handover: Any = None
    ) -> PendingCommit:
        return Commit(attempt, conclusion, handover=handover)

    def running(self, *names: str) -> list[Attempt]:
        """Claim and start these actions."""
        attempts = self.claim(len(names) or 1)
        self.fill(*(self.start(attempt) for attempt in attempts))
        return attempts

    def handed(self, name: str) -> tuple[Attempt, Conclusion]:
        child = self.action(name)
        attempt = make_attempt(
            child.evolve(status=states.READY, owner='w', attempt=1, pending=0)
        )
        return attempt, Conclusion(results.start(attempt.action, at(1)))

    def plan(self) -> ActionPlan:
        return all_plans(self.store)[-1]

    def changes_of(self, result: CommitResult) -> list[tuple[Any, Any, Any]]:
        names = {a.id: a.name for a in self.store.list_actions()}
        return [
            (names.get(e.action_id, 'plan'), e.old_status, e.new_status)
            for e in result.events
        ]


class ChangesTest(GroupCase):
    """States, counters and events."""

    def test_the_first_claim_makes_the_plan_ongoing(self) -> None:
        self.create_plan('a', 'b', state='PENDING')
        result = self.fill(claim=5)
        self.assertEqual([('plan', 'PENDING', 'ONGOING')], self.changes_of(result))
        self.assertEqual(('ONGOING', 2), (self.plan().state, self.plan().active))
        (claimed,) = result.claims
        self.assertEqual((2, False), (len(claimed.actions), claimed.more))
        self.assertEqual([], self.changes_of(self.fill(claim=5)))

    def test_a_plan_whose_first_actions_are_blocked_is_ongoing(self) -> None:
        with self.store.transaction() as tx:
            tx.acquire_locks({'x': 10**6})
        plan, _ = store_plan(
            self.store, make_action(name='b', target='x'), state='PENDING'
        )
        self.plan_id = plan.id
        result = self.fill(claim=5)
        self.assertEqual([('plan', 'PENDING', 'ONGOING')], self.changes_of(result))
        self.assertEqual(('ONGOING', 0), (self.plan().state, self.plan().active))
        self.assertEqual([], self.changes_of(self.fill(claim=5)))

    def test_an_item_of_an_older_attempt_does_not_shadow_the_current_one(self) -> None:
        self.create_plan('a', state='ONGOING')
        (attempt,) = self.claim(1)
        lost = attempt.action
        again = lost.evolve(owner=None)
        self.fill(self.item(make_attempt(lost), Conclusion(again)))
        (taken,) = self.claim(1)
        self.assertEqual((1, 2), (lost.attempt, taken.action.attempt))
        stale = self.item(make_attempt(lost), Conclusion(again))
        start = self.start(taken)
        for items in ([stale, start], [start, stale]):
            result = CommitResult(at(1))
            with self.store.transaction() as tx:
                self.group.write(tx, result, items, [])
                self.assertEqual({stale: False, start: True}, dict(result.outcomes))
                self.assertEqual([('a', 'READY', 'RUNNING')], self.changes_of(result))
                # Reverted, so that the other order starts with the same row.
                tx.change_actions([ActionChange(start.after, start.before)])
        after = self.action('a')
        self.assertEqual(
            (states.READY, 'w', 2), (after.status, after.owner, after.attempt)
        )

    def test_ends_are_counted_and_the_last_one_ends_the_plan(self) -> None:
        self.create_plan('a', 'b')
        a, b = self.running('a', 'b')
        self.assertEqual(
            [('a', 'RUNNING', 'SUCCEEDED')],
            self.changes_of(self.fill(self.end(a, Done()))),
        )
        self.assertEqual((1, 1), (self.plan().unfinished, self.plan().active))
        self.assertEqual(
            [('b', 'RUNNING', 'FAILED'), ('plan', 'ONGOING', 'FAILED')],
            self.changes_of(self.fill(self.end(b, Failed('no disk')))),
        )
        self.assertEqual(
            ('FAILED', 0, 0, 'An action failed: no disk'),
            (
                self.plan().state,
                self.plan().unfinished,
                self.plan().active,
                self.plan().status_message,
            ),
        )

    def test_the_conclusion_of_a_lost_action_changes_nothing(self) -> None:
        self.create_plan('a', 'b')
        (attempt,) = self.running('a')
        late = self.end(attempt, Done())
        with self.store.transaction() as tx:
            other = attempt.action.evolve(owner='another', attempt=2)
            tx.change_actions([ActionChange(attempt.action, other)])
        before = self.plan()
        result = self.fill(late)
        self.assertEqual([(late, False)], [(i, ok) for i, ok in result.outcomes])
        self.assertEqual(([], before), (result.events, self.plan()))
        self.assertEqual(other, self.store.get_action(other.uuid))

    def test_of_the_conclusions_for_one_action_the_first_counts(self) -> None:
        self.create_plan('a', 'b')
        (attempt,) = self.running('a')
        given_up = self.end(attempt, outcomes.TimedOut())
        came_back = self.end(attempt, Done())
        result = self.fill(given_up, came_back)
        self.assertEqual([True, False], [ok for _, ok in result.outcomes])
        self.assertEqual('FAILED', self.action('a').status)
        self.assertEqual((1, 1), (self.plan().unfinished, self.plan().failed))
        self.assertEqual(1, len(result.events))
        # Its plugin returns at the moment when it is abandoned.
        before = self.plan()
        late = self.end(attempt, Done())
        result = self.fill(late)
        self.assertEqual([(late, False)], [(i, ok) for i, ok in result.outcomes])
        self.assertEqual(([], before), (result.events, self.plan()))
        self.assertEqual('FAILED', self.action('a').status)

    def test_a_cancelled_action_derives_nothing(self) -> None:
        (parent,) = store_actions(
            self.store,
            make_action(name='a', status='RUNNING', owner='w', start_time=at(0)),
        )
        attempt = make_attempt(parent)
        derives = self.end(attempt, Derived((DerivedAction('x', 'nop'),)))
        with self.store.transaction() as tx:
            tx.set_control(states.CANCEL, at(0), action_ids=[parent.id])
        result = self.fill(derives)
        self.assertEqual([('a', 'RUNNING', 'CANCELLED')], self.changes_of(result))
        self.assertEqual(
            [('a', 'CANCELLED', None, results.CANCELLED_RUNNING)],
            [
                (a.name, a.status, a.owner, a.status_message)
                for a in self.store.list_actions()
            ],
        )

    def test_no_action_starts_in_a_cancelled_or_stopping_plan(self) -> None:
        for values, message in (
            ({'state': 'CANCELLING'}, results.CANCELLED_UNSTARTED),
            ({'stage': 'stopping'}, results.STOPPED_UNSTARTED),
        ):
            self.create_plan('a', 'b')
            (attempt,) = self.claim(1)
            with self.store.transaction() as tx:
                plan = tx.lock_plans([self.plan_id])[self.plan_id]
                tx.save_plans([plan.evolve(**values)])
            result = self.fill(self.start(attempt), claim=5)
            self.assertEqual([('a', 'READY', 'CANCELLED')], self.changes_of(result))
            self.assertEqual(message, self.action('a').status_message)
            self.assertEqual([[]], [c.actions for c in result.claims])
            self.assertEqual((1, 0), (self.plan().unfinished, self.plan().active))

    def test_a_released_action_is_claimable_without_an_event(self) -> None:
        self.create_plan('a')
        (attempt,) = self.claim(1)
        back = Conclusion(attempt.action.evolve(owner=None))
        self.assertEqual([], self.fill(self.item(attempt, back)).events)
        self.assertEqual(0, self.plan().active)
        self.assertEqual(2, self.claim(1)[0].action.attempt)

    def test_derived_actions_are_counted_and_have_events(self) -> None:
        self.create_plan('a', 'b')
        a, b = self.running('a', 'b')
        x, y, z = (DerivedAction(key, 'nop') for key in 'xyz')
        result = self.fill(self.end(a, Derived((x, y))), self.end(b, Derived((z,))))
        self.assertEqual(
            [(name, 'RUNNING', 'WAITING') for name in 'ab']
            + [(name, None, 'READY') for name in 'xyz'],
            self.changes_of(result),
        )
        self.assertEqual(['x', 'y', 'z'], [a.name for a in result.derived])
        self.assertEqual(
            (5, 5, 0), (self.plan().total, self.plan().unfinished, self.plan().active)
        )

    def test_actions_without_a_plan_are_written(self) -> None:
        with self.store.transaction() as tx:
            tx.insert_actions(
                [make_action(name='a', lane='engine', status=states.READY)], []
            )
        result = CommitResult(at(1))
        with self.store.transaction() as tx:
            request = ClaimRequest(None, 'engine', 5)
            self.group.write(tx, result, [], [request])
        (attempt,) = [make_attempt(action) for action in result.claims[0].actions]
        self.plan_id = 0
        self.fill(self.start(attempt))
        result = self.fill(self.end(attempt, Done()))
        self.assertEqual([('a', 'RUNNING', 'SUCCEEDED')], self.changes_of(result))
        self.assertEqual({}, result.plans)


class ParallelTest(GroupCase):
    """max_parallel."""

    def test_only_max_parallel_limits_a_claim(self) -> None:
        self.create_plan('a', 'b', 'c', 'd', max_parallel=2)
        result = self.fill(claim=5)
        (claimed,) = result.claims
        self.assertEqual(
            (2, True, True), (len(claimed.actions), claimed.more, claimed.limited)
        )
        (nothing,) = self.fill(claim=5).claims
        self.assertEqual(
            (0, True, True), (len(nothing.actions), nothing.more, nothing.limited)
        )
        self.create_plan('a')
        (claimed,) = self.fill(claim=5).claims
        self.assertEqual((False, False), (claimed.more, claimed.limited))

    def test_an_end_in_the_same_transaction_allows_a_claim(self) -> None:
        self.create_plan('a', 'b', 'c', max_parallel=1)
        (attempt,) = self.running('a')
        result = self.fill(self.end(attempt, Done()), claim=5)
        self.assertEqual(['b'], [a.name for a in result.claims[0].actions])
        self.assertEqual(1, self.plan().active)

    def test_a_handover_counts_towards_max_parallel(self) -> None:
        self.create_plan('a', 'b', after='a', max_parallel=1)
        with self.store.transaction() as tx:
            tx.insert_actions([make_action(name='c', plan_id=self.plan_id)], [])
            plan = tx.lock_plans([self.plan_id])[self.plan_id]
            tx.save_plans([plan.evolve(total=3, unfinished=3)])
        (attempt,) = self.running('a')
        result = self.fill(self.end(attempt, Done(), *self.handed('b')), claim=5)
        self.assertEqual([[]], [c.actions for c in result.claims])
        self.assertEqual(1, self.plan().active)
        self.assertEqual('RUNNING', self.action('b').status)


class HandOverTest(GroupCase):
    """A dependent that starts in the transaction of its parent's end."""

    def end_with(
        self, outcome: outcomes.Outcome, state: str = 'ONGOING', **plan: Any
    ) -> CommitResult:
        self.create_plan('a', 'b', after='a', **plan)
        (attempt,) = self.running('a')
        with self.store.transaction() as tx:
            running = tx.lock_plans([self.plan_id])[self.plan_id]
            tx.save_plans([running.evolve(state=state)])
        self.item_of_a = self.end(attempt, outcome, *self.handed('b'))
        return self.fill(self.item_of_a)

    def test_a_dependent_starts_with_its_event_and_is_counted(self) -> None:
        result = self.end_with(Done())
        self.assertEqual(
            [('a', 'RUNNING', 'SUCCEEDED'), ('b', 'READY', 'RUNNING')],
            self.changes_of(result),
        )
        self.assertTrue(self.item_of_a.handed_over)
        self.assertEqual((1, 1), (self.plan().unfinished, self.plan().active))
        child = self.action('b')
        self.assertEqual(
            ('RUNNING', 'w', 1, at(1)),
            (child.status, child.owner, child.attempt, child.start_time),
        )

    def test_only_an_end_after_which_the_plan_continues_starts_a_dependent(
        self,
    ) -> None:
        for outcome, plan, status in (
            (Failed('x'), {'on_failure': 'stop'}, 'READY'),
            (Failed('x'), {'on_failure': 'rollback'}, 'READY'),
            (Done(), {'state': 'CANCELLING'}, 'READY'),
            (outcomes.Retry('x'), {}, 'INIT'),
            (outcomes.InProgress('job'), {}, 'INIT'),
        ):
            self.end_with(outcome, **plan)
            self.assertEqual(
                (False, status), (self.item_of_a.handed_over, self.action('b').status)
            )

    def test_dependents_of_started_actions_are_prefetched(self) -> None:
        self.create_plan('a', 'b', after='a')
        (attempt,) = self.claim(1)
        result = self.fill(self.start(attempt))
        self.assertEqual(
            [('a', 'b')],
            [
                (
                    self.store.actions_by_id([s.parent_id])[s.parent_id].name,
                    s.action.name,
                )
                for s in result.successors
            ],
        )


class RepeatedTest(GroupCase):
    """The target of a repeated action is free between two runs."""

    def test_the_end_of_a_run_releases_the_lock_and_a_retry_does_not(self) -> None:
        for outcome, woken in ((Done(), ['b']), (outcomes.Retry('x'), [])):
            self.store = MemoryStore()
            self.addCleanup(self.store.close)
            plan, _ = store_plan(
                self.store,
                make_action(name='a', target='x', interval=60),
                make_action(name='b', target='x'),
            )
            self.plan_id = plan.id
            (attempt,) = self.claim(5)
            self.fill(self.start(attempt))
            result = self.fill(self.end(attempt, outcome))
            self.assertEqual(woken, [a.name for a in result.unblocked])
