"""The action without effect, for trial plans and measurements."""

import logging
from collections.abc import Mapping
from typing import Any, ClassVar

from watcherlite import exceptions
from watcherlite.domain.outcomes import Done
from watcherlite.plugins import base

LOG = logging.getLogger(__name__)

_DONE = Done()


class FailedOnPurpose(exceptions.WatcherliteError):
    """A flag among the inputs lets this phase fail."""


class Nop(base.ActionType):
    """Do nothing, and fail or be skipped if the inputs say so."""

    description = 'Does nothing; the inputs can skip it or let it fail.'
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
        inputs = context.inputs
        if inputs.get('skip_pre_condition'):
            raise exceptions.ActionSkipException('Skipped in pre_condition')
        if inputs.get('fail_pre_condition'):
            raise FailedOnPurpose('Failed in pre_condition')

    def execute(self, context: base.ActionContext) -> Done:
        inputs = context.inputs
        if inputs.get('fail_execute'):
            raise FailedOnPurpose('Failed in execute')
        LOG.debug('Action %s: %s', context.uuid, inputs['message'])
        return _DONE

    def post_condition(self, context: base.ActionContext) -> None:
        if context.inputs.get('fail_post_condition'):
            raise FailedOnPurpose('Failed in post_condition')

    def revert(self, context: base.ActionContext) -> Done:
        LOG.debug('Action %s: nothing to undo', context.uuid)
        return _DONE
