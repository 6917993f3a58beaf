"""The action that lets time pass, and holds no thread while it does."""

import datetime
import math
from collections.abc import Mapping
from typing import Any, ClassVar

from watcherlite import exceptions
from watcherlite.domain.outcomes import Done, InProgress
from watcherlite.plugins import base

#: Ten years; a date that far away is still one that can be computed with.
MAX_DURATION = 315_360_000


class Sleep(base.ActionType):
    """Ends `duration` seconds after it started.

    The token is the time at which it ends, so that a worker that takes it over
    waits for the rest only.
    """

    description = 'Waits for a number of seconds, fractions included.'
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
        """Fix the time at which the action ends."""
        duration = float(context.inputs['duration'])
        if duration == 0:
            return Done()
        until = context.now() + datetime.timedelta(seconds=duration)
        return InProgress({'until': until.isoformat()}, duration)

    def poll(self, context: base.ActionContext, token: Any) -> Done | InProgress:
        """End when it is time."""
        until = datetime.datetime.fromisoformat(token['until'])
        left = (until - context.now()).total_seconds()
        return InProgress(token, left) if left > 0 else Done()
