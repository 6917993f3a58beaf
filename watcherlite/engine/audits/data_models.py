"""The data models of a process, collected on demand and kept for a while."""

import functools
import logging
import threading
from collections.abc import Callable, Collection, Mapping, Sequence
from typing import Any, Protocol

from watcherlite import exceptions
from watcherlite.clock import Clock
from watcherlite.domain.creators import Creator
from watcherlite.plugins import base

LOG = logging.getLogger(__name__)


class ModelPlugins(Protocol):
    """Loads data models and datasources, see `plugins.loader.Plugins`."""

    def make_data_model(self, name: str) -> base.DataModel:
        """Return an instance; raises PluginNotFound or PluginError."""

    def make_datasource(self, name: str) -> base.DataSource:
        """Return an instance; raises PluginNotFound or PluginError."""

    def names(self, namespace: str) -> Collection[str]:
        """Return the names of the installed plugins."""


class _Kept:
    """The snapshot of one data model, and the lock of its collection."""

    def __init__(self) -> None:
        self.lock = threading.Lock()
        self.snapshot: Any = None
        self.collected: float | None = None


class DataModels:
    """Data models by name, shared by all audits of a process.

    One thread collects a model; others that need it wait for it.

    :param max_age: returns the seconds for which a snapshot is used
    """

    def __init__(
        self, plugins: ModelPlugins, clock: Clock, max_age: Callable[[], float]
    ) -> None:
        self._plugins = plugins
        self._clock = clock
        self._max_age = max_age
        self._lock = threading.Lock()
        self._kept: dict[str, _Kept] = {}

    @property
    def names(self) -> Sequence[str]:
        """Return the names of the installed data models."""
        return sorted(self._plugins.names(base.DATA_MODELS))

    def model(self, name: str, scope: Sequence[Any]) -> Any:
        """Return a new model of a scope; raises what the plugin raises."""
        plugin = self._plugins.make_data_model(name)
        return plugin.restrict(self._snapshot(name, plugin), scope)

    def rows(self, name: str, scope: Sequence[Any]) -> Sequence[Mapping[str, Any]]:
        """Return the representation of a model in the API."""
        plugin = self._plugins.make_data_model(name)
        model = plugin.restrict(self._snapshot(name, plugin), scope)
        return plugin.represent(model)

    def factories(self) -> dict[str, Callable[..., Any]]:
        """Return the factories of the models for `ProposalBuilder`, by name."""
        return {name: functools.partial(self._model_for, name) for name in self.names}

    def _model_for(self, name: str, scope: Sequence[Any], creator: Creator) -> Any:
        if not creator.everywhere:
            raise exceptions.Forbidden(
                f'The data model {name} shows the objects of all projects; the creator '
                'of the audit may act on one project only'
            )
        return self.model(name, scope)

    def _snapshot(self, name: str, plugin: base.DataModel) -> Any:
        with self._lock:
            kept = self._kept.setdefault(name, _Kept())
        with kept.lock:
            now = self._clock.monotonic()
            if kept.collected is None or now - kept.collected >= self._max_age():
                kept.snapshot = plugin.collect()
                # The time before, because the model is as old as its first answer.
                kept.collected = now
                LOG.info(
                    'Collected the data model %s in %.1f s',
                    name,
                    self._clock.monotonic() - now,
                )
            return kept.snapshot


class Datasources:
    """The configured datasources.

    :param preference: returns their names, the preferred one first
    """

    def __init__(
        self, plugins: ModelPlugins, preference: Callable[[], Sequence[str]]
    ) -> None:
        self._plugins = plugins
        self._preference = preference

    def find(self, metrics: Collection[str]) -> base.DataSource:
        """Return the first configured one that has all metrics.

        :raises ConfigurationError: there is none
        """
        return self.find_named(metrics)[1]

    def find_named(self, metrics: Collection[str]) -> tuple[str, base.DataSource]:
        """Return the name and the datasource that `find` returns."""
        tried = []
        for name in self._preference():
            source = self._plugins.make_datasource(name)
            if not source.is_configured:
                tried.append(f'{name} is not configured')
                continue
            missing = sorted(set(metrics) - set(source.metrics))
            if not missing:
                return name, source
            tried.append(f'{name} has no {", ".join(missing)}')
        raise exceptions.ConfigurationError(
            f'No datasource has {", ".join(sorted(metrics))}: '
            f'{"; ".join(tried) or "[data_models] datasources is empty"}'
        )
