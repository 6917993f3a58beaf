"""The action that does nothing, for trying plans out and for measuring."""

import logging
from collections.abc import Mapping
from typing import Any, ClassVar

from watcherlite import exceptions
from watcherlite.domain.outcomes import Done
from watcherlite.plugins import base

LOG = logging.getLogger(__name__)

_DONE = Done()


class FailedOnPurpose(exceptions.WatcherliteError):
    """A flag among the inputs says that this phase fails."""


class Nop(base.ActionType):
    """Does nothing, and fails or is skipped where it is told to."""

    description = 'Does nothing; can be told to be skipped or to fail.'
    idempotent = True
    schema: ClassVar[Mapping[str, Any]] = {
        'type': 'object',
        'properties': {
            'message': {'type': ['string', 'null']},
            'skip_pre_condition': {'type': 'boolean'},
            'fail_pre_condition': {'type': 'boolean'},
            'fail_execute': {'type': 'boolean'},
            'fail_post_condition': {'type': 'boolean'},
        },
        'required': ['message'],
        'additionalProperties': False,
    }

    def pre_condition(self, context: base.ActionContext) -> None:
        """Skip or fail when a flag says so."""
        inputs = context.inputs
        if inputs.get('skip_pre_condition'):
            raise exceptions.ActionSkipException('Skipped in pre_condition')
        if inputs.get('fail_pre_condition'):
            raise FailedOnPurpose('Failed in pre_condition')

    def execute(self, context: base.ActionContext) -> Done:
        """Log the message."""
        inputs = context.inputs
        if inputs.get('fail_execute'):
            raise FailedOnPurpose('Failed in execute')
        LOG.debug('Action %s: %s', context.uuid, inputs['message'])
        return _DONE

    def post_condition(self, context: base.ActionContext) -> None:
        """Fail when a flag says so."""
        if context.inputs.get('fail_post_condition'):
            raise FailedOnPurpose('Failed in post_condition')

    def revert(self, context: base.ActionContext) -> Done:
        """Log that there is nothing to undo."""
        LOG.debug('Action %s: nothing to undo', context.uuid)
        return _DONE
