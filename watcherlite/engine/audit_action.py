"""The action type that runs audits: of watcherlite itself, not a plugin."""

from collections.abc import Callable, Mapping
from typing import Any, ClassVar

from watcherlite.domain.outcomes import Outcome
from watcherlite.engine.runs import AuditRun
from watcherlite.plugins.base import ActionContext, ActionType


class AuditAction(ActionType):
    """Runs an audit, of which it is handed the uuid.

    :param run: makes a run of the context of an action
    """

    description = 'Runs an audit.'
    # A run that begins again finds the plan that was stored, or stores the first.
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
        """Run it."""
        return self._run(context).execute()
