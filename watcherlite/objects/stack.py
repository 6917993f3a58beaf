"""The payloads of notifications of stacks and of their resources."""

# oslo.versionedobjects reads plain dicts off the class.
# ruff: noqa: RUF012

from watcherlite.objects import base, fields


class StackPayload(base.Payload):
    """The fields of the stack in all its notifications.

    It has neither the parameters nor the template, which may have hidden values.
    """

    # Version 1.0: the first
    VERSION = '1.0'

    fields = {
        'uuid': fields.UUIDField(),
        'name': fields.StringField(),
        'tenant_id': fields.StringField(),
        'username': fields.StringField(nullable=True),
        'description': fields.StringField(),
        'tags': fields.FlexibleListField(),
        'owner_uuid': fields.UUIDField(nullable=True),
        'root_uuid': fields.UUIDField(),
        'state': fields.StringField(),
        'status_reason': fields.StringField(nullable=True),
        'lock_level': fields.StringField(nullable=True),
        **base.TIMES,
    }


@base.register
class StackStateUpdatePayload(base.Payload):
    """The states before and after a change."""

    # Version 1.0: the first
    VERSION = '1.0'

    fields = {
        'old_state': fields.StringField(nullable=True),
        'state': fields.StringField(nullable=True),
        'status_reason': fields.StringField(nullable=True),
    }


@base.register
class StackUpdatePayload(StackPayload):
    """The payload of stack.update."""

    # Version 1.0: the fields of StackPayload 1.0, and state_update
    VERSION = '1.0'
    obj_relationships = {'state_update': [('1.0', '1.0')]}

    fields = {'state_update': fields.ObjectField('StackStateUpdatePayload')}


@base.register
class StackActionPayload(StackPayload):
    """The payload of stack.ACTION.start, .end and .error."""

    # Version 1.0: the fields of StackPayload 1.0, and fault
    VERSION = '1.0'
    obj_relationships = {'fault': [('1.0', '1.0')]}

    fields = {'fault': fields.ObjectField('ExceptionPayload', nullable=True)}


@base.register
class TerseStackPayload(base.Payload):
    """The constant fields of the stack of a resource."""

    # Version 1.0: the first
    VERSION = '1.0'

    fields = {
        'uuid': fields.UUIDField(),
        'name': fields.StringField(),
        'tenant_id': fields.StringField(),
        'owner_uuid': fields.UUIDField(nullable=True),
        'root_uuid': fields.UUIDField(),
    }


class ResourcePayload(base.Payload):
    """The fields of the resource in all its notifications.

    It has neither properties nor attributes, which may have hidden values.
    """

    # Version 1.0: the first
    VERSION = '1.0'
    obj_relationships = {'stack': [('1.0', '1.0')]}

    fields = {
        'uuid': fields.UUIDField(),
        'name': fields.StringField(),
        'resource_type': fields.StringField(),
        'physical_resource_id': fields.StringField(nullable=True),
        'stack_uuid': fields.UUIDField(),
        'stack': fields.ObjectField('TerseStackPayload'),
        'state': fields.StringField(),
        'status_reason': fields.StringField(nullable=True),
        'updated_at': fields.DateTimeField(nullable=True),
        'deleted_at': fields.DateTimeField(nullable=True),
    }


@base.register
class ResourceActionPayload(ResourcePayload):
    """The payload of resource.ACTION.start, .end and .error."""

    # Version 1.0: the fields of ResourcePayload 1.0, and fault
    VERSION = '1.0'
    obj_relationships = {**ResourcePayload.obj_relationships, 'fault': [('1.0', '1.0')]}

    fields = {'fault': fields.ObjectField('ExceptionPayload', nullable=True)}


@base.register
class ResourceHookPayload(ResourcePayload):
    """The payload of resource.hook.start, .end and .error."""

    # Version 1.0: the fields of ResourcePayload 1.0, and hook
    VERSION = '1.0'

    fields = {'hook': fields.StringField()}
