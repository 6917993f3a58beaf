"""The audit, within the payloads of the plans that it proposed."""

# oslo.versionedobjects reads plain dicts off the class.
# ruff: noqa: RUF012

from watcherlite.objects import base, exception, fields


@base.register
class AuditPayload(base.Payload):
    """The audit that a plan comes from."""

    # Version 1.0: the twelve fields of the samples of spec 003
    # Version 1.1: status_message
    VERSION = '1.1'
    added_in = {'status_message': '1.1'}
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
        'fault': fields.ObjectField(
            exception.ExceptionPayload.obj_name(), nullable=True
        ),
        'created_at': fields.DateTimeField(nullable=True),
        'updated_at': fields.DateTimeField(nullable=True),
        'deleted_at': fields.DateTimeField(nullable=True),
        'status_message': fields.StringField(nullable=True),
    }
