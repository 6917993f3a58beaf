"""The fault of a failure, nested in other payloads."""

# oslo.versionedobjects reads plain dicts off the class.
# ruff: noqa: RUF012

from watcherlite.objects import base, fields


@base.register
class ExceptionPayload(base.Payload):
    """Class, public text and place of a failure."""

    # Version 1.0: as spec 003 has it
    VERSION = '1.0'

    fields = {
        'module_name': fields.StringField(),
        'function_name': fields.StringField(),
        'exception': fields.StringField(),
        'exception_message': fields.StringField(),
    }
