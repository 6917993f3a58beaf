"""The step of a chain, from one action to the next, in one statement.

In a chain, the round trips of a transaction cost more than its changes: BEGIN, five
statements, COMMIT. Here all changes are one statement, which PostgreSQL commits
implicitly. If any row is not as expected, `found` is empty and nothing is changed.
"""

import functools
from collections.abc import Mapping
from typing import Any

import sqlalchemy as sa

from watcherlite.db.api import ChainStep
from watcherlite.db.sqlalchemy.constructs import ONE, ZERO, RowSource, meets
from watcherlite.db.sqlalchemy.database import Database
from watcherlite.db.sqlalchemy.mappers import ACTION_PLANS, EVENTS
from watcherlite.db.sqlalchemy.statements import plans
from watcherlite.db.sqlalchemy.statements.actions import (
    CHANGED_COLUMNS,
    changed_row,
    changed_values,
    is_unchanged,
)
from watcherlite.db.sqlalchemy.statements.dependents import HANDED_OVER, handover_values
from watcherlite.db.sqlalchemy.tables.actions import action_plans, actions
from watcherlite.db.sqlalchemy.tables.events import events
from watcherlite.domain import readiness

#: The compared columns of a plan; its fault changes only together with `failed`.
_COMPARED = [name for name in plans.CHANGING if name != 'fault']
_compared_row = ACTION_PLANS.values_of('id', *_COMPARED)
_saved_row = ACTION_PLANS.values_of(*plans.CHANGING)


def _prefixed(table: sa.Table, prefix: str, *names: str) -> list[sa.Label[Any]]:
    return [table.c[name].label(f'{prefix}_{name}') for name in names]


_STEP = RowSource(
    *_prefixed(action_plans, 'plan', 'id', *_COMPARED),
    *_prefixed(action_plans, 'saved', *plans.CHANGING),
    *CHANGED_COLUMNS,
    *_prefixed(actions, 'started', 'id', *HANDED_OVER),
)
_EVENTS = RowSource(*EVENTS.columns, parameter='events')


def _statement() -> sa.Insert:
    # LIMIT 1, because PostgreSQL otherwise assumes a hundred rows and scans small
    # tables.
    step = sa.select(_STEP).limit(ONE).cte('step').prefix_with('MATERIALIZED')
    row: Mapping[str, sa.ColumnElement[Any]] = dict(step.c.items())
    parent, child = actions.alias('parent'), actions.alias('child')
    # Rows are locked before they are compared, the plan first, as in any transaction.
    found = (
        sa.select(ONE.label('one'))
        .select_from(step, action_plans, parent, child)
        .where(
            action_plans.c.id == row['plan_id'],
            *(
                action_plans.c[name].is_not_distinct_from(row[f'plan_{name}'])
                for name in _COMPARED
            ),
            is_unchanged(dict(parent.c.items()), row),
            child.c.id == row['started_id'],
            meets(
                readiness.HANDED_OVER,
                {**dict(child.c.items()), 'pending': child.c.pending - ONE},
            ),
            child.c.attempt == row['started_attempt'] - ONE,
        )
        # Never waits for a lock: see `execution.committer`.
        .with_for_update(of=[action_plans, parent, child], skip_locked=True)
        .cte('found')
        .prefix_with('MATERIALIZED')
    )
    any_found = sa.exists().select_from(found)
    saved = {name: row[f'saved_{name}'] for name in plans.CHANGING}
    started = {name: row[f'started_{name}'] for name in HANDED_OVER}
    plan_update = sa.update(action_plans).where(action_plans.c.id == row['plan_id'])
    parent_update = sa.update(actions).where(actions.c.id == row['id'])
    child_update = sa.update(actions).where(actions.c.id == row['started_id'])
    updates = {
        'plan': plan_update.values(saved),
        'ended': parent_update.values(changed_values(row)),
        'started': child_update.values(
            {**started, 'pending': ZERO, 'claimable': sa.null()}
        ),
    }
    names = [column.name for column in _EVENTS.c]
    return (
        sa.insert(events)
        .from_select([*names, 'pending'], sa.select(*_EVENTS.c, ONE).where(any_found))
        .add_cte(*(u.where(any_found).cte(name) for name, u in updates.items()))
    )


WRITE = _statement()


# SQLAlchemy hashes all of such a large statement whenever it is executed.
@functools.cache
def _text(dialect: sa.Dialect) -> str:
    return str(WRITE.compile(dialect=dialect))


class ChainCommits:
    """The methods of `db.api.Store` that commit a chain step."""

    _db: Database

    @property
    def has_chain_commit(self) -> bool:
        return self._db.database == 'postgresql'

    def commit_chain_step(self, step: ChainStep) -> bool:
        dialect = self._db.engine.dialect
        before, after = step.plan
        row = (
            *_compared_row(before),
            *_saved_row(after),
            *changed_row(step.ended),
            step.started.after.id,
            *handover_values(step.started.after),
        )
        stored = self._db.change_once(
            _text(dialect),
            rows=_STEP.document(dialect, [row]),
            events=_EVENTS.document(dialect, list(map(EVENTS.values, step.events))),
        )
        return stored > 0
