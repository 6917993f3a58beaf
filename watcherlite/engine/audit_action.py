"""The action type that runs audits: of watcherlite itself, not a plugin."""

import functools
from collections.abc import Callable, Mapping
from typing import Any, ClassVar

from watcherlite.domain.outcomes import Outcome
from watcherlite.engine.run_actions import AUDIT
from watcherlite.engine.runs import AuditRun
from watcherlite.execution.runner import ActionTypes
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


class EngineTypes:
    """The action types of a worker: those of plugins, and those of the engine.

    Plan documents are checked against the plugins alone, so that no plan can ask
    for one of the engine's.

    :param plugins: the action types that are plugins
    """

    def __init__(
        self, plugins: ActionTypes, own: Mapping[str, Callable[[], ActionType]]
    ) -> None:
        self._plugins = plugins
        self._own = own

    @classmethod
    def of(
        cls, plugins: ActionTypes, run: Callable[[ActionContext], AuditRun]
    ) -> 'EngineTypes':
        """Return the types of a worker that runs audits."""
        return cls(plugins, {AUDIT: functools.partial(AuditAction, run)})

    def make_action_type(self, name: str) -> ActionType:
        """Return an instance; raises PluginNotFound or PluginError."""
        own = self._own.get(name)
        return own() if own is not None else self._plugins.make_action_type(name)

    def validate_inputs(
        self, action_type: ActionType, inputs: Mapping[str, Any]
    ) -> None:
        """Raise InvalidInput."""
        self._plugins.validate_inputs(action_type, inputs)
