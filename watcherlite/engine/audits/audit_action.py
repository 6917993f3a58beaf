"""The action type that runs audits; built in, not a plugin."""

from collections.abc import Callable, Mapping
from typing import Any, ClassVar

from watcherlite.domain.outcomes import Outcome
from watcherlite.engine.audits.runs import AuditRun
from watcherlite.plugins.base import ActionContext, ActionType


class AuditAction(ActionType):
    """Runs the audit whose uuid is in its inputs.

    :param run: returns the run for an action context
    """

    description = 'Runs an audit.'
    # A repeated run finds the plan that was stored, or stores the first one.
    idempotent = True
    schema: ClassVar[Mapping[str, Any]] = {
        'type': 'object',
        'properties': {'audit': {'type': 'string'}},
        'required': ['audit'],
        'additionalProperties': False,
    }

    def __init__(self, run: Callable[[ActionContext], AuditRun]) -> None:
        super().__init__()
        self._run = run

    def execute(self, context: ActionContext) -> Outcome:
        """Run the audit."""
        return self._run(context).execute()
