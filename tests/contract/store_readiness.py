"""Contract of the store: its statements agree with `domain.readiness`."""

import itertools
from collections.abc import Iterable
from typing import Any

from tests.contract.store_case import StoreCase
from tests.factories import NOW, at, make_action, new_uuid, store_actions, store_plan
from watcherlite.domain import readiness
from watcherlite.domain.actions import COMPLETE, RUN, SUCCESS, Action
from watcherlite.states import action as states

#: Field -> all values that a rule can distinguish.
VALUES: dict[str, tuple[Any, ...]] = {
    'status': tuple(states.STATES),
    'owner': (None, new_uuid()),
    'blocked_on': (None, 'node-1'),
    'phase': (RUN, COMPLETE),
    'start_time': (None, NOW),
}
#: More than there are actions.
LIMIT = 10_000


class StoreReadinessContract(StoreCase):
    """The readiness rules, for every combination of fields of an action."""

    def insert_every_kind(self) -> list[Action]:
        """Store two parents, and one action of each kind, with a plan and without.

        It depends on none of the parents, on the first, or on both.
        """
        self.parent, other = (make_action(status=states.RUNNING) for _ in range(2))
        parents = ((), (self.parent.uuid,), (self.parent.uuid, other.uuid))
        kinds = [
            dict(zip(VALUES, values, strict=True))
            for values in itertools.product(*VALUES.values())
        ]
        of_plan, of_none = (
            [
                make_action(parents=depends_on, **kind)
                for depends_on in parents
                for kind in kinds
            ]
            for _ in range(2)
        )
        self.plan, (self.parent, _, *stored) = store_plan(
            self.store, self.parent, other, *of_plan, needs=SUCCESS
        )
        return stored + store_actions(self.store, *of_none, needs=SUCCESS)

    def assert_ids(self, expected: Iterable[Action], found: Iterable[Action]) -> None:
        """Check that these are the actions, and that there is at least one."""
        ids = {action.id for action in expected}
        self.assertTrue(ids)
        self.assertEqual(ids, {action.id for action in found})

    def assert_claimable(self, actions: Iterable[Action]) -> None:
        """Check that a claim takes exactly the claimable ones of these actions."""
        stored = self.now_stored(*actions)
        expected = [a for a in stored if readiness.CLAIMABLE.holds(a)]
        worker = new_uuid()
        found = self.claim(worker, plan_id=self.plan.id, limit=LIMIT)
        found += self.claim(worker, lane='applier', limit=LIMIT)
        self.assert_ids(expected, found)

    def test_claimable_actions_are_claimed(self) -> None:
        self.assert_claimable(self.insert_every_kind())

    def test_released_actions_are_ready_and_claimable(self) -> None:
        for started, rule in (
            (True, readiness.RELEASED),
            (False, readiness.RELEASED_UNSTARTED_PLAN),
        ):
            actions = self.insert_every_kind()
            parents = [self.parent.id]
            self.commit(
                lambda tx, parents=parents, started=started: tx.release_dependents(
                    parents, started=started, now=at(1)
                )
            )
            expected = []
            for action in actions:
                if action.pending:
                    action = action.evolve(pending=action.pending - 1)
                    if rule.holds(action):
                        action = action.evolve(
                            status=states.READY, owner=None, updated_at=at(1)
                        )
                expected.append(action)
            self.assert_stored(*expected)
            self.assert_claimable(actions)

    def test_actions_that_can_be_handed_over_are_handed_over(self) -> None:
        actions = self.insert_every_kind()
        taken = {'status': states.RUNNING, 'owner': new_uuid(), 'attempt': 1}
        handovers = {action.id: action.evolve(**taken) for action in actions}
        released = self.commit(
            lambda tx: tx.release_dependents(
                [self.parent.id], started=True, handovers=handovers, now=at(1)
            )
        )
        expected = {
            action.id
            for action in actions
            if action.pending
            and readiness.HANDED_OVER.holds(action.evolve(pending=action.pending - 1))
        }
        self.assertTrue(expected)
        self.assertEqual(expected, {r.id for r in released if r.handed_over})

    def test_unblocked_actions_are_ready_and_claimable(self) -> None:
        actions = self.insert_every_kind()
        self.store.unblock_stale()
        expected = []
        for action in actions:
            if action.blocked_on is not None and action.status not in states.FINAL:
                ready = readiness.UNBLOCKED.holds(action)
                status = states.READY if ready else action.status
                action = action.evolve(blocked_on=None, status=status)
            expected.append(action)
        self.assert_stored(*expected)
        self.assert_claimable(actions)

    def test_signals_are_written_to_started_and_prepared_actions(self) -> None:
        actions = self.insert_every_kind()
        signalled = self.commit(
            lambda tx: tx.set_control(states.SUSPEND, NOW, plan_id=self.plan.id)
        )
        of_plan = [a for a in actions if a.plan_id == self.plan.id]
        started = [a for a in of_plan if readiness.STARTED.holds(a)]
        ids = [action.id for action in actions]
        self.assert_ids(started, [a for a in signalled if a.id in ids])
        signalled = self.commit(
            lambda tx: tx.set_control(states.SUSPEND, NOW, action_ids=ids)
        )
        rules = (readiness.STARTED, readiness.PREPARED)
        expected = [a for a in actions if any(rule.holds(a) for rule in rules)]
        self.assert_ids(expected, signalled)

    def test_unstarted_actions_end_with_their_plan(self) -> None:
        actions = self.insert_every_kind()
        ended = self.commit(
            lambda tx: tx.end_not_started(
                self.plan.id, states.CANCELLED, None, LIMIT, NOW
            )
        )
        of_plan = [a for a in actions if a.plan_id == self.plan.id]
        self.assert_ids([a for a in of_plan if readiness.NOT_STARTED.holds(a)], ended)
        self.assertEqual(
            {a.id for a in of_plan if a.status not in states.FINAL},
            {
                a.id
                for a in of_plan
                if readiness.NOT_STARTED.holds(a) is not readiness.STARTED.holds(a)
            },
        )

    def test_actions_that_require_success_end_with_their_parent(self) -> None:
        actions = self.insert_every_kind()
        ended = self.commit(
            lambda tx: tx.end_dependents([self.parent.id], states.FAILED, 'no', NOW)
        )
        dependents = [action for action in actions if action.pending]
        self.assert_ids(
            [a for a in dependents if readiness.ENDED_WITH_PARENT.holds(a)], ended
        )

    def test_actions_with_one_unfinished_parent_are_successors(self) -> None:
        kinds: list[dict[str, Any]] = [
            {'status': status, 'blocked_on': blocked_on, **values}
            for status in states.STATES
            for blocked_on in VALUES['blocked_on']
            for values in (
                {},
                {'target': 'node-2'},
                {'target': 'node-2', 'cause': states.DERIVED_ACTION},
                {'not_before': at(60)},
            )
        ]
        # Only the first of several dependents is returned, so each has its own parents.
        parents = [make_action() for _ in range(2 * len(kinds))]
        children = [
            make_action(parents=tuple(p.uuid for p in parents[at : at + count]), **kind)
            for count in (1, 2)
            for at, kind in zip(range(0, len(parents), 2), kinds, strict=True)
        ]
        _, stored = store_plan(self.store, *parents, *children)
        ids = [parent.id for parent in stored[: len(parents)]]
        found = self.commit(lambda tx: tx.successors(ids, 1))
        self.assert_ids(
            [a for a in stored[len(parents) :] if readiness.NEXT.holds(a)],
            [successor.action for successor in found],
        )
