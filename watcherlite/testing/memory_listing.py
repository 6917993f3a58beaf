"""The part of the in-memory store that lists, and that finds by name."""

import dataclasses
import threading
from collections.abc import Iterable
from typing import Any

from watcherlite.clock import Clock
from watcherlite.db import listing
from watcherlite.db.listing import (
    ListedAction,
    ListedAudit,
    ListedGoal,
    ListedPlan,
    ListedStrategy,
    ListedTemplate,
    ListedWorker,
    Query,
)
from watcherlite.domain.actions import Action
from watcherlite.states import action_plan as plan_states
from watcherlite.testing.memory_tables import Table, Tables, handed_out

#: What the rows of a noun are in what is listed of it.
_ROWS = {
    'goals': 'goal',
    'strategies': 'strategy',
    'audit_templates': 'template',
    'audits': 'audit',
    'action_plans': 'plan',
    'actions': 'action',
}
#: Joined values, of filters, that are called differently there.
_NAMES = {'action_plan_uuid': 'plan_uuid'}
#: Filters that name an object -> its noun and what is listed of it.
_NAMED = {'goal': ('goals', 'goal_uuid'), 'strategy': ('strategies', 'strategy_uuid')}


class MemoryListing(listing.Finders):
    """`db.listing.Listing` on the tables."""

    _clock: Clock
    _lock: threading.RLock
    _tables: Tables

    def list_goals(self, query: Query) -> list[ListedGoal]:
        return self._page('goals', query)

    def list_strategies(self, query: Query) -> list[ListedStrategy]:
        return self._page('strategies', query)

    def list_audit_templates(self, query: Query) -> list[ListedTemplate]:
        return self._page('audit_templates', query)

    def list_audits(self, query: Query) -> list[ListedAudit]:
        return self._page('audits', query)

    def list_action_plans(self, query: Query) -> list[ListedPlan]:
        return self._page('action_plans', query)

    def page_of_actions(self, query: Query) -> list[ListedAction]:
        return self._page('actions', query)

    def list_workers(self) -> list[ListedWorker]:
        with self._lock:
            now = self._clock.now()
            return [
                ListedWorker(
                    number,
                    row.uuid,
                    row.host,
                    row.lanes,
                    row.started_at or now,
                    row.lease_until or now,
                    row.lease_until is not None and row.lease_until > now,
                )
                for number, row in sorted(
                    (self._tables.worker_ids[uuid], row)
                    for uuid, row in self._tables.workers.rows.items()
                )
            ]

    # what these share

    def _page(self, noun: str, query: Query) -> list[Any]:
        listing.check(noun, query)
        descending = query.sort_dir == listing.DESCENDING
        key = listing.deciding_key(query)

        def place(one: Any) -> tuple[Any, ...]:
            value = _value(noun, one, key)
            return (() if value is None else (value,)), _row(noun, one).id

        with self._lock:
            everything = [
                self._listed(noun, row)
                for row in self._table(noun).values()
                if noun != 'actions' or row.plan_id is not None
            ]
            shown = [
                one
                for one in everything
                if (query.deleted or _row(noun, one).deleted_at is None)
                and all(
                    self._matches(noun, one, *item) for item in query.filters.items()
                )
            ]
            present = [one for one in shown if place(one)[0]]
            absent = [one for one in shown if not place(one)[0]]
            for group in (present, absent):
                group.sort(key=place, reverse=descending)
            if query.after is not None:
                marker = place(self._with_uuid(noun, query.after, everything))
                groups = [present, absent] if marker[0] else [absent]
                groups[0][:] = [
                    one
                    for one in groups[0]
                    if (place(one) < marker if descending else place(one) > marker)
                ]
                if not marker[0]:
                    present = []
            return [
                _handed_out(noun, one) for one in (*present, *absent)[: query.limit]
            ]

    def _table(self, noun: str) -> dict[Any, Any]:
        tables: dict[str, Table[Any]] = {
            'goals': self._tables.goals,
            'strategies': self._tables.strategies,
            'audit_templates': self._tables.templates,
            'audits': self._tables.audits,
            'action_plans': self._tables.plans,
            'actions': self._tables.actions,
        }
        return tables[noun].rows

    def _listed(self, noun: str, row: Any) -> Any:
        tables = self._tables
        if noun == 'goals':
            return ListedGoal(row)
        if noun == 'actions':
            plan = tables.plans.rows.get(row.plan_id)
            return ListedAction(row, plan.uuid if plan else None)
        if noun == 'action_plans':
            audit = tables.audits.rows.get(row.audit_id)
            strategy = tables.strategies.rows.get(row.strategy_id)
            return ListedPlan(row, audit.uuid if audit else None, *_told(strategy))
        goal = tables.goals.rows.get(row.goal_id)
        if noun == 'strategies':
            return ListedStrategy(row, *_told(goal))
        strategy = tables.strategies.rows.get(row.strategy_id)
        kind: Any = ListedAudit if noun == 'audits' else ListedTemplate
        return kind(row, *_told(goal), *_told(strategy))

    def _matches(self, noun: str, one: Any, name: str, wanted: Any) -> bool:
        if name in _NAMED:
            of, field = _NAMED[name]
            found = self._best(of, str(wanted), deleted=True)
            return found is not None and getattr(one, field) == found.uuid
        if noun == 'actions' and name == 'audit_uuid':
            plan = self._tables.plans.rows.get(one.action.plan_id)
            audit = self._tables.audits.rows.get(plan.audit_id) if plan else None
            return audit is not None and audit.uuid == wanted
        return bool(_value(noun, one, name) == wanted)

    def _find(self, noun: str, name: str, deleted: bool) -> Any:
        with self._lock:
            row = self._best(noun, name, deleted)
            if row is None:
                raise listing.not_found(noun, name)
            return _handed_out(noun, self._listed(noun, row))

    def _best(self, noun: str, name: str, deleted: bool) -> Any:
        """Return the row that a name stands for most likely, or None."""
        number, lower = listing.as_id(name), name.lower()
        found = []
        for row in self._table(noun).values():
            fits = (
                row.uuid == lower,
                row.name == name,
                row.name.lower() == lower,
                row.id == number,
            )
            if any(fits) and (deleted or row.deleted_at is None):
                gone = row.deleted_at is not None
                found.append((gone, fits.index(True), -row.id, row))
        return min(found)[-1] if found else None

    def _find_uuid(self, noun: str, uuid: str, deleted: bool) -> Any:
        with self._lock:
            rows = self._table(noun).values()
            listed = (self._listed(noun, row) for row in rows if row.uuid == uuid)
            one = self._with_uuid(noun, uuid, listed)
            if not deleted and _row(noun, one).deleted_at is not None:
                raise listing.not_found(noun, uuid)
            return _handed_out(noun, one)

    def _with_uuid(self, noun: str, uuid: str, among: Iterable[Any]) -> Any:
        for one in among:
            if _row(noun, one).uuid == uuid:
                return one
        raise listing.not_found(noun, uuid)


def _told(row: Any) -> tuple[str | None, str | None]:
    """Return what is shown of a row that others refer to."""
    return (None, None) if row is None else (row.uuid, row.name)


def _row(noun: str, one: Any) -> Any:
    return getattr(one, _ROWS[noun])


def _value(noun: str, one: Any, key: str) -> Any:
    """Return by what something is sorted or filtered."""
    name = _NAMES.get(key, key)
    if hasattr(one, name):
        return getattr(one, name)
    row = _row(noun, one)
    if isinstance(row, Action) and key == 'state' and row.deleted_at is not None:
        return plan_states.DELETED
    return getattr(row, name)


def _handed_out(noun: str, one: Any) -> Any:
    return dataclasses.replace(one, **{_ROWS[noun]: handed_out(_row(noun, one))})
