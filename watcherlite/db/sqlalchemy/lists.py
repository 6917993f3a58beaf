"""The part of the store that lists, and that finds one by what users name."""

from collections.abc import Sequence
from typing import Any

from watcherlite.db import query as queries
from watcherlite.db.query import (
    ListedAction,
    ListedAudit,
    ListedGoal,
    ListedPlan,
    ListedStrategy,
    ListedTemplate,
    ListedWorker,
    Query,
)
from watcherlite.db.sqlalchemy import filters, keyset
from watcherlite.db.sqlalchemy.collections import COLLECTIONS
from watcherlite.db.sqlalchemy.columns import (
    ACTION,
    AUDIT,
    AUDIT_TEMPLATE,
    GOAL,
    PLAN,
    STRATEGY,
)
from watcherlite.db.sqlalchemy.database import Database
from watcherlite.db.sqlalchemy.mappers import Mapper, loads

Row = Sequence[Any]

WORKERS = (
    'SELECT id, uuid, host, lanes, started_at, lease_until, '
    'CASE WHEN lease_until > NOW() THEN 1 ELSE 0 END FROM workers ORDER BY id'
)


class Lists(queries.Finders):
    """`db.query.ListStore`."""

    _db: Database

    def list_goals(self, query: Query) -> list[ListedGoal]:
        return self._listed('goals', self._page('goals', query))

    def list_strategies(self, query: Query) -> list[ListedStrategy]:
        return self._listed('strategies', self._page('strategies', query))

    def list_audit_templates(self, query: Query) -> list[ListedTemplate]:
        return self._listed('audit_templates', self._page('audit_templates', query))

    def list_audits(self, query: Query) -> list[ListedAudit]:
        return self._listed('audits', self._page('audits', query))

    def list_action_plans(self, query: Query) -> list[ListedPlan]:
        return self._listed('action_plans', self._page('action_plans', query))

    def page_of_actions(self, query: Query) -> list[ListedAction]:
        return self._listed('actions', self._page('actions', query))

    def list_workers(self) -> list[ListedWorker]:
        found = []
        time = self._db.dialect.to_time
        for number, uuid, host, lanes, started, until, live in self._db.rows(WORKERS):
            times = time(started), time(until)
            lanes = tuple(loads(lanes))
            found.append(ListedWorker(number, uuid, host, lanes, *times, bool(live)))
        return found

    # what these share

    def _page(self, noun: str, query: Query) -> list[Row]:
        if query.after is not None and not filters.can_be_stored(query.after):
            raise queries.not_found(noun, query.after)
        found = None
        if statement := keyset.references(noun, query):
            marker = {} if query.after is None else {'after': query.after}
            found = self._db.rows(statement, **marker)
        page = keyset.Page(noun, query, self._db.dialect, found)
        rows = self._db.rows(page.template, **page.values)
        if query.after is not None and not rows:
            raise queries.not_found(noun, query.after)
        return [row[1:] for row in rows if row[0] is not None]

    def _find(self, noun: str, name: str, deleted: bool) -> Any:
        of = COLLECTIONS[noun]
        if not filters.can_be_stored(name):
            raise queries.not_found(noun, name)
        hidden = '' if deleted else f' WHERE {of.table}.deleted_at IS NULL'
        rows = self._db.rows(
            f'SELECT {of.columns} FROM {filters.matches(of.table)} '
            f'JOIN {of.table} ON {of.table}.id = matches.id{of.joins}{hidden} '
            f'{filters.likeliest(of.table)}',
            **filters.name_values(name),
        )
        return self._only(noun, rows, name)

    def _find_uuid(self, noun: str, uuid: str, deleted: bool) -> Any:
        of = COLLECTIONS[noun]
        if not filters.can_be_stored(uuid):
            raise queries.not_found(noun, uuid)
        hidden = '' if deleted else f' AND {of.table}.deleted_at IS NULL'
        rows = self._db.rows(
            f'SELECT {of.columns} FROM {of.table}{of.joins} '
            f'WHERE {of.table}.uuid = :uuid{hidden}',
            uuid=uuid,
        )
        return self._only(noun, rows, uuid)

    def _only(self, noun: str, rows: Sequence[Row], name: str) -> Any:
        for one in self._listed(noun, rows):
            return one
        raise queries.not_found(noun, name)

    def _listed(self, noun: str, rows: Sequence[Row]) -> list[Any]:
        width, make, kind = _KINDS[noun]
        mapper = self._db.mapper
        return [kind(make(mapper, row[:width]), *row[width:]) for row in rows]


#: noun -> columns of a row of it, what makes it of them, and what is listed of it.
_KINDS: dict[str, tuple[int, Any, Any]] = {
    'goals': (len(GOAL), Mapper.goal, ListedGoal),
    'strategies': (len(STRATEGY), Mapper.strategy, ListedStrategy),
    'audit_templates': (len(AUDIT_TEMPLATE), Mapper.audit_template, ListedTemplate),
    'audits': (len(AUDIT), Mapper.audit, ListedAudit),
    'action_plans': (len(PLAN), Mapper.plan, ListedPlan),
    'actions': (len(ACTION), Mapper.action, ListedAction),
}
