"""The data models of a process, collected on demand and kept for a while.

Notifications of services keep them current: they are appended to the pending ones of a
model, and applied before its next use, or earlier if many are pending.
"""

import collections
import datetime
import fnmatch
import functools
import logging
import threading
from collections.abc import Callable, Collection, Mapping, Sequence
from typing import Any, Protocol

from watcherlite import exceptions
from watcherlite.clock import Clock
from watcherlite.domain.creators import Creator
from watcherlite.domain.service_notifications import ServiceNotification
from watcherlite.plugins import base

LOG = logging.getLogger(__name__)

#: The maximum number of pending notifications of a model; with more it is stale.
MOST_PENDING = 5000
#: The number of pending notifications that are applied before the next use.
BATCH = 200
#: A notification that is older than a model by more than this is ignored: the clocks
#: of hosts differ.
CLOCK_TOLERANCE = datetime.timedelta(seconds=5)


class ModelPlugins(Protocol):
    """Loads data models and datasources, see `plugins.loader.Plugins`."""

    def make_data_model(self, name: str) -> base.DataModel:
        """Return an instance; raises PluginNotFound or PluginError."""

    def make_datasource(self, name: str) -> base.DataSource:
        """Return an instance; raises PluginNotFound or PluginError."""

    def names(self, namespace: str) -> Collection[str]:
        """Return the names of the installed plugins."""


class PendingNotifications:
    """The notifications that a snapshot does not have yet; thread-safe.

    Notifications that arrive during a collection are applied to its result.

    :ivar stale: the snapshot is to be collected again
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._pending: collections.deque[ServiceNotification] = collections.deque()
        self._since: datetime.datetime | None = None
        self._arrived = False
        self.stale = False

    @property
    def has_arrived(self) -> bool:
        """Return whether one arrived since notifications may have been missed."""
        return self._arrived

    def restart(self, now: datetime.datetime) -> None:
        """Forget all of them, because a collection starts."""
        with self._lock:
            self._pending.clear()
            self._since = now
            self.stale = False

    def append(self, notification: ServiceNotification) -> int:
        """Append a notification, and return the number of pending ones.

        One that is older than the snapshot, or of no use, is ignored.
        """
        with self._lock:
            self._arrived = True
            if self._since is None or self.stale:
                return 0
            if notification.emitted < self._since - CLOCK_TOLERANCE:
                return 0
            if len(self._pending) >= MOST_PENDING:
                self._pending.clear()
                self.stale = True
                return 0
            self._pending.append(notification)
            return len(self._pending)

    def take(self) -> Sequence[ServiceNotification]:
        """Return the pending ones, in order, and remove them."""
        with self._lock:
            taken = tuple(self._pending)
            self._pending.clear()
            return taken

    def mark_stale(self) -> None:
        """Record that the snapshot is to be collected again."""
        with self._lock:
            self._pending.clear()
            self.stale = True

    def mark_missed(self) -> None:
        """Record that notifications may have been missed."""
        self.mark_stale()
        self._arrived = False

    def mark_lost(self) -> None:
        """Record that notifications do not arrive any more."""
        self._arrived = False


class _Kept:
    """The snapshot of one data model, and the lock of its collection."""

    def __init__(self) -> None:
        self.lock = threading.Lock()
        self.snapshot: Any = None
        self.collected: float | None = None
        self.pending = PendingNotifications()


class DataModels:
    """Data models by name, shared by all audits of a process.

    One thread collects a model; others that need it wait for it.

    :param max_age: returns the seconds for which a snapshot is used
    :param max_age_with_notifications: the same, while notifications keep it current
    """

    def __init__(
        self,
        plugins: ModelPlugins,
        clock: Clock,
        max_age: Callable[[], float],
        max_age_with_notifications: Callable[[], float] = lambda: 0.0,
    ) -> None:
        self._plugins = plugins
        self._clock = clock
        self._max_age = max_age
        self._max_age_with_notifications = max_age_with_notifications
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

    # notifications of services, called by the thread of their consumer

    def on_notification(self, notification: ServiceNotification) -> None:
        """Record a notification for the models that it concerns; wait for nothing."""
        for name, patterns in self._event_types.items():
            if not any(
                fnmatch.fnmatchcase(notification.event_type, pattern)
                for pattern in patterns
            ):
                continue
            kept = self._find(name)
            # A model that is in use applies them itself.
            if kept.pending.append(notification) >= BATCH and kept.lock.acquire(
                blocking=False
            ):
                try:
                    self._apply(name, self._plugins.make_data_model(name), kept)
                finally:
                    kept.lock.release()

    def on_notifications_missed(self) -> None:
        """Collect all models again before their next use."""
        for kept in self._all():
            kept.pending.mark_missed()

    def on_notifications_lost(self) -> None:
        """Use models for `max_age` only, until notifications arrive again."""
        for kept in self._all():
            kept.pending.mark_lost()

    @functools.cached_property
    def _event_types(self) -> Mapping[str, Sequence[str]]:
        """Return the event types of each model that applies notifications."""
        found = {}
        for name in self.names:
            try:
                patterns = self._plugins.make_data_model(name).event_types
            except exceptions.PluginError:
                # Its users get the reason.
                continue
            if patterns:
                found[name] = tuple(patterns)
        return found

    def _model_for(self, name: str, scope: Sequence[Any], creator: Creator) -> Any:
        if not creator.everywhere:
            raise exceptions.Forbidden(
                f'The data model {name} shows the objects of all projects; the creator '
                'of the audit may act on one project only'
            )
        return self.model(name, scope)

    def _find(self, name: str) -> _Kept:
        with self._lock:
            return self._kept.setdefault(name, _Kept())

    def _all(self) -> Sequence[_Kept]:
        with self._lock:
            return list(self._kept.values())

    def _snapshot(self, name: str, plugin: base.DataModel) -> Any:
        kept = self._find(name)
        with kept.lock:
            if self._is_expired(kept) or not self._apply(name, plugin, kept):
                self._collect(name, plugin, kept)
            return kept.snapshot

    def _is_expired(self, kept: _Kept) -> bool:
        if kept.collected is None:
            return True
        limit = self._max_age()
        if kept.pending.has_arrived:
            limit = max(limit, self._max_age_with_notifications())
        return self._clock.monotonic() - kept.collected >= limit

    def _collect(self, name: str, plugin: base.DataModel, kept: _Kept) -> None:
        # The times before, because the model is as old as its first answer.
        now = self._clock.monotonic()
        kept.pending.restart(self._clock.now())
        try:
            kept.snapshot = plugin.collect()
        except BaseException:
            kept.pending.mark_stale()
            raise
        kept.collected = now
        LOG.info(
            'Collected the data model %s in %.1f s', name, self._clock.monotonic() - now
        )
        # What arrived in the meantime. If it cannot be applied, the next use collects
        # the model again.
        self._apply(name, plugin, kept)

    def _apply(self, name: str, plugin: base.DataModel, kept: _Kept) -> bool:
        """Apply the pending notifications; return False if the snapshot is stale."""
        notifications = kept.pending.take()
        if kept.pending.stale or kept.collected is None:
            return False
        if not notifications:
            return True
        try:
            snapshot = plugin.apply(kept.snapshot, notifications)
        except Exception:
            LOG.exception('The data model %s cannot apply notifications', name)
            snapshot = None
        if snapshot is None:
            LOG.info('The data model %s is collected again before its next use', name)
            kept.pending.mark_stale()
            return False
        kept.snapshot = snapshot
        return True


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
