"""The payloads of notifications of audits, and the audit within those of plans."""

# oslo.versionedobjects reads plain dicts off the class.
# ruff: noqa: RUF012

from watcherlite.objects import base, fields


@base.register
class AuditPayload(base.Payload):
    """The audit that a plan comes from."""

    # Version 1.0: the twelve fields of the samples of spec 003
    # Version 1.4: status_message; Watcher has others as 1.1 to 1.3
    VERSION = '1.4'
    foreign = frozenset({'1.1', '1.2', '1.3'})
    added_in = {'status_message': '1.4'}
    obj_relationships = {'fault': [('1.0', '1.0')]}

    fields = {
        'uuid': fields.UUIDField(),
        'audit_type': fields.StringField(),
        'state': fields.StringField(),
        'parameters': fields.FlexibleDictField(nullable=True),
        'interval': fields.StringField(nullable=True),
        'scope': fields.FlexibleListField(nullable=True),
        'goal_uuid': fields.UUIDField(),
        'strategy_uuid': fields.UUIDField(nullable=True),
        'fault': fields.ObjectField('ExceptionPayload', nullable=True),
        **base.TIMES,
        'status_message': fields.StringField(nullable=True),
    }


class AuditEventPayload(base.Payload):
    """The fields of the audit in all its notifications."""

    # Version 1.0: as Watcher had it first, but interval is a string
    # Version 1.1: name, auto_trigger, next_run_time
    # Version 1.2: status_message
    VERSION = '1.2'
    added_in = {
        'name': '1.1',
        'auto_trigger': '1.1',
        'next_run_time': '1.1',
        'status_message': '1.2',
    }
    obj_relationships = {'goal': [('1.0', '1.0')], 'strategy': [('1.0', '1.0')]}

    fields = {
        'uuid': fields.UUIDField(),
        'audit_type': fields.StringField(),
        'state': fields.StringField(),
        'parameters': fields.FlexibleDictField(nullable=True),
        'interval': fields.StringField(nullable=True),
        'scope': fields.FlexibleListField(nullable=True),
        'goal_uuid': fields.UUIDField(),
        'strategy_uuid': fields.UUIDField(nullable=True),
        'goal': fields.ObjectField('GoalPayload'),
        'strategy': fields.ObjectField('StrategyPayload', nullable=True),
        **base.TIMES,
        'name': fields.StringField(),
        'auto_trigger': fields.BooleanField(),
        'next_run_time': fields.DateTimeField(nullable=True),
        'status_message': fields.StringField(nullable=True),
    }


@base.register
class AuditStateUpdatePayload(base.StateUpdatePayload):
    """The states before and after a change; equal if only another field changed."""

    # Version 1.0: the states before and after
    # Version 1.1: status_message
    VERSION = '1.1'
    fields = {}


@base.register
class AuditCreatePayload(AuditEventPayload):
    """The payload of audit.create."""

    # Version 1.0: the fields of AuditEventPayload 1.0
    # Version 1.1: name, auto_trigger, next_run_time
    # Version 1.2: status_message
    VERSION = '1.2'
    fields = {}


@base.register
class AuditUpdatePayload(AuditEventPayload):
    """The payload of audit.update."""

    # Version 1.0: the fields of AuditEventPayload 1.0, and state_update
    # Version 1.1: name, auto_trigger, next_run_time
    # Version 1.2: status_message, here and in state_update
    VERSION = '1.2'
    obj_relationships = {
        **AuditEventPayload.obj_relationships,
        'state_update': [('1.0', '1.0'), ('1.2', '1.1')],
    }

    fields = {'state_update': fields.ObjectField('AuditStateUpdatePayload')}


@base.register
class AuditDeletePayload(AuditEventPayload):
    """The payload of audit.delete."""

    # Version 1.0: the fields of AuditEventPayload 1.0
    # Version 1.1: name, auto_trigger, next_run_time
    # Version 1.2: status_message
    VERSION = '1.2'
    fields = {}


@base.register
class AuditActionPayload(AuditEventPayload):
    """The payload of audit.strategy.* and audit.planner.*."""

    # Version 1.0: the fields of AuditEventPayload 1.0, and fault
    # Version 1.1: name, auto_trigger, next_run_time
    # Version 1.2: status_message
    VERSION = '1.2'
    obj_relationships = {
        **AuditEventPayload.obj_relationships,
        'fault': [('1.0', '1.0')],
    }

    fields = {'fault': fields.ObjectField('ExceptionPayload', nullable=True)}
