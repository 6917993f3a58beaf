"""Queries of actions."""

import datetime
import functools
from collections.abc import Iterable, Sequence
from typing import Any

import sqlalchemy as sa

from watcherlite import exceptions
from watcherlite.db.sqlalchemy.constructs import EMPTY, LAST_ID, LIMIT, id_in, text_in
from watcherlite.db.sqlalchemy.database import Database
from watcherlite.db.sqlalchemy.mappers import ACTIONS
from watcherlite.db.sqlalchemy.tables.actions import action_dependencies, actions
from watcherlite.domain.actions import Action
from watcherlite.states import action as action_states

ACTION_BY_UUID = ACTIONS.select().where(actions.c.uuid == sa.bindparam('uuid'))
ACTIONS_BY_ID = ACTIONS.select().where(id_in(actions.c.id, 'ids'))
DERIVED = (
    ACTIONS.select()
    .where(actions.c.derived_from == sa.bindparam('key'))
    .order_by(actions.c.id)
)
DERIVED_SINCE = DERIVED.where(actions.c.created_at >= sa.bindparam('since'))
_UNFINISHED = actions.c.ended == EMPTY
UNFINISHED_DERIVED = (
    ACTIONS.select()
    .where(id_in(actions.c.derived_from, 'ids'), _UNFINISHED)
    .order_by(actions.c.id)
)
COUNT = (
    sa.select(actions.c.status, sa.func.count())
    .where(actions.c.plan_id == sa.bindparam('plan_id'))
    .group_by(actions.c.status)
)


def _status_condition(statuses: frozenset[str]) -> list[sa.ColumnElement[Any]]:
    """Return the condition of some statuses, in terms of an index."""
    if statuses <= action_states.FINAL:
        if len(statuses) == 1:
            # In an index, the actions of one status are in the order of their ids.
            return [actions.c.ended != EMPTY, actions.c.ended == sa.bindparam('status')]
        return [actions.c.ended != EMPTY, text_in(actions.c.ended, 'statuses')]
    in_statuses = text_in(actions.c.status, 'statuses')
    if statuses.isdisjoint(action_states.FINAL):
        return [_UNFINISHED, in_statuses]
    return [in_statuses]


@functools.lru_cache(maxsize=64)
def _page(
    of_plan: bool, statuses: frozenset[str] | None, descending: bool
) -> sa.Select[Any]:
    """Return the statement of a page of actions."""
    after: sa.BindParameter[Any] = sa.bindparam('after_id')
    beyond = actions.c.id < after if descending else actions.c.id > after
    page = ACTIONS.select().where(beyond)
    if of_plan:
        page = page.where(actions.c.plan_id == sa.bindparam('plan_id'))
    if statuses is not None:
        page = page.where(*_status_condition(statuses))
    order = actions.c.id.desc() if descending else actions.c.id
    return page.order_by(order).limit(LIMIT)


def _unfinished(here: str, there: str) -> sa.Select[Any]:
    """Return the uuids of the unfinished actions at the other end of dependencies."""
    edges = action_dependencies.c
    return (
        sa.select(actions.c.uuid)
        .join_from(action_dependencies, actions, actions.c.id == edges[there])
        .where(edges[here] == sa.bindparam('key'), _UNFINISHED)
        .order_by(actions.c.id)
    )


DEPENDED_BY = _unfinished('parent_id', 'child_id')
DEPENDS_ON = _unfinished('child_id', 'parent_id')


class SqlActionStore:
    """The methods of `db.api.Store` that read actions."""

    _db: Database

    def get_action(self, uuid: str) -> Action:
        for row in self._db.rows(ACTION_BY_UUID, uuid=uuid):
            return ACTIONS.read(row)
        raise exceptions.NotFound(f'Action {uuid} could not be found.')

    def actions_by_id(self, action_ids: Sequence[int]) -> dict[int, Action]:
        if not action_ids:
            return {}
        found = self._actions(ACTIONS_BY_ID, ids=action_ids)
        return {action.id: action for action in found}

    def derived_actions(
        self, action_id: int, since: datetime.datetime | None = None
    ) -> list[Action]:
        if since is None:
            return self._actions(DERIVED, key=action_id)
        return self._actions(DERIVED_SINCE, key=action_id, since=since)

    def unfinished_derived(self, action_ids: Sequence[int]) -> list[Action]:
        if not action_ids:
            return []
        return self._actions(UNFINISHED_DERIVED, ids=action_ids)

    def list_actions(
        self,
        *,
        plan_id: int | None = None,
        statuses: Iterable[str] | None = None,
        after_id: int | None = None,
        limit: int = 1000,
        descending: bool = False,
    ) -> list[Action]:
        desired = None if statuses is None else frozenset(statuses)
        if desired is not None and not desired:
            return []
        first = LAST_ID if descending else 0
        values: dict[str, Any] = {
            'after_id': first if after_id is None else after_id,
            'limit': limit,
        }
        if plan_id is not None:
            values['plan_id'] = plan_id
        if desired is not None and len(desired) == 1 and desired <= action_states.FINAL:
            values['status'] = min(desired)
        elif desired is not None:
            values['statuses'] = sorted(desired)
        statement = _page(plan_id is not None, desired, descending)
        return self._actions(statement, **values)

    def count_actions(self, plan_id: int) -> dict[str, int]:
        return {row[0]: row[1] for row in self._db.rows(COUNT, plan_id=plan_id)}

    def depended_by(self, action_id: int) -> list[str]:
        return [row[0] for row in self._db.rows(DEPENDED_BY, key=action_id)]

    def depends_on(self, action_id: int) -> list[str]:
        return [row[0] for row in self._db.rows(DEPENDS_ON, key=action_id)]

    def _actions(self, statement: sa.Select[Any], **values: Any) -> list[Action]:
        return [ACTIONS.read(row) for row in self._db.rows(statement, **values)]
