"""The action that waits without occupying a thread."""

import datetime
import math
from collections.abc import Mapping
from typing import Any, ClassVar

from watcherlite import exceptions
from watcherlite.domain.outcomes import Done, InProgress
from watcherlite.plugins import base

#: Ten years; date arithmetic still works that far in the future.
MAX_DURATION = 315_360_000


class Sleep(base.ActionType):
    """End `duration` seconds after the start.

    The token is the time of the end, so that another worker waits for the remaining
    time only.
    """

    description = 'Waits for a number of seconds, including fractions.'
    idempotent = True
    schema: ClassVar[Mapping[str, Any]] = {
        'type': 'object',
        'properties': {
            'duration': {
                'type': 'number',
                'minimum': 0,
                'maximum': MAX_DURATION,
                'description': 'seconds',
            }
        },
        'required': ['duration'],
        'additionalProperties': False,
    }

    def validate(self, inputs: Mapping[str, Any]) -> None:
        """Refuse NaN, which is neither below the minimum nor above the maximum."""
        if math.isnan(inputs['duration']):
            raise exceptions.InvalidInput('input_parameters.duration: is not a number')

    def execute(self, context: base.ActionContext) -> Done | InProgress:
        """Compute the time at which the action ends."""
        duration = float(context.inputs['duration'])
        if duration == 0:
            return Done()
        until = context.now() + datetime.timedelta(seconds=duration)
        return InProgress({'until': until.isoformat()}, duration)

    def poll(self, context: base.ActionContext, token: Any) -> Done | InProgress:
        until = datetime.datetime.fromisoformat(token['until'])
        left = (until - context.now()).total_seconds()
        return InProgress(token, left) if left > 0 else Done()
