"""Statistics of the store: the numbers of rows that operators monitor."""

from collections.abc import Mapping
from typing import Any

import sqlalchemy as sa

from watcherlite.db.sqlalchemy.constructs import EMPTY, ONE, constant, now
from watcherlite.db.sqlalchemy.database import Database
from watcherlite.db.sqlalchemy.statements.plans import ACTIVE
from watcherlite.db.sqlalchemy.tables.actions import action_plans, actions
from watcherlite.db.sqlalchemy.tables.coordination import workers
from watcherlite.db.sqlalchemy.tables.events import events
from watcherlite.db.sqlalchemy.tables.stacks import resources, stacks


def _count_by(column: sa.Column[Any], *where: Any) -> sa.Select[Any]:
    return sa.select(column, sa.func.count()).where(*where).group_by(column)


def _count(table: sa.Table, *where: Any) -> sa.Select[Any]:
    return sa.select(sa.func.count()).select_from(table).where(*where)


_STATES = {
    'action_plans': _count_by(action_plans.c.state, ACTIVE),
    'actions': _count_by(actions.c.status, actions.c.ended == EMPTY),
    'stacks': _count_by(
        stacks.c.status, stacks.c.hidden.in_([sa.literal_column(n) for n in '02'])
    ),
}
_FIGURES = {
    'pending_events': _count(events, events.c.pending == ONE),
    'resources_in_progress': _count(
        resources,
        resources.c.status == constant('IN_PROGRESS'),
        resources.c.deleted_at.is_(None),
    ),
    'workers': _count(workers, workers.c.lease_until > now()),
}


class Statistics:
    """The method `db.api.Store.statistics`."""

    _db: Database

    def statistics(self) -> Mapping[str, Any]:
        states = {
            name: {row[0]: row[1] for row in self._db.rows(statement)}
            for name, statement in _STATES.items()
        }
        return states | {
            name: self._db.rows(statement)[0][0] for name, statement in _FIGURES.items()
        }
