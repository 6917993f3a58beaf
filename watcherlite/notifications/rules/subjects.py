"""The notifications of each event.

SUBJECTS has a row for each kind of object that events are about. Their
notifications carry the states of the infra-optim vocabulary for actions, plans and
audits, of orchestration for stacks and resources, of clustering for clusters and nodes.
A change that does not show in these states has no notification.
"""

import dataclasses
import functools
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
        steps=stacks.RESOURCE_STEPS,
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

#: kind of an event -> the key of its detail that selects the notifications
_DETAIL_KEYS = {events.SIGNALLED: 'signal', events.STEPPED: 'step'}


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
    detail = event.detail or {}
    started = bool(detail.get('started'))
    statuses = (event.old_status, event.new_status)
    try:
        if subject.phase is not None and event.kind in subject.kinds:
            old_state, state = _states(event.subject, event.kind, statuses, started)
            names = _phase_names(event, subject, subject.phase)
            return _matched(subject, old_state, state, names)
        key = _DETAIL_KEYS.get(event.kind)
        word = None if key is None else detail.get(key)
        return _match_change(event.subject, event.kind, statuses, started, word)
    except ValueError as error:
        raise ValueError(f'event {event.uuid}: {error}') from None


# Most events are the same few changes of actions, and matching one takes longer than
# encoding its payload.
@functools.lru_cache(maxsize=1024)
def _match_change(
    name: str,
    kind: str,
    statuses: tuple[str | None, str | None],
    started: bool,
    word: str | None,
) -> MatchedNotifications | None:
    """Return the notifications that the tables have for a change.

    :param name: the subject
    :param started: whether the action had started
    :param word: the signal or the step of an event of these kinds
    """
    subject = SUBJECTS[name]
    old_state, state = _states(name, kind, statuses, started)
    if kind in subject.kinds:
        names = _change_names(subject, kind, old_state, state, statuses[1])
    elif kind == events.SIGNALLED:
        names = _detail_names(name, kind, word, subject.signals)
    elif kind == events.STEPPED:
        names = _detail_names(name, kind, word, subject.steps)
    else:
        raise ValueError(f'no {name} is {kind}')
    return _matched(subject, old_state, state, names)


def _matched(
    subject: NotificationSubject,
    old_state: str | None,
    state: str,
    names: tuple[str, ...],
) -> MatchedNotifications | None:
    if not names:
        return None
    matched = tuple(subject.notifications[name] for name in names)
    return MatchedNotifications(old_state, state, matched)


def _change_names(
    subject: NotificationSubject,
    kind: str,
    old_state: str | None,
    state: str,
    new_status: str | None,
) -> tuple[str, ...]:
    """Return the names that the tables `kinds` and `changes` have for a change."""
    names = subject.kinds[kind]
    if kind == events.STATE_CHANGED and old_state == state:
        names = ()
    if kind not in _CHANGES:
        return names
    also = subject.changes.get((old_state, str(new_status)))
    return names if also is None else (*names, also)


def _phase_names(
    event: events.Event,
    subject: NotificationSubject,
    phase: Callable[[events.Event], str | None],
) -> tuple[str, ...]:
    """Return the name of the notification of a phase of an action."""
    name = phase(event)
    if name is None:
        return ()
    if name not in subject.notifications:
        raise ValueError(f'no {event.subject} has a notification {name}')
    return (name,)


def _detail_names(
    name: str, kind: str, word: str | None, table: Mapping[str, tuple[str, ...]]
) -> tuple[str, ...]:
    """Return the names that a table has for a signal or a step."""
    if word not in table:
        raise ValueError(f'no {name} has a {_DETAIL_KEYS[kind]} {word}')
    return table[str(word)]


def _states(
    name: str, kind: str, statuses: tuple[str | None, str | None], started: bool
) -> tuple[str | None, str]:
    """Return the states before and after, as the notifications show them."""
    subject = SUBJECTS[name]
    before, after = statuses
    if kind == events.DELETED:
        return _outside(name, before, started), infra_optim.DELETED
    if kind == events.CREATED:
        return None, _outside(name, after, started)
    if kind == events.SIGNALLED and kind in subject.kinds:
        # The result of a signal; the state has not changed.
        state = _outside(name, before, started)
        return state, state
    if kind != events.STATE_CHANGED:
        state = _outside(name, after, started)
        return state, state
    # An action that ran has a start time from then on. An action that is READY for a
    # retry starts again.
    ran = before in action_states.STARTED
    later = started or (ran and after == action_states.WAITING)
    return _outside(name, before, started), _outside(name, after, later)


def _outside(name: str, status: str | None, started: bool) -> str:
    subject = SUBJECTS[name]
    if status is None or status not in subject.states:
        raise ValueError(f'no {name} can be {status}')
    return subject.shown(status, started)
