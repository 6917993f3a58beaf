"""The rows for the contract of lists."""

import dataclasses
import functools
from collections.abc import Callable
from typing import Any

from tests.contract.store_case import StoreCase, in_order
from tests.factories import (
    at,
    make_action,
    make_audit,
    make_goal,
    make_plan,
    make_scoring_engine,
    make_strategy,
    make_template,
)
from watcherlite.db.api import Transaction
from watcherlite.db.query import Query
from watcherlite.domain.action_plans import ActionPlan
from watcherlite.domain.actions import COMPLETE, Action
from watcherlite.states import action as states

#: noun -> the attribute of its rows in a list
ROWS = {
    'goals': 'goal',
    'strategies': 'strategy',
    'scoring_engines': 'engine',
    'audit_templates': 'template',
    'audits': 'audit',
    'action_plans': 'plan',
    'actions': 'action',
}
JOINED = {'action_plan_uuid': 'plan_uuid'}


class ListingCase(StoreCase):
    """A store with rows of every noun, after `create_world`."""

    def pages_of(self, noun: str) -> Callable[[Query], list[Any]]:
        """Return the method that lists a noun."""
        return {
            'goals': self.store.list_goals,
            'strategies': self.store.list_strategies,
            'scoring_engines': self.store.list_scoring_engines,
            'audit_templates': self.store.list_audit_templates,
            'audits': self.store.list_audits,
            'action_plans': self.store.list_action_plans,
            'actions': self.store.page_of_actions,
        }[noun]

    def page(self, noun: str, **values: Any) -> list[Any]:
        """Return the rows of one page."""
        found = self.pages_of(noun)(Query(**values))
        return [getattr(one, ROWS[noun]) for one in found]

    def ids(self, noun: str, **values: Any) -> list[int | None]:
        return [row.id for row in self.page(noun, **values)]

    def assert_listed(self, noun: str, whole: list[Any], query: Query) -> None:
        """Check all pages of a list with one sort key."""
        ((key, descending),) = query.sort
        self.assert_pages(
            in_order(
                whole,
                [(key, descending), ('id', descending)],
                functools.partial(self.value, noun),
            ),
            self.pages_of(noun),
            query,
            lambda one: str(getattr(one, ROWS[noun]).uuid),
        )

    def insert_rows(self) -> None:
        """Store rows of every noun, with equal and missing values."""
        self.commit(self._proposals)
        listed = self.store.list_scoring_engines(Query())
        ids = {one.engine.uuid: one.engine.id for one in listed}
        self.engines = [
            dataclasses.replace(engine, id=ids[engine.uuid]) for engine in self.engines
        ]
        self.plans = [self._plan(n) for n in range(6)]
        self.actions = self._actions()

    def _proposals(self, tx: Transaction) -> None:
        names = ('beta', 'Alpha', 'gamma')
        self.goals = [
            tx.ensure_goal(
                make_goal(
                    name=name,
                    display_name='the same' if n else 'another',
                    updated_at=at(5) if n == 1 else None,
                )
            )
            for n, name in enumerate(names)
        ]
        keys = [goal.id for goal in self.goals]
        self.strategies = [
            tx.ensure_strategy(make_strategy(name=f's{n % 3}{n}', goal_id=goal))
            for n, goal in enumerate((keys[1], keys[0], None, keys[0]))
        ]
        self.engines = [
            make_scoring_engine(
                name=f'scorer {n}',
                description='the same' if n else 'another',
                updated_at=at(5) if n == 1 else None,
            )
            for n in range(4)
        ]
        tx.sync_scoring_engines(self.engines, at(1))
        ids = [None, *(strategy.id for strategy in self.strategies)]
        self.templates = [
            tx.insert_audit_template(
                make_template(
                    keys[n % 2],
                    name=f'template {n}',
                    strategy_id=ids[n % 3],
                    description=(None, 'b', 'a')[n % 3],
                    scope=[{'n': n}],
                    default_parameters={'x': n},
                )
            )
            for n in range(5)
        ]
        self.audits = [
            tx.insert_audit(
                make_audit(
                    keys[n % 2],
                    name=f'audit {9 - n}',
                    strategy_id=ids[n % 3],
                    audit_type=('ONESHOT', 'CONTINUOUS')[n % 2],
                    state=('PENDING', 'SUCCEEDED', 'ONGOING')[n % 3],
                    interval=(None, '60', '*/5 * * * *')[n % 3],
                    auto_trigger=n % 2 == 0,
                    status_message=(None, 'why')[n % 2],
                    next_run_time=(None, at(7), at(6))[n % 3],
                    start_time=at(n % 2),
                    end_time=None,
                    force=n in (1, 4),
                    created_at=at(-n // 2),
                )
            )
            for n in range(7)
        ]
        for audit in self.audits[5:6]:
            tx.lock_audit(audit.uuid)
            self.audits[5] = audit.evolve(deleted_at=at(9), state='DELETED')
            tx.save_audit(self.audits[5])
        for template in self.templates[1:2]:
            tx.lock_audit_template(template.uuid)
            self.templates[1] = template.evolve(deleted_at=at(9))
            tx.save_audit_template(self.templates[1])

    def _plan(self, n: int) -> ActionPlan:
        deleted = n == 4
        plan = make_plan(
            audit_id=None if n == 3 else self.audits[n % 2].id,
            strategy_id=(None, self.strategies[0].id, self.strategies[1].id)[n % 3],
            state='DELETED' if deleted else ('RECOMMENDED', 'ONGOING')[n % 2],
            status_message=(None, 'z', 'a', 'z')[n % 4],
            created_at=at(n % 3),
            updated_at=(None, at(1), at(2))[n % 3],
            deleted_at=at(9) if deleted else None,
            global_efficacy=[{'name': 'g', 'value': n}],
            efficacy_indicators=[{'name': 'i', 'value': 1.5}],
        )
        return self.commit(lambda tx: tx.insert_plan(plan))

    def _actions(self) -> list[Action]:
        statuses = [
            {'status': states.INIT},
            {'status': states.RUNNING, 'start_time': at(1)},
            {'status': states.SUCCEEDED, 'start_time': at(1)},
            {'status': states.WAITING, 'start_time': at(1)},
            {'status': states.WAITING},
            {'status': states.SKIPPED, 'status_message': 'not today'},
            {'status': states.SUSPENDED, 'start_time': at(2)},
            {'status': states.READY, 'start_time': at(2)},
            {'status': states.READY, 'start_time': at(2), 'phase': COMPLETE},
            {'status': states.FAILED, 'status_message': 'because', 'start_time': at(1)},
        ]
        actions = [
            make_action(
                name=f'{n}',
                plan_id=self.plans[n % 6].id if n < 16 else None,
                action_type=('nop', 'sleep', 'command')[n % 3],
                target=(None, 'node-1', 'node-2')[n % 3],
                created_at=at(n % 2),
                updated_at=(None, at(3))[n % 2],
                deleted_at=at(9)
                if n % 6 == 4 and n < 16
                else at(8)
                if n == 15
                else None,
                **statuses[n % len(statuses)],
            )
            for n in range(18)
        ]
        ids = self.commit(lambda tx: tx.insert_actions(actions, []))
        return [a.stored(key) for a, key in zip(actions, ids, strict=True)]

    def is_deleted(self, action: Action) -> bool:
        return action.deleted_at is not None

    def value(self, noun: str, one: Any, key: str) -> Any:
        """Return the value of a sort key."""
        name = JOINED.get(key, key)
        if hasattr(one, name):
            return getattr(one, name)
        row = getattr(one, ROWS[noun])
        if noun == 'actions' and key == 'state' and row.deleted_at is not None:
            return 'DELETED'
        return getattr(row, name)
