"""Rows to dataclasses and back; `columns` has the order."""

import datetime
import json
from collections.abc import Callable, Sequence
from typing import Any

from watcherlite.db.api import Worker
from watcherlite.db.sqlalchemy.columns import CHANGED_PLAN
from watcherlite.db.sqlalchemy.dialects import Dialect, dumps, to_text
from watcherlite.db.sqlalchemy.encryption import FieldCipher
from watcherlite.db.sqlalchemy.tables.types import NAME_LENGTH
from watcherlite.domain.action_plans import ActionPlan, NewActionPlan
from watcherlite.domain.actions import ENGINE, Action, NewAction, cut
from watcherlite.domain.audits import Audit, AuditTemplate, Goal, Strategy
from watcherlite.domain.creators import Creator, from_mapping
from watcherlite.domain.events import Event, StoredEvent
from watcherlite.states import action as states

loads = json.loads


def json_text(value: Any) -> str:
    """Return JSON to be stored; TypeError or ValueError if it cannot be."""
    return '{}' if value == {} else dumps(value)


def json_or_null(value: Any) -> str | None:
    """Return JSON to be stored, NULL for None."""
    return None if value is None else json_text(value)


def time_or_null(value: datetime.datetime | None) -> str | None:
    """Return a time to be stored, NULL for None."""
    return None if value is None else to_text(value)


def claimable(action: NewAction) -> int | None:
    """Return the column `claimable`, `pending` left aside."""
    if action.owner is not None or action.blocked_on is not None:
        return None
    if action.status == states.READY:
        return 1
    return 1 if action.status == states.INIT and action.plan_id is not None else None


def ended(status: str) -> str:
    """Return the column `ended`: a final status, or nothing."""
    return status if status in states.FINAL else ''


def new_action(
    action: NewAction, action_id: int | None, sealing: FieldCipher
) -> tuple[Any, ...]:
    """Return the values of NEW_ACTION."""
    whole = action.lane == ENGINE
    return (
        action.uuid,
        action.action_type,
        action.lane,
        action_id,
        action.name,
        action.plan_id,
        action.derived_from,
        action.target,
        action.cause,
        sealing.document(action.inputs, whole),
        sealing.document(action.context),
        dumps(action.parents) if action.parents else '[]',
        action.dependents,
        action.interval,
        action.timeout,
        time_or_null(action.created_at),
        action.tenant,
        action.within,
        action.status,
        cut(action.status_message),
        action.owner,
        action.attempt,
        action.recoveries,
        action.phase,
        action.pending,
        to_text(action.not_before),
        action.blocked_on,
        action.control,
        sealing.or_null(action.token, whole),
        time_or_null(action.start_time),
        time_or_null(action.end_time),
        time_or_null(action.deadline),
        sealing.or_null(action.outputs, whole),
        sealing.document(action.data, whole),
        time_or_null(action.updated_at),
        time_or_null(action.deleted_at),
        None if action.pending else claimable(action),
        ended(action.status),
    )


def changed_action(
    before: Action, after: Action, sealing: FieldCipher
) -> tuple[Any, ...]:
    """Return the values of CHANGED_ACTION."""
    whole = after.lane == ENGINE
    return (
        after.status,
        cut(after.status_message),
        after.owner,
        after.attempt,
        after.recoveries,
        after.phase,
        to_text(after.not_before),
        after.blocked_on,
        sealing.or_null(after.token, whole),
        time_or_null(after.start_time),
        time_or_null(after.end_time),
        time_or_null(after.deadline),
        sealing.or_null(after.outputs, whole),
        sealing.document(after.data, whole),
        time_or_null(after.updated_at),
        time_or_null(after.deleted_at),
        claimable(after),
        ended(after.status),
        before.id,
        before.status,
        before.owner,
        before.attempt,
    )


def new_plan(plan: NewActionPlan) -> dict[str, Any]:
    """Return the values of PLAN but for the id."""
    return {
        'uuid': plan.uuid,
        'name': plan.name,
        'audit_id': plan.audit_id,
        'strategy_id': plan.strategy_id,
        'on_failure': plan.on_failure,
        'on_worker_loss': plan.on_worker_loss,
        'max_parallel': plan.max_parallel,
        'global_efficacy': json_text(plan.global_efficacy),
        'efficacy_indicators': json_text(plan.efficacy_indicators),
        'created_at': time_or_null(plan.created_at),
        'creator': json_text(plan.creator.as_mapping()),
        **dict(zip(CHANGED_PLAN, changed_plan(plan), strict=True)),
    }


def changed_plan(plan: NewActionPlan) -> tuple[Any, ...]:
    """Return the values of CHANGED_PLAN."""
    return (
        plan.state,
        plan.stage,
        cut(plan.status_message),
        plan.total,
        plan.unfinished,
        plan.active,
        plan.failed,
        plan.skipped,
        json_or_null(plan.fault),
        time_or_null(plan.updated_at),
        time_or_null(plan.deleted_at),
    )


def new_event(event: Event, sealing: FieldCipher) -> tuple[Any, ...]:
    """Return the values of EVENT."""
    return (
        event.subject,
        event.kind,
        event.plan_id,
        event.action_id,
        event.old_status,
        event.new_status,
        cut(event.message),
        event.plan_state,
        cut(event.plan_message),
        to_text(event.occurred_at),
        sealing.or_null(event.detail),
        event.uuid,
        event.subject_id,
    )


def folded(name: str) -> str:
    """Return a name as it is looked for in any case; no longer than a column."""
    return name.lower()[:NAME_LENGTH]


def _creator(value: str | None) -> Creator:
    """Return the creator of a plan or an audit; NULL: stored before there were any."""
    return from_mapping(None if value is None else loads(value))


class Mapper:
    """Makes dataclasses of the rows of one database.

    :ivar sealing: opens what is sealed of them, and seals
    """

    def __init__(self, dialect: Dialect, sealing: FieldCipher) -> None:
        self.sealing = sealing
        self._time: Callable[[Any], datetime.datetime] = dialect.to_time

    def time(self, value: Any) -> datetime.datetime | None:
        """Return a time, None for NULL."""
        return None if value is None else self._time(value)

    def action(self, row: Sequence[Any]) -> Action:
        """Return the action of a row of ACTION."""
        # By position and without calls for what is empty: every action that is
        # executed passes here, and the fields are many.
        (
            uuid,
            action_type,
            lane,
            action_id,
            name,
            plan_id,
            derived_from,
            target,
            cause,
            inputs,
            context,
            parents,
            dependents,
            interval,
            timeout,
            created,
            tenant,
            within,
            status,
            message,
            owner,
            attempt,
            recoveries,
            phase,
            pending,
            not_before,
            blocked_on,
            control,
            token,
            start,
            end,
            deadline,
            outputs,
            data,
            updated,
            deleted,
        ) = row
        time = self._time
        loads = self.sealing.loads
        return Action(
            uuid,
            action_type,
            lane,
            name,
            plan_id,
            derived_from,
            target,
            cause,
            {} if inputs == '{}' else loads(inputs),
            {} if context == '{}' else loads(context),
            () if parents == '[]' else tuple(loads(parents)),
            dependents,
            interval,
            timeout,
            None if created is None else time(created),
            tenant,
            within,
            status,
            message,
            owner,
            attempt,
            recoveries,
            phase,
            pending,
            time(not_before),
            blocked_on,
            control,
            None if token is None else loads(token),
            None if start is None else time(start),
            None if end is None else time(end),
            None if deadline is None else time(deadline),
            None if outputs is None else loads(outputs),
            {} if data == '{}' else loads(data),
            None if updated is None else time(updated),
            None if deleted is None else time(deleted),
            id=action_id,
        )

    def plan(self, row: Sequence[Any]) -> ActionPlan:
        """Return the plan of a row of PLAN."""
        values = list(row)
        values[8] = loads(row[8])
        # None in plans that were stored before there were any.
        values[9] = [] if row[9] is None else loads(row[9])
        values[10] = self.time(row[10])
        values[11] = _creator(row[11])
        values[20] = None if row[20] is None else loads(row[20])
        values[21:] = map(self.time, row[21:])
        key = values.pop(2)
        return ActionPlan(*values, id=key)

    def stored_event(self, row: Sequence[Any]) -> StoredEvent:
        """Return the event of a row: sequence, EVENT, six of the action's."""
        (
            sequence,
            subject,
            kind,
            plan_id,
            action_id,
            old,
            new,
            message,
            plan_state,
            plan_message,
            occurred,
            detail,
            uuid,
            subject_id,
            action_uuid,
            action_name,
            action_type,
            action_inputs,
            action_parents,
            action_created,
        ) = row
        return StoredEvent(
            sequence,
            Event(
                subject,
                kind,
                plan_id,
                action_id,
                old,
                new,
                message,
                plan_state,
                plan_message,
                self._time(occurred),
                None if detail is None else self.sealing.loads(detail),
                uuid,
                subject_id,
            ),
            action_uuid,
            action_name,
            action_type,
            None if action_inputs is None else self.sealing.opened(action_inputs),
            action_parents,
            None if action_created is None else self._time(action_created),
        )

    def worker(self, row: Sequence[Any]) -> Worker:
        """Return the worker of a row of WORKER."""
        uuid, host, identity, lanes, started_at, lease_until = row
        return Worker(
            uuid,
            host,
            identity,
            tuple(loads(lanes)),
            self.time(started_at),
            self.time(lease_until),
        )

    def goal(self, row: Sequence[Any]) -> Goal:
        """Return the goal of a row of GOAL."""
        values = list(row)
        values[3] = loads(row[3])
        values[5:] = map(self.time, row[5:])
        return Goal(*values)

    def strategy(self, row: Sequence[Any]) -> Strategy:
        """Return the strategy of a row of STRATEGY."""
        values = list(row)
        values[4] = loads(row[4])
        values[6:] = map(self.time, row[6:])
        return Strategy(*values)

    def audit(self, row: Sequence[Any]) -> Audit:
        """Return the audit of a row of AUDIT."""
        values = list(row)
        values[6:8] = map(self.sealing.loads, row[6:8])
        values[9] = bool(row[9])
        values[11] = self.time(row[11])
        values[13:18] = map(self.time, row[13:18])
        values[18] = bool(row[18])
        values[20] = _creator(row[20])
        return Audit(*values)

    def audit_template(self, row: Sequence[Any]) -> AuditTemplate:
        """Return the audit template of a row of AUDIT_TEMPLATE."""
        values = list(row)
        values[5:7] = map(self.sealing.loads, row[5:7])
        values[8:] = map(self.time, row[8:])
        return AuditTemplate(*values)
