"""Actions for the machines of Acme."""

from typing import ClassVar

from oslo_config import cfg

from watcherlite.domain.outcomes import Done, InProgress
from watcherlite.exceptions import ActionSkipException
from watcherlite.plugins import base


class Greet(base.ActionType):
    """An action that prints a greeting after a delay."""

    description = 'Prints a greeting.'
    idempotent = True
    schema: ClassVar = {
        'type': 'object',
        'properties': {'name': {'type': 'string', 'minLength': 1}},
        'required': ['name'],
        'additionalProperties': False,
    }

    @classmethod
    def get_config_opts(cls):
        return [
            cfg.StrOpt('word', default='Hello', help='The first word of the greeting.')
        ]

    def pre_condition(self, context):
        if context.inputs['name'] == 'unknown':
            raise ActionSkipException('the name is unknown')

    def execute(self, context):
        return InProgress({'for': context.inputs['name']}, delay=5)

    def poll(self, context, token):
        return Done({'greeting': f'{self.options.word}, {token["for"]}!'})


class PermissivePolicy(base.Policy):
    """A policy that permits everything."""


class NotAnActionType:
    """A class that is no action type."""


class InvalidOptions(base.ActionType):
    """An action type with invalid options."""

    @classmethod
    def get_config_opts(cls):
        return ['word']
