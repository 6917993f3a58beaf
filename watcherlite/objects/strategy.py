"""The strategy, within the payloads of audits and of the plans that it proposed."""

# oslo.versionedobjects reads plain dicts off the class.
# ruff: noqa: RUF012

from watcherlite.objects import base, fields


@base.register
class StrategyPayload(base.Payload):
    """The strategy that proposed a plan, or that an audit names."""

    # Version 1.0: as spec 003 has it
    VERSION = '1.0'

    fields = {
        'uuid': fields.UUIDField(),
        'name': fields.StringField(),
        'display_name': fields.StringField(),
        'parameters_spec': fields.FlexibleDictField(nullable=True),
        'created_at': fields.DateTimeField(nullable=True),
        'updated_at': fields.DateTimeField(nullable=True),
        'deleted_at': fields.DateTimeField(nullable=True),
    }
