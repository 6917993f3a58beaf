"""Sample objects and events, and parsers of messages."""

import dataclasses
import json

from tests import factories
from tests.notification_samples import clusters as cluster_samples
from tests.notification_samples import documents, infra_optim
from tests.notification_samples import stacks as stack_samples
from watcherlite.domain import audits, events
from watcherlite.domain.action_plans import PlanRelations
from watcherlite.domain.audits import AuditRelations
from watcherlite.domain.clusters import Cluster, Node, Owner, Profile
from watcherlite.domain.events import StoredEvent
from watcherlite.domain.stacks import Stack, StackAncestry
from watcherlite.notifications.rules import infra_optim as rules
from watcherlite.notifications.rules import subjects

GOAL = factories.make_goal(id=1, uuid=infra_optim.GOAL_UUID)
STRATEGY = audits.Strategy(
    infra_optim.STRATEGY_UUID,
    'dummy',
    'Dummy strategy',
    goal_id=1,
    parameters_spec=infra_optim.PARAMETERS_SPEC,
    id=2,
    created_at=infra_optim.STRATEGY_CREATED_AT,
)
AUDIT = factories.make_audit(
    1,
    id=3,
    uuid=infra_optim.AUDIT_UUID,
    strategy_id=2,
    parameters=infra_optim.PARAMETERS,
    created_at=infra_optim.CREATED_AT,
)
PLAN = factories.make_plan(
    id=4,
    uuid=infra_optim.PLAN_UUID,
    audit_id=3,
    strategy_id=2,
    global_efficacy=[infra_optim.EFFICACY, {'name': 'not the first'}],
    created_at=infra_optim.CREATED_AT,
)
#: The audit of the samples, which is not that of the plan.
NOTIFIED_AUDIT = factories.make_audit(
    1,
    id=6,
    uuid=infra_optim.AUDIT_UUID,
    name='nightly',
    audit_type=audits.CONTINUOUS,
    state='ONGOING',
    strategy_id=2,
    parameters=infra_optim.PARAMETERS,
    interval='3600',
    next_run_time=infra_optim.NEXT_RUN_TIME,
    created_at=infra_optim.CREATED_AT,
)
NOTIFIED_GOAL = dataclasses.replace(
    GOAL,
    name='dummy',
    display_name='Dummy goal',
    created_at=infra_optim.STRATEGY_CREATED_AT,
)
AUDIT_RELATIONS = AuditRelations(NOTIFIED_AUDIT, NOTIFIED_GOAL, STRATEGY)
ACTION = factories.make_action(id=5, uuid=infra_optim.ACTION_UUID, plan_id=4)
PLAN_RELATIONS = PlanRelations(PLAN, AUDIT, GOAL, STRATEGY)
STACK = Stack(
    uuid=stack_samples.STACK_UUID,
    name='web',
    tenant=stack_samples.TENANT,
    definition_id=1,
    id=8,
    root_id=8,
    description='A web server',
    tags=('nightly',),
    user=stack_samples.USERNAME,
    created_at=stack_samples.CREATED_AT,
)
STACK_ANCESTRY = StackAncestry(STACK)
#: The resource in the details of its events.
RESOURCE = {
    'uuid': stack_samples.RESOURCE_UUID,
    'name': 'server',
    'type': 'Local::Process',
    'physical_id': stack_samples.PHYSICAL_ID,
}
#: A fault in the detail of an event, and in its payload.
FAULT = {'exception': 'E', 'message': 'no port', 'module': 'm', 'function': 'f'}
SHOWN_FAULT = {
    'exception': 'E',
    'exception_message': 'no port',
    'module_name': 'm',
    'function_name': 'f',
}
OWNER = Owner(cluster_samples.TENANT, cluster_samples.USER)
CLUSTER = Cluster(
    cluster_samples.CLUSTER_UUID,
    'web',
    OWNER,
    profile_id=12,
    desired_capacity=3,
    min_size=1,
    max_size=5,
    metadata=cluster_samples.METADATA,
    id=10,
    init_at=cluster_samples.INIT_AT,
    created_at=cluster_samples.CREATED_AT,
)
NODE = Node(
    cluster_samples.NODE_UUID,
    'web-1',
    OWNER,
    profile_id=12,
    handler='Local::Process',
    cluster_id=10,
    index=1,
    metadata=cluster_samples.METADATA,
    id=11,
    init_at=cluster_samples.INIT_AT,
    created_at=cluster_samples.CREATED_AT,
)
PROFILE = Profile(
    cluster_samples.PROFILE_UUID,
    'server',
    'local.process-1.0',
    'Local::Process',
    {'type': 'local.process', 'version': '1.0', 'properties': {}},
    OWNER,
    id=12,
)
#: kind -> id -> row
NOUNS = {Cluster: {10: CLUSTER}, Node: {11: NODE}, Profile: {12: PROFILE}}


class Source:
    """The source of the plan, whatever its id, the audit, the stack and the cluster.

    See `payloads.Source`.
    """

    def relations_of_plans(self, plan_ids):
        return dict.fromkeys(plan_ids, PLAN_RELATIONS)

    def relations_of_audits(self, audit_ids):
        return dict.fromkeys(audit_ids, AUDIT_RELATIONS)

    def ancestry_of_stacks(self, stack_ids):
        return dict.fromkeys(stack_ids, STACK_ANCESTRY)

    def objects_by_id(self, kind, ids):
        return objects_by_id(kind, ids)


def plan_event(sequence, old, new, *, plan=PLAN, **values):
    """Return a stored event of a plan whose state changed."""
    event = factories.make_event(plan, old_status=old, new_status=new, **values)
    return StoredEvent(sequence, event)


def action_event(sequence, old, new, *, action=ACTION, parents=(), **values):
    """Return a stored event of an action whose status changed."""
    event = factories.make_event(action, old_status=old, new_status=new, **values)
    return StoredEvent(
        sequence,
        event,
        action.uuid,
        action.name,
        action.action_type,
        json.dumps(infra_optim.INPUTS),
        json.dumps(list(parents)),
        infra_optim.CREATED_AT,
    )


def audit_event(sequence, old, new, *, audit=NOTIFIED_AUDIT, **values):
    """Return a stored event of an audit whose state changed."""
    event = events.Event(
        **{
            'subject': events.AUDIT,
            'kind': events.STATE_CHANGED,
            'plan_id': None,
            'action_id': None,
            'old_status': old,
            'new_status': new,
            'message': None,
            'plan_state': None,
            'plan_message': None,
            'occurred_at': factories.NOW,
            'subject_id': audit.id,
            **values,
        }
    )
    return StoredEvent(sequence, event)


def audit_step(sequence, step, *, fault=None, state='ONGOING', **values):
    """Return a stored event of an audit whose step began, ended or failed."""
    detail = {'step': step} if fault is None else {'step': step, 'fault': fault}
    return audit_event(
        sequence, state, state, kind=events.STEPPED, detail=detail, **values
    )


def stack_event(sequence, old, new, *, stack=STACK, **values):
    """Return a stored event of a stack whose state changed."""
    return audit_event(
        sequence, old, new, audit=stack, **{'subject': events.STACK, **values}
    )


def resource_event(sequence, old, new, *, resource=RESOURCE, fault=None, **values):
    """Return a stored event of a resource whose state changed."""
    detail = resource if fault is None else {**resource, 'fault': fault}
    return stack_event(
        sequence, old, new, **{'subject': events.RESOURCE, 'detail': detail, **values}
    )


def objects_by_id(kind, ids):
    """Return those of the cluster, its node and its profile that have these ids."""
    return {key: NOUNS[kind][key] for key in ids if key in NOUNS[kind]}


def phase_event(sequence, name, old, new, *, row=CLUSTER, **values):
    """Return a stored event of a phase of an action: `create.start`.

    :param row: the cluster or node
    :param fault: the reason of a failure
    :param physical_id: of a node
    """
    verb, _, phase = name.partition('.')
    of_node = isinstance(row, Node)
    subject = events.NODE if of_node else events.CLUSTER
    fault = values.pop('fault', None)
    detail = {
        'action': {
            'uuid': cluster_samples.ACTION_UUID,
            'name': f'{subject}_{verb}_{row.uuid[:8]}',
            'type': f'{subject}_{verb}'.upper(),
        },
        'phase': phase,
        'uuid': row.uuid,
        'name': row.name,
        **({'cluster': CLUSTER.uuid} if of_node else {}),
        **({'physical_id': values.pop('physical_id', None)} if of_node else {}),
        **({} if fault is None else {'fault': fault}),
    }
    return audit_event(
        *(sequence, old, new),
        audit=row,
        **{'subject': subject, 'detail': detail, **values},
    )


def fault_of(document):
    """Return a fault of an event with the fields of an ExceptionPayload."""
    return {
        'exception': document['exception'],
        'message': document['exception_message'],
        'module': document['module_name'],
        'function': document['function_name'],
    }


def inner(message):
    """Return the notification in a message."""
    _, body = message
    return json.loads(json.loads(body)['oslo.message'])


def data(message):
    """Return the fields of the payload in a message."""
    return inner(message)['payload']['watcher_object.data']


def fields(messages, *names):
    """Return these fields of the payload in each message."""
    return [tuple(data(message)[name] for name in names) for message in messages]


def fault(message):
    """Return the fields of the fault in a message; None without one."""
    found = data(message).get('fault')
    return found and found['watcher_object.data']


def faults(messages):
    """Return the event type, the priority and the fault of each message.

    It is 'has none' for a payload without a field for a fault.
    """
    return [
        (
            inner(message)['event_type'],
            message[0].rpartition('.')[2],
            fault(message) if 'fault' in data(message) else 'has none',
        )
        for message in messages
    ]


def message_lines(messages):
    """Return one line for each message: its event type, its object and its states."""
    lines = []
    for message in messages:
        notification = inner(message)
        fields = notification['payload']['watcher_object.data']
        update = fields.get('state_update')
        states = fields['state']
        if update is not None:
            update = update['watcher_object.data']
            states = f'{update["old_state"]} -> {update["state"]}'
        lines.append(f'{notification["event_type"]}: {states}')
    return lines


def match(event):
    """Return 'old -> new: names' of the notifications of an event, or None."""
    found = subjects.match(event)
    if found is None:
        return None
    names = ', '.join(notification.name for notification in found.notifications)
    return f'{found.old_state} -> {found.state}: {names}'


def sample_events():
    """Return, for each event type, the stored event of its sample."""
    common = {'occurred_at': documents.OCCURRED_AT, 'uuid': documents.EVENT_UUID}
    kinds = {'create': events.CREATED, 'delete': events.DELETED}
    details = {'execution.error': {'fault': fault_of(infra_optim.FAULT)}}
    # name -> status of the action before and after, state of its plan
    actions = {
        'create': (None, 'INIT', 'RECOMMENDED'),
        'update': ('INIT', 'SKIPPED', 'RECOMMENDED'),
        'delete': ('SUCCEEDED', 'SUCCEEDED', 'DELETED'),
        'execution.start': ('READY', 'RUNNING', 'ONGOING'),
        'execution.end': ('RUNNING', 'SUCCEEDED', 'ONGOING'),
        'execution.error': ('RUNNING', 'FAILED', 'ONGOING'),
        'cancel.start': ('RUNNING', 'RUNNING', 'ONGOING'),
        'cancel.end': ('RUNNING', 'CANCELLED', 'CANCELLING'),
    }
    stored = {
        f'actionplan.{name}': plan_event(
            *(1, old, new),
            kind=kinds.get(name, events.STATE_CHANGED),
            detail=details.get(name),
            **common,
        )
        for name, (old, new) in infra_optim.PLAN_STATES.items()
    }
    signals = {'cancel.start': events.SIGNALLED}
    details['cancel.start'] = {'signal': 'CANCEL'}
    for name, (old, new, plan_state) in actions.items():
        stored[f'action.{name}'] = action_event(
            *(1, old, new),
            parents=[infra_optim.PARENT_UUID],
            kind=(kinds | signals).get(name, events.STATE_CHANGED),
            plan_state=plan_state,
            message=infra_optim.MESSAGES.get(new),
            detail=details.get(name),
            **common,
        )
    for name in ('create', 'update', 'delete'):
        stored[f'audit.{name}'] = audit_event(
            1,
            *infra_optim.AUDIT_STATES[name],
            kind=kinds.get(name, events.STATE_CHANGED),
            **common,
        )
    for step in rules.OF_STEP:
        failed = infra_optim.AUDIT_FAULTS.get(step)
        stored[f'audit.{step}'] = audit_step(
            1, step, fault=fault_of(failed) if failed else None, **common
        )
    stored |= _sample_events_of_stacks(common)
    stored |= _sample_events_of_clusters(common)
    return stored


def _sample_events_of_stacks(common):
    fault = fault_of(stack_samples.FAULT)
    stored = {}
    for subject, make in (
        (events.STACK, stack_event),
        (events.RESOURCE, resource_event),
    ):
        of_resource = subject == events.RESOURCE
        for name, notification in subjects.SUBJECTS[subject].notifications.items():
            old, new = stack_samples.states(notification, of_resource)
            kind = events.CREATED if old is None else events.STATE_CHANGED
            if name.startswith('signal.'):
                kind = events.SIGNALLED
                new = {'end': 'SIGNAL_COMPLETE', 'error': 'SIGNAL_FAILED'}[name[7:]]
            at_hook = name.startswith('hook.')
            if at_hook:
                kind = events.STEPPED
            failed = name.endswith('.error')
            values = {'message': stack_samples.reason(notification, of_resource)}
            if of_resource:
                unmade = name == 'create.start' or at_hook
                values['resource'] = {
                    **RESOURCE,
                    'physical_id': None if unmade else RESOURCE['physical_id'],
                    **({'step': name, 'hook': stack_samples.HOOK} if at_hook else {}),
                }
                values['fault'] = fault if failed else None
            else:
                level = stack_samples.level(notification)
                detail = {'fault': fault} if failed else {}
                values['detail'] = {**detail, 'lock_level': level}
            stored[f'{subject}.{name}'] = make(
                1, old, new, kind=kind, **common, **values
            )
    return stored


def _sample_events_of_clusters(common):
    stored = {}
    for subject, row in ((events.CLUSTER, CLUSTER), (events.NODE, NODE)):
        of_node = subject == events.NODE
        for name, notification in subjects.SUBJECTS[subject].notifications.items():
            failed = name.endswith('.error')
            more = {}
            if of_node and cluster_samples.is_made(notification):
                more['physical_id'] = cluster_samples.PHYSICAL_ID
            stored[f'{subject}.{name}'] = phase_event(
                *(1, name, *cluster_samples.states(notification, of_node)),
                row=row,
                fault=fault_of(cluster_samples.FAULT) if failed else None,
                message=cluster_samples.reason(notification),
                **{**common, **more},
            )
    return stored
