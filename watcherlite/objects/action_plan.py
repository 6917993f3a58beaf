"""The payloads of notifications of action plans."""

# oslo.versionedobjects reads plain dicts off the class.
# ruff: noqa: RUF012

from watcherlite.objects import base, fields


@base.register
class TerseActionPlanPayload(base.Payload):
    """The plan within the payloads of its actions."""

    # Version 1.0: as spec 003 has the plan, without audit and strategy
    # Version 1.3: status_message; Watcher has others as 1.1 and 1.2
    VERSION = '1.3'
    foreign = frozenset({'1.1', '1.2'})
    added_in = {'status_message': '1.3'}

    fields = {
        'uuid': fields.UUIDField(),
        'state': fields.StringField(),
        'global_efficacy': fields.FlexibleDictField(nullable=True),
        'audit_uuid': fields.UUIDField(),
        'strategy_uuid': fields.UUIDField(nullable=True),
        **base.TIMES,
        'status_message': fields.StringField(nullable=True),
    }


class ActionPlanPayload(TerseActionPlanPayload):
    """The fields of the action plan in all its notifications."""

    # Version 1.0: as spec 003 has it
    # Version 1.3: status_message; AuditPayload 1.4
    VERSION = '1.3'
    obj_relationships = {
        'audit': [('1.0', '1.0'), ('1.3', '1.4')],
        'strategy': [('1.0', '1.0')],
    }

    fields = {
        'audit': fields.ObjectField('AuditPayload'),
        'strategy': fields.ObjectField('StrategyPayload', nullable=True),
    }


@base.register
class ActionPlanStateUpdatePayload(base.StateUpdatePayload):
    """The states before and after a change; equal if only the message changed."""

    # Version 1.0: as spec 003 has it
    # Version 1.1: status_message
    VERSION = '1.1'
    fields = {}


@base.register
class ActionPlanCreatePayload(ActionPlanPayload):
    """The payload of actionplan.create."""

    # Version 1.0: as spec 003 has it
    # Version 1.3: status_message; AuditPayload 1.4
    VERSION = '1.3'
    fields = {}


@base.register
class ActionPlanUpdatePayload(ActionPlanPayload):
    """The payload of actionplan.update."""

    # Version 1.0: as spec 003 has it
    # Version 1.3: status_message, here and in state_update; AuditPayload 1.4
    VERSION = '1.3'
    obj_relationships = {
        **ActionPlanPayload.obj_relationships,
        'state_update': [('1.0', '1.0'), ('1.3', '1.1')],
    }

    fields = {'state_update': fields.ObjectField('ActionPlanStateUpdatePayload')}


@base.register
class ActionPlanDeletePayload(ActionPlanPayload):
    """The payload of actionplan.delete."""

    # Version 1.0: as spec 003 has it
    # Version 1.3: status_message; AuditPayload 1.4
    VERSION = '1.3'
    fields = {}


class _WithFault(ActionPlanPayload):
    obj_relationships = {
        **ActionPlanPayload.obj_relationships,
        'fault': [('1.0', '1.0')],
    }

    fields = {'fault': fields.ObjectField('ExceptionPayload', nullable=True)}


@base.register
class ActionPlanActionPayload(_WithFault):
    """The payload of actionplan.execution.*."""

    # Version 1.0: as spec 003 has it; fault is null but for an error
    # Version 1.3: status_message; AuditPayload 1.4
    VERSION = '1.3'
    fields = {}


@base.register
class ActionPlanCancelPayload(_WithFault):
    """The payload of actionplan.cancel.*."""

    # Version 1.0: as ActionPlanActionPayload 1.0
    # Version 1.3: status_message; AuditPayload 1.4
    VERSION = '1.3'
    fields = {}
