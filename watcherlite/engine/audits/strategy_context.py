"""The context of a strategy."""

import datetime
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from watcherlite import exceptions
from watcherlite.domain.audits import Audit
from watcherlite.plugins.base import ActionContext

#: Returns a model of the infrastructure, limited to a scope.
Model = Callable[[Sequence[Any]], Any]


class AuditStrategyContext:
    """Implements `plugins.base.StrategyContext` for one run of an audit.

    :param models: factories of the models that strategies use, by name
    """

    def __init__(
        self,
        context: ActionContext,
        audit: Audit,
        goal: str,
        parameters: Mapping[str, Any],
        models: Mapping[str, Model],
    ) -> None:
        self.audit_uuid = audit.uuid
        self.audit_name = audit.name
        self.goal = goal
        self.parameters = parameters
        self.scope = audit.scope
        self._context = context
        self._models = models

    def checkpoint(self) -> None:
        self._context.checkpoint()

    def sleep(self, seconds: float) -> None:
        self._context.sleep(seconds)

    def now(self) -> datetime.datetime:
        return self._context.now()

    def model(self, name: str) -> Any:
        make = self._models.get(name)
        if make is None:
            kept = ', '.join(sorted(self._models)) or 'none'
            raise exceptions.NotFound(
                f'There is no model {name} of the infrastructure; there are: {kept}'
            )
        return make(self.scope)
