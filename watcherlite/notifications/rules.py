"""Which notifications a change gives rise to: the tables, and nothing else.

What may be told of one kind of thing is a row of SUBJECTS. Actions, plans and audits
are told of in the states of the infra-optim vocabulary, stacks and resources in those
of orchestration, clusters and nodes in those of clustering. A change that does not show
there is told to nobody.
"""

import dataclasses
from collections.abc import Callable, Mapping

from watcherlite.domain import events
from watcherlite.notifications import cluster_rules, stack_rules
from watcherlite.notifications.notification import Notification
from watcherlite.states import action as action_states
from watcherlite.states import action_plan as plan_states
from watcherlite.states import audit as audit_states
from watcherlite.states import cluster as cluster_states

#: priority on the wire -> rank
PRIORITIES = {'DEBUG': 0, 'INFO': 1, 'WARN': 2, 'ERROR': 3, 'CRITICAL': 4}
#: the words of the option `level` -> rank
LEVELS = {'debug': 0, 'info': 1, 'warning': 2, 'error': 3, 'critical': 4}

PENDING = action_states.INFRA_OPTIM[action_states.READY]
ONGOING = action_states.INFRA_OPTIM[action_states.RUNNING]
DELETED = plan_states.DELETED


ACTION = {
    row.name: row
    for row in (
        Notification('create', 'INFO', 'ActionCreatePayload', 'the action was stored'),
        Notification(
            'update',
            'INFO',
            'ActionUpdatePayload',
            'its state changed, its status message was edited, or it was deleted',
        ),
        Notification('delete', 'INFO', 'ActionDeletePayload', 'it was deleted, softly'),
        Notification(
            'execution.start',
            'INFO',
            'ActionExecutionPayload',
            'its pre-condition passed and a worker executes it; again for each '
            'further try or run',
        ),
        Notification('execution.end', 'INFO', 'ActionExecutionPayload', 'it SUCCEEDED'),
        Notification(
            'execution.error',
            'ERROR',
            'ActionExecutionPayload',
            'it FAILED; `fault` says how',
        ),
        Notification(
            'cancel.start',
            'INFO',
            'ActionCancelPayload',
            'it was running and was told to stop',
        ),
        Notification(
            'cancel.end', 'INFO', 'ActionCancelPayload', 'it had started and stopped'
        ),
    )
}

ACTION_PLAN = {
    row.name: row
    for row in (
        Notification(
            'create', 'INFO', 'ActionPlanCreatePayload', 'the plan was stored'
        ),
        Notification(
            'update',
            'INFO',
            'ActionPlanUpdatePayload',
            'its state changed, its status message was edited, or it was deleted',
        ),
        Notification(
            'delete', 'INFO', 'ActionPlanDeletePayload', 'it was deleted, softly'
        ),
        Notification(
            'execution.start', 'INFO', 'ActionPlanActionPayload', 'a worker took it'
        ),
        Notification(
            'execution.end',
            'INFO',
            'ActionPlanActionPayload',
            'all its actions ended and none FAILED',
        ),
        Notification(
            'execution.error',
            'ERROR',
            'ActionPlanActionPayload',
            'all its actions ended and at least one FAILED; `fault` says how the '
            'first did',
        ),
        Notification(
            'cancel.start',
            'INFO',
            'ActionPlanCancelPayload',
            'it was running and is cancelled',
        ),
        Notification(
            'cancel.end',
            'INFO',
            'ActionPlanCancelPayload',
            'nothing of it runs any more',
        ),
    )
}

AUDIT = {
    row.name: row
    for row in (
        Notification('create', 'INFO', 'AuditCreatePayload', 'the audit was stored'),
        Notification(
            'update',
            'INFO',
            'AuditUpdatePayload',
            'its state changed, something else of it was edited, or it was deleted',
        ),
        Notification('delete', 'INFO', 'AuditDeletePayload', 'it was deleted, softly'),
        Notification(
            'strategy.start',
            'INFO',
            'AuditActionPayload',
            'a run of it began: the strategy looks for a solution; again for each '
            'further run',
        ),
        Notification(
            'strategy.end',
            'INFO',
            'AuditActionPayload',
            'the strategy has found a solution',
        ),
        Notification(
            'strategy.error',
            'ERROR',
            'AuditActionPayload',
            'the strategy failed; `fault` says how',
        ),
        Notification(
            'planner.start',
            'INFO',
            'AuditActionPayload',
            'the planner makes an action plan of the solution',
        ),
        Notification(
            'planner.end', 'INFO', 'AuditActionPayload', 'the action plan is stored'
        ),
        Notification(
            'planner.error',
            'ERROR',
            'AuditActionPayload',
            'the planner failed; `fault` says how',
        ),
    )
}

#: kind -> what is told of any subject; a change of state also has the next tables
OF_KIND: dict[str, tuple[str, ...]] = {
    events.CREATED: ('create',),
    events.STATE_CHANGED: ('update',),
    events.MESSAGE_CHANGED: ('update',),
    events.DELETED: ('update', 'delete'),
}

#: signal to an action -> what is told; the others show in nothing but a pause
OF_SIGNAL: dict[str, tuple[str, ...]] = {
    action_states.CANCEL: ('cancel.start',),
    action_states.SUSPEND: (),
    action_states.RESUME: (),
}

#: step of an audit's run -> what is told
OF_STEP: dict[str, tuple[str, ...]] = {
    events.STRATEGY_START: ('strategy.start',),
    events.STRATEGY_END: ('strategy.end',),
    events.STRATEGY_ERROR: ('strategy.error',),
    events.PLANNER_START: ('planner.start',),
    events.PLANNER_END: ('planner.end',),
    events.PLANNER_ERROR: ('planner.error',),
}

#: (state before, internal status after) -> what is told besides the update
ACTION_CHANGES: dict[tuple[str | None, str], str] = {
    (PENDING, action_states.RUNNING): 'execution.start',
    (ONGOING, action_states.SUCCEEDED): 'execution.end',
    (PENDING, action_states.FAILED): 'execution.error',
    (ONGOING, action_states.FAILED): 'execution.error',
    # What had not started ends with the update alone: there was nothing to stop.
    (ONGOING, action_states.CANCELLED): 'cancel.end',
}

#: (state before, state after) -> what is told besides the update
PLAN_CHANGES: dict[tuple[str | None, str], str] = {
    (plan_states.PENDING, plan_states.ONGOING): 'execution.start',
    (plan_states.ONGOING, plan_states.SUCCEEDED): 'execution.end',
    (plan_states.ONGOING, plan_states.FAILED): 'execution.error',
    (plan_states.ONGOING, plan_states.CANCELLING): 'cancel.start',
    (plan_states.CANCELLING, plan_states.CANCELLED): 'cancel.end',
}


def _same(status: str, started: bool) -> str:
    """Return a state that is shown as it is stored."""
    return status


@dataclasses.dataclass(frozen=True, slots=True)
class Subject:
    """All that is told of one kind of thing: a row of SUBJECTS.

    :param prefix: how its event types begin
    :param notifications: name -> the notification; the names are those that the
        tables `kinds`, `changes`, `signals` and `steps` lead to
    :param states: what its events may name as old and new status
    :param changes: (state before, internal status after) -> what is told of a change
        of state besides what its kind tells; also of one that leaves the state as it
        was, when another such action takes the place of one that is under way
    :param signals: signal -> what is told
    :param steps: step -> what is told
    :param shown: (status, whether it had started) -> the state that the outside knows
    :param only_of_plans: nothing is told of one that belongs to no plan
    :param kinds: kind -> what is told whatever the states are; where SIGNALLED is in
        it, the new status of such an event says how the signal went
    :param publisher: how the `publisher_id` begins
    :param phase: what says the one thing that is told of any event; the tables say
        nothing then
    """

    prefix: str
    notifications: Mapping[str, Notification]
    states: frozenset[str]
    changes: Mapping[tuple[str | None, str], str] = dataclasses.field(
        default_factory=dict
    )
    signals: Mapping[str, tuple[str, ...]] = dataclasses.field(default_factory=dict)
    steps: Mapping[str, tuple[str, ...]] = dataclasses.field(default_factory=dict)
    shown: Callable[[str, bool], str] = _same
    only_of_plans: bool = False
    kinds: Mapping[str, tuple[str, ...]] = dataclasses.field(
        default_factory=lambda: OF_KIND
    )
    publisher: str = 'infra-optim'
    phase: Callable[[events.Event], str] | None = None


#: subject of an event -> what is told of it; nothing is told of any other
SUBJECTS: dict[str, Subject] = {
    events.ACTION_PLAN: Subject(
        'actionplan',
        ACTION_PLAN,
        frozenset(plan_states.STATES),
        changes=PLAN_CHANGES,
        only_of_plans=True,
    ),
    events.ACTION: Subject(
        'action',
        ACTION,
        frozenset(action_states.STATES),
        changes=ACTION_CHANGES,
        signals=OF_SIGNAL,
        shown=action_states.infra_optim_state,
        only_of_plans=True,
    ),
    # Every change of its state is told by the update alone.
    events.AUDIT: Subject(
        'audit', AUDIT, frozenset(audit_states.STATES), steps=OF_STEP
    ),
    events.STACK: Subject(
        'stack',
        stack_rules.STACK,
        stack_rules.STACK_STATES,
        changes=stack_rules.STACK_CHANGES,
        kinds=stack_rules.STACK_KINDS,
        publisher=stack_rules.PUBLISHER,
    ),
    # Only what is done with one is told, so that a large stack is not told twice.
    events.RESOURCE: Subject(
        'resource',
        stack_rules.RESOURCE,
        stack_rules.RESOURCE_STATES,
        changes=stack_rules.RESOURCE_CHANGES,
        kinds=stack_rules.RESOURCE_KINDS,
        publisher=stack_rules.PUBLISHER,
    ),
    events.CLUSTER: Subject(
        'cluster',
        cluster_rules.CLUSTER,
        frozenset(cluster_states.CLUSTER_STATUSES),
        kinds={events.STATE_CHANGED: ()},
        publisher=cluster_rules.PUBLISHER,
        phase=cluster_rules.phase_told,
    ),
    events.NODE: Subject(
        'node',
        cluster_rules.NODE,
        frozenset(cluster_states.NODE_STATUSES),
        kinds={events.STATE_CHANGED: ()},
        publisher=cluster_rules.PUBLISHER,
        phase=cluster_rules.phase_told,
    ),
}

#: Kinds of events that the table `changes` says something of.
_CHANGES = frozenset({events.CREATED, events.STATE_CHANGED, events.SIGNALLED})


@dataclasses.dataclass(frozen=True, slots=True)
class Told:
    """What is told of one event.

    :param old_state: the state before, None when there was none
    :param state: the state that the change made true
    :param notifications: in the order in which they are sent
    """

    old_state: str | None
    state: str
    notifications: tuple[Notification, ...]


def told_of(event: events.Event) -> Told | None:
    """Return what is told of an event, or None if nothing is.

    Nothing is told of an action that belongs to no plan, nor of a change that
    does not show in the states that the outside knows.

    :raises ValueError: the event names a state that its subject cannot be in, or a
        signal or step that it does not know
    """
    subject = SUBJECTS.get(event.subject)
    if subject is None or (subject.only_of_plans and event.plan_id is None):
        return None
    old_state, state = _states(subject, event)
    if subject.phase is not None and event.kind in subject.kinds:
        names: tuple[str, ...] = _of_phase(subject, event, subject.phase)
    elif event.kind in subject.kinds:
        names = _of_change(subject, event, old_state, state)
    elif event.kind == events.SIGNALLED:
        names = _of_detail(event, 'signal', subject.signals)
    elif event.kind == events.STEPPED:
        names = _of_detail(event, 'step', subject.steps)
    else:
        raise ValueError(f'event {event.uuid}: no {event.subject} is {event.kind}')
    if not names:
        return None
    told = tuple(subject.notifications[name] for name in names)
    return Told(old_state, state, told)


def _of_change(
    subject: Subject, event: events.Event, old_state: str | None, state: str
) -> tuple[str, ...]:
    """Return what the tables `kinds` and `changes` have for an event."""
    names = subject.kinds[event.kind]
    if event.kind == events.STATE_CHANGED and old_state == state:
        names = ()
    if event.kind not in _CHANGES:
        return names
    also = subject.changes.get((old_state, str(event.new_status)))
    return names if also is None else (*names, also)


def _of_phase(
    subject: Subject, event: events.Event, phase: Callable[[events.Event], str]
) -> tuple[str, ...]:
    """Return what is told of a phase of an action."""
    name = phase(event)
    if name not in subject.notifications:
        raise ValueError(f'event {event.uuid}: no {event.subject} is told of by {name}')
    return (name,)


def _of_detail(
    event: events.Event, key: str, table: Mapping[str, tuple[str, ...]]
) -> tuple[str, ...]:
    """Return what a table has for the signal, or the step, of an event."""
    found = (event.detail or {}).get(key)
    if found not in table:
        raise ValueError(f'event {event.uuid}: no {event.subject} has a {key} {found}')
    return table[str(found)]


def _states(subject: Subject, event: events.Event) -> tuple[str | None, str]:
    """Return the states before and after, as the outside knows them."""
    started = bool((event.detail or {}).get('started'))
    if event.kind == events.DELETED:
        return _outside(subject, event, event.old_status, started), DELETED
    if event.kind == events.CREATED:
        return None, _outside(subject, event, event.new_status, started)
    if event.kind == events.SIGNALLED and event.kind in subject.kinds:
        # It has gone well or not, and left the state as it was.
        state = _outside(subject, event, event.old_status, started)
        return state, state
    if event.kind != events.STATE_CHANGED:
        state = _outside(subject, event, event.new_status, started)
        return state, state
    # What ran has a start time from then on, whatever it had before. One that is
    # READY for a further try starts anew.
    ran = event.old_status in action_states.STARTED
    later = started or (ran and event.new_status == action_states.WAITING)
    return (
        _outside(subject, event, event.old_status, started),
        _outside(subject, event, event.new_status, later),
    )


def _outside(
    subject: Subject, event: events.Event, status: str | None, started: bool
) -> str:
    if status is None or status not in subject.states:
        raise ValueError(f'event {event.uuid}: no {event.subject} can be {status}')
    return subject.shown(status, started)
