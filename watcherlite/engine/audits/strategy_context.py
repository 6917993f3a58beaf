"""The context of a strategy."""

import datetime
from collections.abc import Callable, Collection, Mapping, Sequence
from typing import Any

from watcherlite import exceptions
from watcherlite.domain.audits import Audit
from watcherlite.plugins.base import ActionContext, DataSource, ScoringEngine

#: Returns a model of the infrastructure, limited to a scope.
Model = Callable[[Sequence[Any]], Any]
#: Returns a datasource that has the metrics; raises ConfigurationError.
FindDatasource = Callable[[Collection[str]], DataSource]
#: Returns a scoring engine by name; raises PluginNotFound and PluginError.
MakeScoringEngine = Callable[[str], ScoringEngine]


class AuditStrategyContext:
    """Implements `plugins.base.StrategyContext` for one run of an audit.

    :param models: factories of the models that strategies use, by name
    :param find_datasource: None: no datasource is configured
    """

    def __init__(
        self,
        context: ActionContext,
        audit: Audit,
        goal: str,
        parameters: Mapping[str, Any],
        models: Mapping[str, Model],
        make_scoring_engine: MakeScoringEngine,
        find_datasource: FindDatasource | None = None,
    ) -> None:
        self.audit_uuid = audit.uuid
        self.audit_name = audit.name
        self.goal = goal
        self.parameters = parameters
        self.scope = audit.scope
        self._context = context
        self._models = models
        self._make_scoring_engine = make_scoring_engine
        self._find_datasource = find_datasource

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

    def datasource(self, metrics: Collection[str]) -> DataSource:
        if self._find_datasource is None:
            raise exceptions.ConfigurationError(
                f'No datasource has {", ".join(sorted(metrics))}: none is configured'
            )
        return self._find_datasource(metrics)

    def scoring_engine(self, name: str) -> ScoringEngine:
        return self._make_scoring_engine(name)
