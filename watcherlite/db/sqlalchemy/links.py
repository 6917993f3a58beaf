"""The step from one action of a plan to the next, in one statement.

On a server the round trips of a transaction cost a chain more than its changes
do: BEGIN, five statements, COMMIT. Here is all of it in one, which PostgreSQL
commits by itself. Whatever is not as expected leaves `found` empty, and then
nothing is changed.
"""

from typing import Any

from watcherlite.db.api import Link
from watcherlite.db.sqlalchemy.changes import assignments
from watcherlite.db.sqlalchemy.columns import (
    CHANGED_ACTION,
    CHANGED_PLAN,
    EVENT,
    PLAN,
    named,
)
from watcherlite.db.sqlalchemy.database import Database
from watcherlite.db.sqlalchemy.dependents import HANDOVER, handover_row
from watcherlite.db.sqlalchemy.dialects import INTEGER, Batch, Dialect
from watcherlite.db.sqlalchemy.encryption import FieldCipher
from watcherlite.db.sqlalchemy.mappers import changed_action, changed_plan, new_event
from watcherlite.domain.action_plans import ActionPlan

#: What of a plan is compared; its fault changes only together with `failed`.
_SEEN = {
    f'p_{column}': PLAN[column]
    for column in (
        'state',
        'stage',
        'status_message',
        'total',
        'unfinished',
        'active',
        'failed',
        'skipped',
        'updated_at',
        'deleted_at',
    )
}
_PLAN = {f'n_{column}': kind for column, kind in CHANGED_PLAN.items()}
_COLUMNS = {'p_id': INTEGER, **_SEEN, **_PLAN, **CHANGED_ACTION, **HANDOVER}

_UNCHANGED = ' AND '.join(
    f'action_plans.{name[2:]} IS NOT DISTINCT FROM r.{name}' for name in _SEEN
)
# Locked before it is compared, the plan first: that is the order of all others.
_FOUND = (
    'SELECT 1 FROM link AS r, action_plans, actions AS parent, actions AS child '
    f'WHERE action_plans.id = r.p_id AND {_UNCHANGED} '
    'AND parent.id = r.id AND parent.status = r.old_status '
    'AND parent.attempt = r.old_attempt '
    'AND parent.owner IS NOT DISTINCT FROM r.old_owner '
    'AND child.id = r.h_id AND child.pending = 1 AND child.owner IS NULL '
    'AND child.blocked_on IS NULL '
    "AND child.status IN ('INIT', 'WAITING') AND child.attempt = r.h_attempt - 1 "
    # What somebody holds is waited for by nobody: see `execution.committer`.
    'FOR UPDATE OF action_plans, parent, child SKIP LOCKED'
)
_SAVED = ', '.join(f'{column} = r.n_{column}' for column in CHANGED_PLAN)
_STARTED = ', '.join(f'{name[2:]} = r.{name}' for name in HANDOVER if name != 'h_id')
_OF_FOUND = 'FROM link AS r, found WHERE'


def _statement(dialect: Dialect) -> Batch:
    """Return the statement; `:rows` is the link, `:events` are its events."""
    link = dialect.rows_source(_COLUMNS)
    events = dialect.rows_source(EVENT).replace(':rows', ':events')
    return Batch(
        # PostgreSQL plans for a hundred rows unless it is told that there is one, and
        # would read small tables from end to end.
        f'WITH link AS MATERIALIZED (SELECT * FROM {link} LIMIT 1), '
        f'found AS MATERIALIZED ({_FOUND}), '
        f'plan AS (UPDATE action_plans SET {_SAVED} {_OF_FOUND} '
        'action_plans.id = r.p_id), '
        f'parent AS (UPDATE actions SET {assignments()} {_OF_FOUND} '
        'actions.id = r.id), '
        f'child AS (UPDATE actions SET pending = 0, claimable = NULL, {_STARTED} '
        f'{_OF_FOUND} actions.id = r.h_id) '
        f'INSERT INTO events ({", ".join(EVENT)}, pending) '
        f'SELECT {named("r", EVENT)}, 1 FROM found, {events}',
        _COLUMNS,
    )


def _seen(plan: ActionPlan) -> tuple[Any, ...]:
    """Return the values of `_SEEN`: all that changes but the fault."""
    (*counted, _fault, updated_at, deleted_at) = changed_plan(plan)
    return (*counted, updated_at, deleted_at)


def _row(link: Link, sealing: FieldCipher) -> tuple[Any, ...]:
    """Return the values of `_COLUMNS`."""
    before, after = link.plan
    started = link.started.after
    return (
        after.id,
        *_seen(before),
        *changed_plan(after),
        *changed_action(link.ended.before, link.ended.after, sealing),
        *handover_row(started.id, started, sealing),
    )


class Links:
    """Writing links."""

    _db: Database
    _link: str | None = None

    @property
    def writes_links(self) -> bool:
        return self._db.dialect.modifying_with

    def write_link(self, link: Link) -> bool:
        dialect, sealing = self._db.dialect, self._db.mapper.sealing
        if self._link is None:
            self._link = dialect.sql(_statement(dialect).template)
        stored = self._db.change_once(
            self._link,
            rows=dialect.rows(_COLUMNS, [_row(link, sealing)]),
            events=dialect.rows(EVENT, [new_event(e, sealing) for e in link.events]),
        )
        return stored > 0
