"""Composite projections."""

import datetime
from collections.abc import Mapping, Sequence
from typing import Any

from tests import base
from tests.factories import NOW, make_action
from watcherlite.db.api import Transaction
from watcherlite.domain.actions import Action, ActionChange
from watcherlite.domain.events import Event
from watcherlite.execution.ports import CompositeProjection
from watcherlite.states import action as states
from watcherlite.testing.memory_store import MemoryStore


class OfType:
    """A projection of the actions of one type."""

    def __init__(self, action_type: str, changes: list[Any]) -> None:
        self._type = action_type
        self._changes = changes

    def is_affected_by(self, action: Action) -> bool:
        return action.action_type == self._type

    def lock(self, tx: Transaction, actions: Sequence[Action]) -> Any:
        self._changes.append(('lock', self._type, [a.name for a in actions]))
        return f'held by {self._type}'

    def apply(
        self,
        tx: Transaction,
        held: Any,
        changes: Sequence[tuple[ActionChange, Mapping[str, Any] | None]],
        now: datetime.datetime,
    ) -> list[Event]:
        names = [change.after.name for change, _ in changes]
        self._changes.append(('follow', held, names))
        return [
            Event(self._type, 'followed', None, None, None, 'X', name, None, None, now)
            for name in names
        ]


class CompositeProjectionTest(base.TestCase):
    """Two projections, and actions that affect neither."""

    def setUp(self) -> None:
        super().setUp()
        self.changes: list[Any] = []
        self.projection = CompositeProjection(
            OfType('stack', self.changes),
            CompositeProjection(),
            OfType('cluster', self.changes),
        )

    def apply(self, *types: str) -> list[Any]:
        actions = [
            make_action(name=f'{kind}-{n}', action_type=kind)
            for n, kind in enumerate(types)
        ]
        changes = [
            (ActionChange(action, action.evolve(status=states.RUNNING)), None)
            for action in actions
        ]
        with MemoryStore().transaction() as tx:
            held = self.projection.lock(tx, actions)
            followed = self.projection.apply(tx, held, changes, NOW)
        return [(event.subject, event.message) for event in followed]

    def test_an_action_that_affects_no_projection_affects_none(self) -> None:
        self.assertEqual(
            [True, True, False],
            [
                self.projection.is_affected_by(make_action(action_type=kind))
                for kind in ('stack', 'cluster', 'nop')
            ],
        )

    def test_each_projection_receives_its_own_changes_in_order(self) -> None:
        self.assertEqual(
            [('stack', 'stack-1'), ('cluster', 'cluster-0'), ('cluster', 'cluster-2')],
            self.apply('cluster', 'stack', 'cluster'),
        )
        self.assertEqual(
            [
                ('lock', 'stack', ['stack-1']),
                ('lock', 'cluster', ['cluster-0', 'cluster-2']),
                ('follow', 'held by stack', ['stack-1']),
                ('follow', 'held by cluster', ['cluster-0', 'cluster-2']),
            ],
            self.changes,
        )

    def test_a_projection_without_changes_is_not_called(self) -> None:
        self.assertEqual([('cluster', 'cluster-0')], self.apply('cluster'))
        self.assertEqual(
            [
                ('lock', 'cluster', ['cluster-0']),
                ('follow', 'held by cluster', ['cluster-0']),
            ],
            self.changes,
        )
