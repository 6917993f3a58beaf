"""The effect of ended actions on their dependents."""

from typing import Any

from tests import base
from tests.factories import at, make_action, store_actions
from watcherlite.domain.actions import (
    COMPLETE,
    COMPLETION,
    SUCCESS,
    Action,
    ActionChange,
)
from watcherlite.domain.outcomes import DerivedAction
from watcherlite.execution import dependents
from watcherlite.states import action as states
from watcherlite.testing.memory_store import MemoryStore


class SuccessorsCase(base.TestCase):
    """A graph in a store: 'child': 'its parents'."""

    def setUp(self) -> None:
        super().setUp()
        self.store = MemoryStore()
        self.addCleanup(self.store.close)
        self.uuids: dict[str, str] = {}

    def graph(self, needs: str = COMPLETION, **parents: str) -> dict[str, Action]:
        actions = [
            make_action(
                name=name,
                status=states.WAITING if above else states.READY,
                cause=states.DERIVED_ACTION,
            )
            for name, above in parents.items()
        ]
        self.uuids = {str(a.name): a.uuid for a in actions}
        stored = store_actions(
            self.store,
            *(
                a.evolve(
                    parents=tuple(self.uuids[p] for p in parents[str(a.name)].split())
                )
                for a in actions
            ),
            needs=needs,
        )
        return {str(a.name): a for a in stored}

    def end(self, *names: str, status: str = states.SUCCEEDED) -> tuple[Any, Any]:
        """End actions; return the released and the cancelled dependents."""
        with self.store.transaction() as tx:
            before = [self.store.get_action(self.uuids[name]) for name in names]
            ended = [a.evolve(status=status, end_time=at(1)) for a in before]
            tx.change_actions(
                [ActionChange(b, a) for b, a in zip(before, ended, strict=True)]
            )
            released, too = dependents.release(tx, ended, {}, at(1))
        names_by_id = {a.id: a.name for a in self.store.list_actions()}
        return (
            [names_by_id[r.id] for r in released],
            [(a.name, a.status, a.status_message) for a in too],
        )

    def statuses(self) -> dict[Any, str]:
        return {a.name: a.status for a in self.store.list_actions()}


class ReleaseTest(SuccessorsCase):
    """The release of dependents by the ends of their parents."""

    def test_the_last_parent_releases_its_dependents(self) -> None:
        self.graph(a='', b='', c='a b', d='b')
        self.assertEqual(([], []), self.end('a'))
        self.assertEqual((['c', 'd'], []), self.end('b'))

    def test_several_parents_end_at_once(self) -> None:
        self.graph(a='', b='', c='a b')
        self.assertEqual((['c'], []), self.end('a', 'b'))

    def test_any_end_releases_a_dependent_that_needs_completion(self) -> None:
        for status in sorted(states.FINAL):
            self.graph(a='', b='a')
            self.assertEqual((['b'], []), self.end('a', status=status))

    def test_an_action_that_ended_early_keeps_its_place_in_the_order(self) -> None:
        self.graph(a='', b='a', c='b', d='c', e='a')
        self.assertEqual(([], []), self.end('c', status=states.SKIPPED))
        self.assertEqual(([], []), self.end('b', status=states.CANCELLED))
        self.assertEqual((['e', 'd'], []), self.end('a'))
        self.assertEqual(states.READY, self.statuses()['d'])

    def test_a_dependent_waits_for_all_of_its_parents(self) -> None:
        self.graph(a='', b='a', x='', c='b x')
        self.end('b', status=states.SKIPPED)
        self.assertEqual(([], []), self.end('a'))
        self.assertEqual((['c'], []), self.end('x'))


class NeedsSuccessTest(SuccessorsCase):
    """Edges that require the success of the parent."""

    MESSAGE = 'Not started: an action that it depends on did not succeed.'

    def test_a_dependent_that_needs_success_is_cancelled_transitively(self) -> None:
        for status in (states.FAILED, states.CANCELLED):
            self.graph(SUCCESS, a='', b='a', c='b', d='c', x='')
            self.assertEqual(
                ([], [(n, states.CANCELLED, self.MESSAGE) for n in 'bcd']),
                self.end('a', status=status),
            )
            self.assertEqual('READY', self.statuses()['x'])

    def test_a_skipped_parent_is_not_a_failure(self) -> None:
        self.graph(SUCCESS, a='', b='a')
        self.assertEqual((['b'], []), self.end('a', status=states.SKIPPED))

    def test_a_dependent_with_other_parents_is_cancelled_once(self) -> None:
        self.graph(SUCCESS, a='', b='', c='a b')
        self.assertEqual(
            ([], [('c', states.CANCELLED, self.MESSAGE)]),
            self.end('a', status=states.FAILED),
        )
        self.assertEqual(([], []), self.end('b', status=states.FAILED))


class DeriveTest(SuccessorsCase):
    """The insertion of derived actions."""

    def derive(self, *derived: DerivedAction, **values: Any) -> list[Action]:
        (self.parent,) = store_actions(
            self.store,
            make_action(
                name='parent',
                lane='engine',
                target='node',
                context={'user': 'me'},
                status=states.WAITING,
                phase=COMPLETE,
                **values,
            ),
        )
        with self.store.transaction() as tx:
            return dependents.derive(tx, self.parent, derived, at(2))

    def test_derived_actions_inherit_lane_plan_and_target(self) -> None:
        (x,) = self.derive(
            DerivedAction('x', 'create', {'n': 1}, name='the first', timeout=5)
        )
        stored = self.store.get_action(x.uuid)
        self.assertEqual(stored, x)
        expected = {
            'name': 'the first',
            'action_type': 'create',
            'inputs': {'n': 1},
            'timeout': 5,
            'lane': 'engine',
            'target': 'node',
            'cause': 'Derived Action',
            'context': {'user': 'me'},
            'derived_from': self.parent.id,
            'status': 'READY',
            'data': {'key': 'x'},
            'created_at': at(2),
            'dependents': 1,
        }
        self.assertEqual(expected, {name: getattr(x, name) for name in expected})

    def test_the_parent_waits_for_all_derived_actions(self) -> None:
        made = self.derive(
            DerivedAction('x', 'nop'),
            DerivedAction('y', 'nop', parents=('x',)),
            DerivedAction('z', 'nop', target='another'),
        )
        self.assertEqual(3, self.store.get_action(self.parent.uuid).pending)
        self.assertEqual(
            {'x': 'READY', 'y': 'WAITING', 'z': 'READY', 'parent': 'WAITING'},
            self.statuses(),
        )
        self.uuids = {str(a.name): a.uuid for a in made}
        self.assertEqual((['y'], []), self.end('x'))
        self.assertEqual(([], []), self.end('y'))
        self.assertEqual((['parent'], []), self.end('z'))
        self.assertEqual('another', made[2].target)

    def test_parents_are_stored_before_their_children(self) -> None:
        made = self.derive(
            DerivedAction('z', 'nop', parents=('y',)),
            DerivedAction('y', 'nop', parents=('x',)),
            DerivedAction('x', 'nop'),
        )
        self.assertEqual(['x', 'y', 'z'], [a.name for a in made])
        ids = [a.id for a in made]
        self.assertEqual(sorted(ids), ids)
        self.assertEqual((made[1].uuid,), made[2].parents)

    def test_a_derived_action_that_needs_success_is_cancelled_with_its_parent(
        self,
    ) -> None:
        made = self.derive(
            DerivedAction('x', 'nop'),
            DerivedAction('y', 'nop', parents=('x',)),
            DerivedAction('z', 'nop', parents=('x',), needs='completion'),
        )
        self.uuids = {str(a.name): a.uuid for a in made}
        released, too = self.end('x', status=states.FAILED)
        self.assertEqual(['z'], released)
        self.assertEqual(['y'], [name for name, _, _ in too])
        self.assertEqual((['parent'], []), self.end('z'))

    def test_derived_actions_inherit_tenant_and_whole(self) -> None:
        made = self.derive(
            DerivedAction('x', 'nop'),
            DerivedAction('y', 'nop', target='n', tenant='other', within='cluster'),
            tenant='mine',
            within='whole',
        )
        self.assertEqual(
            [
                ('x', 'mine', 'whole', 'node', 'Derived Action'),
                ('y', 'other', 'cluster', 'n', 'Derived Action'),
            ],
            [(a.name, a.tenant, a.within, a.target, a.cause) for a in made],
        )

    def test_a_derived_action_in_another_lane_takes_its_own_lock(self) -> None:
        made = self.derive(
            DerivedAction('part', 'nop', target='p', within='node', lane='engine'),
            DerivedAction('beside', 'nop', target='q', lane='engine'),
            DerivedAction('whole', 'nop', target='whole', lane='engine'),
            DerivedAction('else', 'nop', target='r', within='other', lane='engine'),
            within='whole',
        )
        self.assertEqual(
            {
                'part': ('RPC Request', None),
                'beside': ('RPC Request', None),
                'whole': ('Derived Action', 'whole'),
                'else': ('RPC Request', 'other'),
            },
            {a.name: (a.cause, a.within) for a in made},
        )
