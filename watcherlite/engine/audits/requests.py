"""Validation and resolution of requests on audits.

This module does not write. Messages are Watcher's where Watcher has them.
"""

import dataclasses
import datetime
from collections.abc import Mapping
from typing import Any

from watcherlite import exceptions
from watcherlite.db.api import Store
from watcherlite.domain import audits, schedules
from watcherlite.domain.documents import json_values
from watcherlite.engine.audits.goal_sync import ProposalPlugins

#: Maximum length of a name; generated names are truncated.
NAME_LENGTH = 63


@dataclasses.dataclass(frozen=True, slots=True)
class Reference:
    """A goal with an optional strategy."""

    goal: audits.Goal
    strategy: audits.Strategy | None = None

    @property
    def strategy_id(self) -> int | None:
        return self.strategy.id if self.strategy is not None else None


def find_reference(
    store: Store, goal: str | int, strategy: str | int | None
) -> Reference:
    """Return the named goal and strategy; raises NotFound and Invalid."""
    row = store.find_goal(str(goal)).goal
    if strategy is None:
        return Reference(row)
    chosen = store.find_strategy(str(strategy)).strategy
    if chosen.goal_id != row.id:
        raise exceptions.Invalid(
            f"The strategy {chosen.name} does not relate to the '{row.name}' goal"
        )
    return Reference(row, chosen)


def has_other_reference(
    earlier: audits.Audit | audits.AuditTemplate,
    locked: audits.Audit | audits.AuditTemplate,
) -> bool:
    """Return whether goal or strategy have changed since they were read."""
    return (earlier.goal_id, earlier.strategy_id) != (
        locked.goal_id,
        locked.strategy_id,
    )


@dataclasses.dataclass(frozen=True, slots=True)
class ResolvedAuditRequest:
    """The values of a new audit, before they are validated."""

    reference: Reference
    parameters: Mapping[str, Any]
    scope: list[Any]
    prefix: str


def resolve(store: Store, new: audits.AuditRequest) -> ResolvedAuditRequest:
    """Resolve a request and its template; raises NotFound and Invalid."""
    if new.goal is not None and new.audit_template is not None:
        raise exceptions.Invalid(
            'Either audit_template_uuid or goal should be provided.'
        )
    if new.audit_template is None:
        if new.goal is None:
            raise exceptions.Invalid(
                'A valid goal or audit_template_id must be provided'
            )
        refers = find_reference(store, new.goal, new.strategy)
        prefix = (refers.strategy or refers.goal).name
        return ResolvedAuditRequest(
            refers, new.parameters or {}, list(new.scope or ()), prefix
        )
    try:
        template = store.find_audit_template(new.audit_template).template
    except exceptions.NotFound:
        raise exceptions.Invalid(
            'The audit template UUID or name specified is invalid'
        ) from None
    strategy = new.strategy if new.strategy is not None else template.strategy_id
    refers = find_reference(store, template.goal_id, strategy)
    parameters = new.parameters
    if parameters is None and refers.strategy_id == template.strategy_id:
        parameters = template.default_parameters
    scope = new.scope if new.scope is not None else template.scope
    prefix = refers.strategy.name if refers.strategy is not None else template.name
    return ResolvedAuditRequest(refers, parameters or {}, list(scope), prefix)


def default_name(prefix: str, now: datetime.datetime) -> str:
    """Return the name of an audit that was created without one."""
    time = now.replace(tzinfo=None).isoformat()
    return f'{prefix[: NAME_LENGTH - 1 - len(time)]}-{time}'


def check_name(noun: str, name: str) -> None:
    """Raise Invalid for a name that cannot be stored or printed."""
    stripped = name.strip()
    if not (0 < len(name) <= NAME_LENGTH and name == stripped and name.isprintable()):
        raise exceptions.Invalid(
            f'The name {name[:NAME_LENGTH]!r} of {noun} cannot be used: it has 1 to '
            f'{NAME_LENGTH} characters that can be shown, and no space at its ends'
        )


def fill_parameters(
    proposers: ProposalPlugins,
    strategy: audits.Strategy | None,
    parameters: Mapping[str, Any],
) -> dict[str, Any]:
    """Return parameters with defaults; raises Invalid."""
    check_json('parameters', parameters)
    if strategy is None:
        if parameters:
            raise exceptions.Invalid(
                'Specify parameters but no predefined strategy for audit, or no '
                'parameter spec in predefined strategy'
            )
        return {}
    return proposers.fill_parameters(strategy.parameters_spec, parameters)


def check_json(field: str, value: object) -> None:
    """Raise Invalid for what cannot be stored as JSON."""
    for path, problem in json_values.problems(value):
        place = '.'.join([field, *(str(step) for step in path)])
        raise exceptions.Invalid(f'{place}: {problem}')


def check_scope(scope: object) -> None:
    """Raise Invalid unless a scope is a list of mappings."""
    if not isinstance(scope, list | tuple) or not all(
        isinstance(part, dict) for part in scope
    ):
        raise exceptions.Invalid(
            'The scope is not a list of objects, such as [{"compute": []}]'
        )
    check_json('scope', scope)


def check_times(audit: audits.NewAudit, changed: bool = False) -> None:
    """Raise Invalid unless type, interval and times of an audit are consistent.

    :param changed: it exists: a ONESHOT audit may then have an interval and times,
        which have no effect. Clients of Watcher set them
    """
    kind = audit.audit_type
    if kind not in audits.AUDIT_TYPES:
        raise exceptions.Invalid(
            f'Audit type {kind} could not be found; there are '
            f'{", ".join(audits.AUDIT_TYPES)}'
        )
    unused = kind == audits.ONESHOT and changed
    if kind != audits.CONTINUOUS and not unused:
        if audit.interval is not None:
            raise exceptions.Invalid(f'Interval of audit must not be set for {kind}.')
        if audit.start_time is not None or audit.end_time is not None:
            raise exceptions.Invalid(
                f'Start or End time of audit must not be set for {kind}.'
            )
        return
    if audit.interval is not None:
        schedules.parse(audit.interval)
    elif not unused:
        raise exceptions.Invalid(f'Interval of audit must be specified for {kind}.')
    start, end = audit.start_time, audit.end_time
    if start is not None and end is not None and end <= start:
        raise exceptions.Invalid('The end time of an audit must be after its start')
