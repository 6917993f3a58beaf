"""The step from one action of a plan to the next, in one statement.

On a server the round trips of a transaction cost a chain more than its changes
do: BEGIN, five statements, COMMIT. Here is all of it in one, which PostgreSQL
commits by itself. Whatever is not as expected leaves `found` empty, and then
nothing is changed.
"""

from collections.abc import Mapping
from typing import Any

import sqlalchemy as sa

from watcherlite.db.api import Link
from watcherlite.db.sqlalchemy import plans
from watcherlite.db.sqlalchemy.actions import (
    CHANGED_COLUMNS,
    changed_row,
    changed_values,
    is_unchanged,
)
from watcherlite.db.sqlalchemy.constructs import ONE, ZERO, RowSource, meets
from watcherlite.db.sqlalchemy.database import Database
from watcherlite.db.sqlalchemy.dependents import HANDED_OVER, handover_values
from watcherlite.db.sqlalchemy.objects import ACTION_PLANS, EVENTS
from watcherlite.db.sqlalchemy.tables.actions import action_plans, actions
from watcherlite.db.sqlalchemy.tables.events import events
from watcherlite.domain import readiness

#: What of a plan is compared; its fault changes only together with `failed`.
_COMPARED = [name for name in plans.CHANGING if name != 'fault']
_compared_row = ACTION_PLANS.values_of('id', *_COMPARED)
_saved_row = ACTION_PLANS.values_of(*plans.CHANGING)


def _prefixed(table: sa.Table, prefix: str, *names: str) -> list[sa.Label[Any]]:
    return [table.c[name].label(f'{prefix}_{name}') for name in names]


_LINK = RowSource(
    *_prefixed(action_plans, 'plan', 'id', *_COMPARED),
    *_prefixed(action_plans, 'saved', *plans.CHANGING),
    *CHANGED_COLUMNS,
    *_prefixed(actions, 'started', 'id', *HANDED_OVER),
)
_EVENTS = RowSource(*EVENTS.columns, parameter='events')


def _statement() -> sa.Insert:
    # PostgreSQL plans for a hundred rows unless it is told that there is one, and
    # would read small tables from end to end.
    link = sa.select(_LINK).limit(ONE).cte('link').prefix_with('MATERIALIZED')
    row: Mapping[str, sa.ColumnElement[Any]] = dict(link.c.items())
    parent, child = actions.alias('parent'), actions.alias('child')
    # Locked before it is compared, the plan first: that is the order of all others.
    found = (
        sa.select(ONE.label('one'))
        .select_from(link, action_plans, parent, child)
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
        # What somebody holds is waited for by nobody: see `execution.committer`.
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


class Links:
    """Writing links."""

    _db: Database

    @property
    def writes_links(self) -> bool:
        return self._db.engine.dialect.name == 'postgresql'

    def write_link(self, link: Link) -> bool:
        dialect = self._db.engine.dialect
        before, after = link.plan
        row = (
            *_compared_row(before),
            *_saved_row(after),
            *changed_row(link.ended),
            link.started.after.id,
            *handover_values(link.started.after),
        )
        stored = self._db.change_once(
            WRITE,
            rows=_LINK.document(dialect, [row]),
            events=_EVENTS.document(dialect, list(map(EVENTS.values, link.events))),
        )
        return stored > 0
