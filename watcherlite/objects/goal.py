"""The goal, nested in the payloads of audits."""

# oslo.versionedobjects reads plain dicts off the class.
# ruff: noqa: RUF012

from watcherlite.objects import base, fields


@base.register
class GoalPayload(base.Payload):
    """The goal of an audit."""

    # Version 1.0: as Watcher has it
    VERSION = '1.0'

    fields = {
        'uuid': fields.UUIDField(),
        'name': fields.StringField(),
        'display_name': fields.StringField(),
        'efficacy_specification': fields.FlexibleListField(),
        'created_at': fields.DateTimeField(nullable=True),
        'updated_at': fields.DateTimeField(nullable=True),
        'deleted_at': fields.DateTimeField(nullable=True),
    }
