"""The payloads nested in others: faults, goals and strategies."""

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
        **base.TIMES,
    }


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
        **base.TIMES,
    }
