"""Contract of the store: dependents of actions that end."""

import operator
from typing import Any

from tests.contract.store_actions import ids_of
from tests.contract.store_case import StoreCase
from tests.factories import NOW, at, make_action, new_uuid, store_actions, store_plan
from watcherlite.db.api import Released
from watcherlite.domain import actions as domain
from watcherlite.domain.actions import SUCCESS, Action
from watcherlite.states import action as states


class StoreGraphContract(StoreCase):
    """Dependents are released, handed over, ended and queried."""

    def release(
        self,
        *parents: Action,
        started: bool = True,
        handovers: dict[int, Action] | None = None,
    ) -> list[Released]:
        """Count down the dependents of actions in a transaction of its own."""
        return self.commit(
            lambda tx: tx.release_dependents(
                ids_of(list(parents)), started=started, handovers=handovers, now=at(9)
            )
        )

    def insert_family(
        self, parents: int = 1, **child: object
    ) -> tuple[list[Action], Action]:
        """Store parents in a plan and one action that depends on all of them."""
        above = [make_action(name=f'parent {n}') for n in range(parents)]
        below = make_action(name='child', parents=tuple(a.uuid for a in above), **child)
        _, stored = store_plan(self.store, *above, below)
        return stored[:-1], stored[-1]

    # release_dependents

    def test_the_last_parent_releases_its_dependent(self) -> None:
        parents, child = self.insert_family(parents=3)
        self.assertEqual([], self.release(parents[0]))
        self.assertEqual([], self.release(parents[2]))
        self.assert_stored(child.evolve(pending=1))
        self.assertEqual(
            [Released(child.id, child.plan_id, child.lane, False)],
            self.release(parents[1]),
        )
        self.assert_stored(
            child.evolve(pending=0, status=states.READY, updated_at=at(9))
        )
        worker = new_uuid()
        claimed = self.claim(worker, plan_id=child.plan_id)
        self.assertIn(child.id, ids_of(claimed))

    def test_parents_that_end_together_are_counted_separately(self) -> None:
        # A diamond: a, then b and c, then d.
        a = make_action(name='a')
        b, c = (make_action(name=n, parents=(a.uuid,)) for n in 'bc')
        d = make_action(name='d', parents=(b.uuid, c.uuid))
        _, (a, b, c, d) = store_plan(self.store, a, b, c, d)
        self.assertEqual(ids_of([b, c]), [r.id for r in self.release(a)])
        self.assertEqual([2], [x.pending for x in self.now_stored(d)])
        self.assertEqual(ids_of([d]), [r.id for r in self.release(b, c)])
        self.assertEqual(
            [(0, states.READY)], [(x.pending, x.status) for x in self.now_stored(d)]
        )

    def test_released_dependents_are_returned_by_id_with_plan_and_lane(self) -> None:
        parent = make_action()
        children = [
            make_action(parents=(parent.uuid,), status=states.WAITING, lane=lane)
            for lane in (domain.ENGINE, domain.APPLIER, domain.ENGINE)
        ]
        parent, *children = store_actions(self.store, parent, *children)
        self.assertEqual(
            [
                Released(child.id, None, lane, False)
                for child, lane in zip(
                    children, ('engine', 'applier', 'engine'), strict=True
                )
            ],
            self.release(parent),
        )
        self.assertEqual(
            ids_of(children[::2]), ids_of(self.claim(new_uuid(), lane='engine'))
        )

    def test_the_status_of_a_dependent_decides_what_a_release_does(self) -> None:
        made_ready = {'status': states.READY, 'updated_at': at(9)}
        waiting, owner = {'status': states.WAITING}, {'owner': new_uuid()}
        cases: list[tuple[dict[str, Any], bool, dict[str, Any]]] = [
            ({}, False, {}),
            (waiting, False, made_ready),
            ({**owner, 'status': states.READY, 'attempt': 2}, True, {}),
            # A handover of an action that has an owner or is blocked is ignored.
            ({**waiting, **owner}, True, {**made_ready, 'owner': None}),
            ({**waiting, 'blocked_on': 'one-paused'}, True, made_ready),
        ]
        running, ended = sorted(states.STARTED), sorted(states.FINAL)
        cases += [({**owner, 'status': each}, True, {}) for each in (*running, *ended)]
        for values, started, changes in cases:
            (parent,), child = self.insert_family(**values)
            taken = child.evolve(
                status=states.RUNNING, owner=new_uuid(), attempt=1, blocked_on=None
            )
            handovers = {child.id: taken} if started else None
            is_ended = child.status in ended
            released = Released(child.id, child.plan_id, child.lane, False, is_ended)
            self.assertEqual(
                [] if child.status in running else [released],
                self.release(parent, started=started, handovers=handovers),
                values,
            )
            self.assert_stored(child.evolve(pending=0, **changes))
            self.assertEqual([], self.release(child))

    def test_an_action_that_waits_for_derived_actions_continues_after_them(
        self,
    ) -> None:
        plan, (asking,) = store_plan(
            self.store,
            make_action(
                status=states.WAITING, phase=domain.COMPLETE, start_time=NOW, attempt=1
            ),
        )
        derived = [
            make_action(plan_id=plan.id, derived_from=asking.id, status=states.READY)
            for _ in range(2)
        ]
        edges = [domain.Edge(a.uuid, asking.uuid) for a in derived]
        ids = self.commit(lambda tx: tx.insert_actions(derived, edges))
        self.commit(lambda tx: tx.add_pending(asking.id, 2))
        ended = [a.stored(i) for a, i in zip(derived, ids, strict=True)]
        self.release(ended[0])
        self.assert_stored(asking.evolve(pending=1))
        self.release(ended[1])
        self.assert_stored(
            asking.evolve(pending=0, status=states.READY, updated_at=at(9))
        )

    def test_many_dependents_are_released_together(self) -> None:
        root = make_action()
        leaves = [make_action(parents=(root.uuid,)) for _ in range(600)]
        _, (root, *leaves) = store_plan(self.store, root, *leaves)
        self.assertEqual(ids_of(leaves), [r.id for r in self.release(root)])
        self.assertEqual({0}, {a.pending for a in self.now_stored(*leaves)})

    # handovers

    def test_a_handover_starts_the_dependent_in_the_same_transaction(self) -> None:
        worker = new_uuid()
        for status in (states.INIT, states.WAITING):
            (parent,), child = self.insert_family(
                status=status, attempt=1, recoveries=1, phase=domain.CHECK
            )
            values = {
                'status': states.RUNNING,
                'owner': worker,
                'attempt': 2,
                'phase': domain.RUN,
                'start_time': at(5),
                'data': {'decision': ['ž']},
                'updated_at': at(6),
            }
            handover = child.evolve(
                **values,
                recoveries=5,
                pending=8,
                outputs={'not': 'taken'},
                name='not taken',
                control='CANCEL',
            )
            self.assertEqual(
                [Released(child.id, child.plan_id, child.lane, True)],
                self.release(parent, handovers={child.id: handover}),
            )
            self.assert_stored(child.evolve(**values, pending=0))
        self.assertEqual(2, len(self.store.owned_ids(worker)))

    def test_a_handover_waits_for_the_last_parent_and_is_of_a_dependent(self) -> None:
        parents, child = self.insert_family(parents=2)
        other = self.stored_action(status=states.WAITING)
        taken = {'status': states.RUNNING, 'owner': new_uuid(), 'attempt': 1}
        handovers = {row.id: row.evolve(**taken) for row in (child, other)}
        self.assertEqual([], self.release(parents[0], handovers=handovers))
        self.assert_stored(child.evolve(pending=1), other)
        del handovers[child.id]
        released = self.release(parents[1], handovers=handovers)
        self.assertEqual([(child.id, False)], [(r.id, r.handed_over) for r in released])
        self.assert_stored(other)

    # end_dependents

    def end(self, *parents: Action) -> list[Action]:
        """End the dependents of actions in a transaction of its own."""
        ids = ids_of(list(parents))
        return self.commit(
            lambda tx: tx.end_dependents(ids, states.CANCELLED, 'nepovedlo se', at(3))
        )

    def test_dependents_that_require_success_are_ended_once_by_one_level(self) -> None:
        a, b = make_action(), make_action()
        c = make_action(name='c', parents=(a.uuid, b.uuid))
        d = make_action(name='d', parents=(c.uuid,))
        a, b, c, d = store_actions(self.store, a, b, c, d, needs=SUCCESS)
        values = {'status_message': 'nepovedlo se', 'end_time': at(3)}
        expected = c.evolve(status=states.CANCELLED, updated_at=at(3), **values)
        self.assertEqual([expected], self.end(a, b))
        self.assert_stored(a, b, expected, d)

    def test_dependents_that_need_no_success_have_started_or_ended_are_kept(
        self,
    ) -> None:
        (parent,), child = self.insert_family()
        self.assertEqual([], self.end(parent))
        self.assert_stored(child)
        root = make_action(name='root')
        below = [
            make_action(parents=(root.uuid,), status=status, owner=owner)
            for status in sorted(states.STATES)
            for owner in (None, new_uuid())
        ]
        root, *below = store_actions(self.store, root, *below, needs=SUCCESS)
        self.assertEqual(
            [
                child.id
                for child in below
                if child.status in (states.INIT, states.WAITING)
                or (child.status == states.READY and child.owner is None)
            ],
            ids_of(self.end(root)),
        )

    # successors

    def test_successors_are_the_single_dependents_down_to_a_depth(self) -> None:
        chain: list[Action] = []
        for name in 'abcd':
            above = tuple(x.uuid for x in chain[-1:])
            chain.append(make_action(name=name, parents=above))
        _, (a, b, c, d) = store_plan(self.store, *chain)
        for of, depth, expected in (
            ([a], 1, [(a.id, b)]),
            ([a], 2, [(a.id, b), (b.id, c)]),
            ([a], 9, [(a.id, b), (b.id, c), (c.id, d)]),
            # Each is returned once.
            ([a, b], 2, [(a.id, b), (b.id, c), (c.id, d)]),
        ):
            call = operator.methodcaller('successors', ids_of(of), depth)
            found = [(s.parent_id, s.action) for s in self.commit(call)]
            self.assertEqual(expected, found, depth)

    def test_the_successor_is_the_dependent_with_the_lowest_id(self) -> None:
        a, z = make_action(name='a'), make_action(name='z')
        two = make_action(name='two parents', parents=(a.uuid, z.uuid))
        first, second = (make_action(name=n, parents=(a.uuid,)) for n in '12')
        of_z = make_action(name='of z', parents=(z.uuid,), status=states.WAITING)
        a, z, *_ = store_actions(self.store, a, z, two, first, second, of_z)
        found = self.commit(lambda tx: tx.successors(ids_of([z, a]), 3))
        self.assertEqual(
            {(a.id, '1'), (z.id, 'of z')}, {(s.parent_id, s.action.name) for s in found}
        )

    def test_of_actions_with_further_conditions_only_derived_ones_succeed(self) -> None:
        root = make_action()
        derived = {'target': 'node-1', 'cause': states.DERIVED_ACTION}
        further: list[dict[str, Any]] = [
            {'target': 'node-1'},
            {'not_before': at(1)},
            {'status': states.SKIPPED},
            {'status': states.READY},
            {'blocked_on': 'node-1'},
        ]
        below = [make_action(parents=(root.uuid,), **values) for values in further]
        root, *_ = store_actions(self.store, root, *below)
        self.assertEqual([], self.commit(lambda tx: tx.successors([root.id], 2)))
        root = make_action()
        child = make_action(parents=(root.uuid,), **derived)
        root, child = store_actions(self.store, root, child)
        found = self.commit(lambda tx: tx.successors([root.id], 2))
        self.assertEqual([child.id], [s.action.id for s in found])

    # depended_by, depends_on

    def test_unfinished_parents_and_dependents_are_returned_by_uuid(self) -> None:
        a, b = make_action(), make_action()
        c = make_action(parents=(a.uuid, b.uuid))
        d = make_action(parents=(a.uuid,))
        a, b, c, d = store_actions(self.store, a, b, c, d)
        self.assertEqual([c.uuid, d.uuid], self.store.depended_by(a.id))
        self.assertEqual([a.uuid, b.uuid], self.store.depends_on(c.id))
        self.changed(a, status=states.FAILED)
        self.changed(d, status=states.CANCELLED)
        self.assertEqual([c.uuid], self.store.depended_by(a.id))
        self.assertEqual([b.uuid], self.store.depends_on(c.id))
        self.assertEqual([], self.store.depends_on(a.id))
        self.assertEqual([], self.store.depended_by(10**9))
