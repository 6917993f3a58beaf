"""The payloads of notifications of actions."""

# oslo.versionedobjects reads plain dicts off the class.
# ruff: noqa: RUF012

from watcherlite.objects import base, fields


class ActionPayload(base.Payload):
    """The fields of the action in all its notifications."""

    # Version 1.0: as Watcher had it first, and action_plan_uuid is always there
    # Version 1.2: status_message; TerseActionPlanPayload 1.3; Watcher's 1.1 has 1.2
    VERSION = '1.2'
    foreign = frozenset({'1.1'})
    added_in = {'status_message': '1.2'}
    obj_relationships = {'action_plan': [('1.0', '1.0'), ('1.2', '1.3')]}

    fields = {
        'uuid': fields.UUIDField(),
        'action_type': fields.StringField(),
        'input_parameters': fields.FlexibleDictField(),
        'state': fields.StringField(),
        'parents': fields.ListOfUUIDField(),
        'action_plan_uuid': fields.UUIDField(),
        'action_plan': fields.ObjectField('TerseActionPlanPayload'),
        **base.TIMES,
        'status_message': fields.StringField(nullable=True),
    }


@base.register
class ActionStateUpdatePayload(base.StateUpdatePayload):
    """The states before and after a change; equal if only the message changed."""

    # Version 1.0: the states before and after
    # Version 1.1: status_message
    VERSION = '1.1'
    fields = {}


@base.register
class ActionCreatePayload(ActionPayload):
    """The payload of action.create."""

    # Version 1.0: the fields of ActionPayload 1.0
    # Version 1.2: status_message; TerseActionPlanPayload 1.3
    VERSION = '1.2'
    fields = {}


@base.register
class ActionUpdatePayload(ActionPayload):
    """The payload of action.update."""

    # Version 1.0: the fields of ActionPayload 1.0, and state_update
    # Version 1.2: status_message, here and in state_update;
    #              TerseActionPlanPayload 1.3
    VERSION = '1.2'
    obj_relationships = {
        **ActionPayload.obj_relationships,
        'state_update': [('1.0', '1.0'), ('1.2', '1.1')],
    }

    fields = {'state_update': fields.ObjectField('ActionStateUpdatePayload')}


@base.register
class ActionDeletePayload(ActionPayload):
    """The payload of action.delete."""

    # Version 1.0: the fields of ActionPayload 1.0
    # Version 1.2: status_message; TerseActionPlanPayload 1.3
    VERSION = '1.2'
    fields = {}


class _WithFault(ActionPayload):
    obj_relationships = {**ActionPayload.obj_relationships, 'fault': [('1.0', '1.0')]}

    fields = {'fault': fields.ObjectField('ExceptionPayload', nullable=True)}


@base.register
class ActionExecutionPayload(_WithFault):
    """The payload of action.execution.*."""

    # Version 1.0: the fields of ActionPayload 1.0, and fault
    # Version 1.2: status_message; TerseActionPlanPayload 1.3
    VERSION = '1.2'
    fields = {}


@base.register
class ActionCancelPayload(_WithFault):
    """The payload of action.cancel.*."""

    # Version 1.0: the fields of ActionPayload 1.0, and fault
    # Version 1.2: status_message; TerseActionPlanPayload 1.3
    VERSION = '1.2'
    fields = {}
