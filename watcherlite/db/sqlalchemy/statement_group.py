"""The base class of the statement groups of a transaction."""

from typing import Any

import sqlalchemy as sa

from watcherlite.db.sqlalchemy.constructs import id_in, use_index
from watcherlite.db.sqlalchemy.database import Rows, Session
from watcherlite.db.sqlalchemy.objects import ACTIONS
from watcherlite.db.sqlalchemy.tables.actions import actions
from watcherlite.domain.actions import Action


class ActionUpdate:
    """An UPDATE that returns the actions that it has changed.

    :param where: which it changes
    :param values: (column, expression); none may use a column that one before it has
        assigned: MySQL would take the new value
    :param index: by which MySQL is to find them, unless by their ids
    """

    def __init__(
        self,
        where: sa.ColumnElement[bool],
        *values: tuple[sa.Column[Any], Any],
        index: str | None = None,
    ) -> None:
        update = sa.update(actions).ordered_values(*values)
        self.returning = update.where(where).returning(*ACTIONS.columns)
        find = sa.select(actions.c.id).where(where)
        self.find = find.order_by(actions.c.id).with_for_update()
        if index is not None:
            self.find = use_index(self.find, actions, index, 'mysql')
        self.write = update.where(id_in(actions.c.id, 'changed'))


class StatementGroup:
    """A group of methods of `db.api.Transaction`, on one session.

    What is written here holds where an UPDATE can return what it has changed;
    `mysql` overrides what is only possible otherwise.
    """

    def __init__(self, session: Session) -> None:
        self._session = session

    def _actions(self, rows: Rows) -> list[Action]:
        """Return the actions of rows, by id: RETURNING has no order."""
        found = [ACTIONS.read(row) for row in rows]
        found.sort(key=lambda action: action.id)
        return found

    def _update(self, update: ActionUpdate, **values: Any) -> list[Action]:
        """Change actions; return them whole."""
        return self._actions(self._session.rows(update.returning, **values))
