"""The notifications of each event.

SUBJECTS has a row for each kind of object that events are about. Their
notifications carry the states of the infra-optim vocabulary for actions, plans and
audits, of orchestration for stacks and resources, of clustering for clusters and nodes.
A change that does not show in these states has no notification.
"""

import dataclasses
from collections.abc import Callable, Mapping

from watcherlite.domain import events
from watcherlite.notifications.rules import clusters, infra_optim, stacks
from watcherlite.notifications.rules.notification import Notification
from watcherlite.states import action as action_states
from watcherlite.states import action_plan as plan_states
from watcherlite.states import audit as audit_states
from watcherlite.states import cluster as cluster_states


def _unchanged(status: str, started: bool) -> str:
    """Return a status as it is."""
    return status


@dataclasses.dataclass(frozen=True, slots=True)
class NotificationSubject:
    """The notifications of one kind of object: a row of SUBJECTS.

    :param prefix: the prefix of its event types
    :param notifications: name -> the notification; the tables `kinds`, `changes`,
        `signals` and `steps` have these names
    :param states: the valid old and new statuses of its events
    :param changes: (state before, internal status after) -> the notification of the
        change, besides those of its kind; the states may be equal, when an action of a
        stack replaces another one of the same type
    :param signals: signal -> its notifications
    :param steps: step -> its notifications
    :param shown: (status, whether it had started) -> the state in the notification
    :param only_of_plans: an object without a plan has no notifications
    :param kinds: kind -> the notifications in any state; with SIGNALLED in it, the new
        status of such an event is the result of the signal
    :param publisher: the service in `publisher_id`
    :param phase: returns the name of the only notification of an event, instead of the
        tables
    """

    prefix: str
    notifications: Mapping[str, Notification]
    states: frozenset[str]
    changes: Mapping[tuple[str | None, str], str] = dataclasses.field(
        default_factory=dict
    )
    signals: Mapping[str, tuple[str, ...]] = dataclasses.field(default_factory=dict)
    steps: Mapping[str, tuple[str, ...]] = dataclasses.field(default_factory=dict)
    shown: Callable[[str, bool], str] = _unchanged
    only_of_plans: bool = False
    kinds: Mapping[str, tuple[str, ...]] = dataclasses.field(
        default_factory=lambda: infra_optim.OF_KIND
    )
    publisher: str = 'infra-optim'
    phase: Callable[[events.Event], str | None] | None = None


#: subject of an event -> its notifications; other subjects have none
SUBJECTS: dict[str, NotificationSubject] = {
    events.ACTION_PLAN: NotificationSubject(
        'actionplan',
        infra_optim.ACTION_PLAN,
        frozenset(plan_states.STATES),
        changes=infra_optim.PLAN_CHANGES,
        only_of_plans=True,
    ),
    events.ACTION: NotificationSubject(
        'action',
        infra_optim.ACTION,
        frozenset(action_states.STATES),
        changes=infra_optim.ACTION_CHANGES,
        signals=infra_optim.OF_SIGNAL,
        shown=action_states.infra_optim_state,
        only_of_plans=True,
    ),
    # The update is the only notification of a change of its state.
    events.AUDIT: NotificationSubject(
        'audit',
        infra_optim.AUDIT,
        frozenset(audit_states.STATES),
        steps=infra_optim.OF_STEP,
    ),
    events.STACK: NotificationSubject(
        'stack',
        stacks.STACK,
        stacks.STACK_STATES,
        changes=stacks.STACK_CHANGES,
        kinds=stacks.STACK_KINDS,
        publisher=stacks.PUBLISHER,
    ),
    # No update: a large stack would have two notifications for each step.
    events.RESOURCE: NotificationSubject(
        'resource',
        stacks.RESOURCE,
        stacks.RESOURCE_STATES,
        changes=stacks.RESOURCE_CHANGES,
        kinds=stacks.RESOURCE_KINDS,
        publisher=stacks.PUBLISHER,
    ),
    events.CLUSTER: NotificationSubject(
        'cluster',
        clusters.CLUSTER,
        frozenset(cluster_states.CLUSTER_STATUSES),
        kinds={events.STATE_CHANGED: ()},
        publisher=clusters.PUBLISHER,
        phase=clusters.notification_of_phase,
    ),
    events.NODE: NotificationSubject(
        'node',
        clusters.NODE,
        frozenset(cluster_states.NODE_STATUSES),
        kinds={events.STATE_CHANGED: ()},
        publisher=clusters.PUBLISHER,
        phase=clusters.notification_of_phase,
    ),
}

#: The kinds of events that the table `changes` applies to.
_CHANGES = frozenset({events.CREATED, events.STATE_CHANGED, events.SIGNALLED})


@dataclasses.dataclass(frozen=True, slots=True)
class MatchedNotifications:
    """The notifications of one event.

    :param old_state: the state before, None for a new object
    :param state: the state after
    :param notifications: in the order in which they are sent
    """

    old_state: str | None
    state: str
    notifications: tuple[Notification, ...]


def match(event: events.Event) -> MatchedNotifications | None:
    """Return the notifications of an event, None if it has none.

    An action without a plan has none, and neither has a change that does not show in
    the states of the notifications.

    :raises ValueError: the subject does not have the state, signal or step of the event
    """
    subject = SUBJECTS.get(event.subject)
    if subject is None or (subject.only_of_plans and event.plan_id is None):
        return None
    old_state, state = _states(subject, event)
    if subject.phase is not None and event.kind in subject.kinds:
        names: tuple[str, ...] = _phase_names(subject, event, subject.phase)
    elif event.kind in subject.kinds:
        names = _change_names(subject, event, old_state, state)
    elif event.kind == events.SIGNALLED:
        names = _detail_names(event, 'signal', subject.signals)
    elif event.kind == events.STEPPED:
        names = _detail_names(event, 'step', subject.steps)
    else:
        raise ValueError(f'event {event.uuid}: no {event.subject} is {event.kind}')
    if not names:
        return None
    matched = tuple(subject.notifications[name] for name in names)
    return MatchedNotifications(old_state, state, matched)


def _change_names(
    subject: NotificationSubject, event: events.Event, old_state: str | None, state: str
) -> tuple[str, ...]:
    """Return the names that the tables `kinds` and `changes` have for an event."""
    names = subject.kinds[event.kind]
    if event.kind == events.STATE_CHANGED and old_state == state:
        names = ()
    if event.kind not in _CHANGES:
        return names
    also = subject.changes.get((old_state, str(event.new_status)))
    return names if also is None else (*names, also)


def _phase_names(
    subject: NotificationSubject,
    event: events.Event,
    phase: Callable[[events.Event], str | None],
) -> tuple[str, ...]:
    """Return the name of the notification of a phase of an action."""
    name = phase(event)
    if name is None:
        return ()
    if name not in subject.notifications:
        raise ValueError(
            f'event {event.uuid}: no {event.subject} has a notification {name}'
        )
    return (name,)


def _detail_names(
    event: events.Event, key: str, table: Mapping[str, tuple[str, ...]]
) -> tuple[str, ...]:
    """Return the names that a table has for the signal, or step, of an event."""
    found = (event.detail or {}).get(key)
    if found not in table:
        raise ValueError(f'event {event.uuid}: no {event.subject} has a {key} {found}')
    return table[str(found)]


def _states(
    subject: NotificationSubject, event: events.Event
) -> tuple[str | None, str]:
    """Return the states before and after, as the notifications show them."""
    started = bool((event.detail or {}).get('started'))
    if event.kind == events.DELETED:
        return _outside(subject, event, event.old_status, started), infra_optim.DELETED
    if event.kind == events.CREATED:
        return None, _outside(subject, event, event.new_status, started)
    if event.kind == events.SIGNALLED and event.kind in subject.kinds:
        # The result of a signal; the state has not changed.
        state = _outside(subject, event, event.old_status, started)
        return state, state
    if event.kind != events.STATE_CHANGED:
        state = _outside(subject, event, event.new_status, started)
        return state, state
    # An action that ran has a start time from then on. An action that is READY for a
    # retry starts again.
    ran = event.old_status in action_states.STARTED
    later = started or (ran and event.new_status == action_states.WAITING)
    return (
        _outside(subject, event, event.old_status, started),
        _outside(subject, event, event.new_status, later),
    )


def _outside(
    subject: NotificationSubject, event: events.Event, status: str | None, started: bool
) -> str:
    if status is None or status not in subject.states:
        raise ValueError(f'event {event.uuid}: no {event.subject} can be {status}')
    return subject.shown(status, started)
