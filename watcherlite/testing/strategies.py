"""Execution of one strategy as by an audit, without engine or store."""

import datetime
import functools
from collections.abc import Collection, Mapping, Sequence
from typing import Any

from watcherlite import exceptions
from watcherlite.clock import UTC, Clock
from watcherlite.domain.audits import ONESHOT, Audit
from watcherlite.domain.solutions import Solution
from watcherlite.engine.audits.strategy_context import AuditStrategyContext, Model
from watcherlite.plugins import options as plugin_options
from watcherlite.plugins import parameters as plugin_parameters
from watcherlite.plugins.base import DataSource, ScoringEngine, Strategy
from watcherlite.states import audit as states
from watcherlite.testing.context import UUID, FakeContext, Injected


def run_strategy(
    strategy: type[Strategy],
    parameters: Mapping[str, Any] | None = None,
    *,
    scope: Sequence[Any] = (),
    models: Mapping[str, Model] | None = None,
    datasource: DataSource | None = None,
    scoring_engines: Mapping[str, ScoringEngine] | None = None,
    options: Mapping[str, Any] | None = None,
    signals: Sequence[Injected] = (),
    clock: Clock | None = None,
) -> Solution:
    """Return the proposal of a strategy; raises its exceptions.

    :param parameters: of the audit; raises InvalidInput if they are invalid
    :param models: name -> function that returns the model of a scope
    :param datasource: the only one; None: none is configured
    :param scoring_engines: the installed ones, by name
    :param signals: created by `at_checkpoint` and `after_seconds`
    """
    filled = plugin_parameters.fill(strategy.schema, parameters or {})
    audit = Audit(
        id=1,
        uuid=UUID,
        name='an audit',
        audit_type=ONESHOT,
        state=states.ONGOING,
        goal_id=1,
        scope=scope,
        created_at=datetime.datetime(2030, 1, 1, tzinfo=UTC),
    )
    context = AuditStrategyContext(
        FakeContext(clock=clock, signals=signals),
        audit,
        strategy.goal,
        filled,
        models or {},
        functools.partial(_scoring_engine, scoring_engines or {}),
        None if datasource is None else functools.partial(_find, datasource),
    )
    return strategy(plugin_options.standalone_group(strategy, options)).execute(context)


def _scoring_engine(engines: Mapping[str, ScoringEngine], name: str) -> ScoringEngine:
    if name not in engines:
        raise exceptions.PluginNotFound(f'There is no scoring engine {name}.')
    return engines[name]


def _find(datasource: DataSource, metrics: Collection[str]) -> DataSource:
    missing = sorted(set(metrics) - set(datasource.metrics))
    if missing:
        raise exceptions.ConfigurationError(f'No datasource has {", ".join(missing)}')
    return datasource
