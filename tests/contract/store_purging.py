"""Contract of the store: the purge of rows without a plan."""

from collections.abc import Sequence
from typing import Any

from tests.contract.store_case import StoreCase, make_bare_event
from tests.factories import (
    NOW,
    at,
    make_action,
    make_audit,
    make_event,
    make_goal,
    make_plan,
    make_strategy,
    make_template,
    store_actions,
    store_plan,
)
from watcherlite.db.api import Transaction
from watcherlite.db.query import Query
from watcherlite.domain import audits, events
from watcherlite.domain.actions import COMPLETE, Action
from watcherlite.domain.audits import Audit, Goal
from watcherlite.domain.events import Event
from watcherlite.states import action as action_states
from watcherlite.states import action_plan as plan_states
from watcherlite.states import audit as states

NOTHING = {'action_plans': 0, 'audits': 0, 'actions': 0, 'events': 0}
OLD, LONG_AGO = at(-10), at(-20)


class StorePurgingContract(StoreCase):
    """A purge deletes old unused objects without a plan."""

    def assert_purged(self, **counts: int) -> None:
        """Check a dry run, the purge, and that a second purge deletes nothing."""
        expected = {**NOTHING, **counts}
        foretold = self.store.purge(NOW, 10, dry_run=True)
        self.assertEqual(
            [expected, expected, NOTHING],
            [dict(foretold), *(dict(self.store.purge(NOW, 10)) for _ in range(2))],
        )

    def insert_goal(self, **values: Any) -> Goal:
        return self.commit(lambda tx: tx.ensure_goal(make_goal(**values)))

    def insert_audits(self, *given: dict[str, Any]) -> list[Audit]:
        """Store old audits of one goal, unless other times are given."""
        goal = self.insert_goal()

        def block(tx: Transaction) -> list[Audit]:
            common = {'created_at': LONG_AGO, 'updated_at': OLD}
            return [
                tx.insert_audit(make_audit(goal.id, **{**common, **values}))
                for values in given
            ]

        return self.commit(block)

    def names_of_audits(self) -> list[str]:
        listed = self.store.list_audits(Query(deleted=True))
        return [one.audit.uuid for one in listed]

    # actions and events

    def make_ended_action(self, **values: Any) -> Action:
        common = {'status': action_states.SUCCEEDED, 'updated_at': OLD}
        return make_action(**{**common, **values})

    def test_old_ended_actions_without_a_plan_are_purged(self) -> None:
        parent = self.make_ended_action(target='node-1')
        child = self.make_ended_action(parents=(parent.uuid,))
        kept = [
            make_action(updated_at=OLD),
            make_action(status=action_states.RUNNING, updated_at=OLD),
            self.make_ended_action(updated_at=NOW),
        ]
        stored = store_actions(self.store, parent, child, *kept)
        self.commit(lambda tx: tx.acquire_locks({'node-1': stored[0].id}))
        self.assert_purged(actions=2)
        self.assertEqual(stored[2:], self.store.list_actions())
        # Its lock was deleted as well.
        taken = self.commit(lambda tx: tx.acquire_locks({'node-1': stored[2].id}))
        self.assertEqual({'node-1'}, taken)

    def event(self, **values: Any) -> Event:
        common = {'subject': events.AUDIT, 'kind': events.CREATED, 'occurred_at': OLD}
        return make_bare_event(**{**common, **values})

    def test_derived_actions_are_kept_until_the_action_that_derived_them_ends(
        self,
    ) -> None:
        def block(tx: Transaction) -> Action:
            waits = make_action(status=action_states.WAITING, phase=COMPLETE)
            (key,) = tx.insert_actions([waits], [])
            tx.insert_actions(
                [self.make_ended_action(derived_from=key) for _ in range(2)], []
            )
            return waits.stored(key)

        waits = self.commit(block)
        self.assert_purged()
        self.changed(waits, status=action_states.SUCCEEDED, updated_at=OLD)
        self.assert_purged(actions=3)

    def test_derived_actions_of_a_repeated_action_are_purged_after_the_run(
        self,
    ) -> None:
        def block(tx: Transaction) -> Action:
            again = make_action(interval=60, start_time=at(-50), phase=COMPLETE)
            again = again.evolve(status=action_states.WAITING)
            (key,) = tx.insert_actions([again], [])
            first = self.make_ended_action(
                derived_from=key, created_at=at(-100), name='first'
            )
            second = self.make_ended_action(
                derived_from=key, created_at=at(-50), name='second'
            )
            tx.insert_actions([first, second], [])
            return again.stored(key)

        def action_names() -> list[str | None]:
            return [action.name for action in self.store.list_actions()]

        again = self.commit(block)
        self.assert_purged(actions=1)
        self.assertEqual([None, 'second'], action_names())
        ready = {'status': action_states.READY, 'end_time': at(-40)}
        self.changed(again, **ready, updated_at=OLD)
        self.assert_purged(actions=1)
        self.assertEqual([None], action_names())

    def test_events_and_their_subjects_are_kept_until_they_are_published(self) -> None:
        (action,) = store_actions(self.store, self.make_ended_action())
        audit, with_plan = self.insert_audits({}, {})
        store_plan(
            self.store, audit_id=with_plan.id, state=plan_states.FAILED, updated_at=OLD
        )
        ids = (audit.id, with_plan.id, 10**6)
        of_action = make_event(action, occurred_at=OLD)
        young = self.event(occurred_at=NOW)
        kept_events = [of_action, young, *(self.event(subject_id=key) for key in ids)]
        self.commit(lambda tx: tx.add_events(kept_events))
        self.assert_purged(action_plans=1)
        self.publish()
        self.assert_purged(audits=2, actions=1, events=4)
        self.assertEqual([young], [s.event for s in self.store.list_events()])

    # audits

    def test_old_ended_audits_without_plans_are_purged(self) -> None:
        self.insert_audits(*({'state': state} for state in states.STATES))
        # Without an update, the age of an audit is that of its creation.
        unchanged = {'updated_at': None}
        self.insert_audits(
            {'updated_at': NOW}, {**unchanged, 'created_at': NOW}, unchanged
        )
        self.assert_purged(audits=len(states.ENDED) + 1)
        self.assertEqual(
            {*(set(states.STATES) - states.ENDED), states.SUCCEEDED},
            {one.audit.state for one in self.store.list_audits(Query(deleted=True))},
        )

    def test_an_event_audit_that_may_run_again_is_kept(self) -> None:
        given = [
            {'audit_type': audits.EVENT, 'state': state}
            for state in (states.SUCCEEDED, states.FAILED)
        ]
        kept, _ = self.insert_audits(*given)
        store_plan(
            self.store, audit_id=kept.id, state=plan_states.FAILED, updated_at=OLD
        )
        self.assert_purged(action_plans=1, audits=1)
        self.assertIn(kept.uuid, self.names_of_audits())

    def test_audits_without_plans_are_purged_after_all_plans(self) -> None:
        self.insert_audits({})
        store_plan(self.store, state=plan_states.FAILED, updated_at=OLD)
        counts = [self.store.purge(NOW, 1, dry_run=True)['audits']]
        counts += [self.store.purge(NOW, 1)['audits'] for _ in range(2)]
        self.assertEqual([1, 1, 1], counts)

    # templates, goals, strategies

    def test_softly_deleted_rows_without_references_are_purged(self) -> None:
        gone = {'deleted_at': OLD}
        _, young, used = (self.insert_goal(deleted_at=t) for t in (OLD, NOW, OLD))

        def block(tx: Transaction) -> None:
            tx.insert_audit_template(make_template(used.id, **gone))
            tx.ensure_strategy(make_strategy(**gone))
            tx.ensure_strategy(make_strategy(goal_id=young.id))
            tx.insert_audit_template(make_template(young.id))

        self.commit(block)
        first = {**NOTHING, 'audit_templates': 1, 'strategies': 1, 'goals': 1}
        self.assertEqual(first, dict(self.store.purge(NOW, 10, dry_run=True)))
        self.assertEqual(first, dict(self.store.purge(NOW, 10)))
        # The first purge deleted its template.
        self.assert_purged(goals=1)
        self.assertEqual([young.uuid], self.uuids_of_goals())
        self.assertEqual(1, len(self.store.list_strategies(Query(deleted=True))))
        self.assertEqual(1, len(self.store.list_audit_templates(Query(deleted=True))))

    def uuids_of_goals(self) -> Sequence[str]:
        return [one.goal.uuid for one in self.store.list_goals(Query(deleted=True))]

    def test_rows_with_references_are_kept(self) -> None:
        (with_plan,) = self.insert_audits({})
        goals = [self.insert_goal(deleted_at=OLD) for _ in range(3)]
        keys = [goal.id for goal in goals]

        def block(tx: Transaction) -> None:
            strategies = [
                tx.ensure_strategy(make_strategy(deleted_at=OLD)) for _ in range(3)
            ]
            tx.ensure_strategy(make_strategy(goal_id=keys[0]))
            tx.insert_audit_template(
                make_template(keys[1], strategy_id=strategies[0].id)
            )
            audit = tx.insert_audit(
                make_audit(keys[2], strategy_id=strategies[1].id, state=states.ONGOING)
            )
            tx.insert_plan(make_plan(audit_id=audit.id, strategy_id=strategies[2].id))
            tx.insert_plan(make_plan(audit_id=with_plan.id))

        self.commit(block)
        self.assert_purged()
        self.assertEqual([goal.uuid for goal in goals], self.uuids_of_goals()[1:])
        self.assertIn(with_plan.uuid, self.names_of_audits())
        self.assertEqual(4, len(self.store.list_strategies(Query(deleted=True))))
