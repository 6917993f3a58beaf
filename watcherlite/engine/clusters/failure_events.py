"""Notifications of services about failed nodes, which start health checks at once."""

import datetime
import fnmatch
import functools
import logging
import queue
import threading
import time
from collections.abc import Collection, Mapping, Sequence

from watcherlite import exceptions
from watcherlite.clock import Clock
from watcherlite.domain.clusters import Bound, Cluster
from watcherlite.domain.service_notifications import (
    ResourceFailure,
    ServiceNotification,
)
from watcherlite.engine.clusters.actions import health_monitor
from watcherlite.engine.clusters.policies.cluster_policies import is_health_policy
from watcherlite.engine.clusters.services import ClusterServices
from watcherlite.plugins.base import ResourceHandler

LOG = logging.getLogger(__name__)

#: Seconds after a failure in which others start the same health check: those of a host.
WINDOW = 0.5
#: The most failures that start one health check.
MOST_TOGETHER = 1000
#: In the data of a binding: whether the policy has the mode LIFECYCLE_EVENTS.
DETECTS_EVENTS = 'events'
#: The maximum number of failures that wait; a check at the interval finds the others.
MOST_WAITING = 10_000


Reported = tuple[ResourceFailure, ServiceNotification]


class FailureEvents:
    """Starts health checks of the nodes that notifications report as failed.

    Notifications are matched in the thread that receives them; another thread reads the
    database for the few that concern a node.
    """

    def __init__(self, parts: ClusterServices, clock: Clock) -> None:
        self._parts = parts
        self._clock = clock
        self._waiting: queue.Queue[Reported | None] = queue.Queue(MOST_WAITING)
        self._thread = threading.Thread(
            target=self._run, name='failure-events', daemon=True
        )

    def start(self) -> None:
        """Start the thread."""
        self._thread.start()

    def stop(self, timeout: float) -> None:
        """Stop the thread after the waiting failures; wait for `timeout` seconds."""
        if self._thread.ident is None:
            return
        try:
            self._waiting.put(None, timeout=timeout)
        except queue.Full:
            return
        self._thread.join(timeout)

    def on_notification(self, notification: ServiceNotification) -> None:
        """Record the failure that a notification reports, if any; wait for nothing."""
        for declared, patterns in self._types.items():
            if not any(
                fnmatch.fnmatchcase(notification.event_type, pattern)
                for pattern in patterns
            ):
                continue
            failure = declared.failure_in(notification)
            if failure is None:
                continue
            try:
                self._waiting.put_nowait((failure, notification))
            except queue.Full:
                LOG.warning(
                    'Too many failures of resources are reported; the one of %s is '
                    'ignored until the next health check',
                    failure.resource_uuid,
                )
            return

    def handle(self, reported: Sequence[Reported]) -> None:
        """Start health checks of the clusters whose policies ask for it, one each."""
        found: dict[str, tuple[Cluster, Bound]] = {}
        failures: dict[str, dict[str, tuple[ResourceFailure, datetime.datetime]]] = {}
        for failure, notification in reported:
            place = self._find(failure)
            if place is not None:
                key = place[1].binding.uuid
                found[key] = place
                # A deletion of a server is several notifications: the last one counts.
                of_cluster = failures.setdefault(key, {})
                of_cluster[failure.resource_uuid] = (failure, notification.emitted)
        for key, (cluster, bound) in found.items():
            health_monitor.start_for_failures(
                self._parts,
                cluster,
                bound,
                list(failures[key].values()),
                self._clock.now(),
            )

    def _run(self) -> None:
        ends = False
        while not ends:
            reported, ends = self._take()
            try:
                self.handle(reported)
            except exceptions.WatcherliteError as error:
                LOG.warning(
                    '%s; no health check is started: %s', _text(reported), error
                )
            except Exception:
                LOG.exception('%s; no health check is started', _text(reported))

    def _take(self) -> tuple[list[Reported], bool]:
        """Wait for failures; return those of a short time, and whether to end."""
        found: list[Reported] = []
        item = self._waiting.get()
        until = time.monotonic() + WINDOW
        while item is not None:
            found.append(item)
            left = until - time.monotonic()
            if left <= 0 or len(found) >= MOST_TOGETHER:
                return found, False
            try:
                item = self._waiting.get(timeout=left)
            except queue.Empty:
                return found, False
        return found, True

    @functools.cached_property
    def _types(self) -> Mapping[type[ResourceHandler], Collection[str]]:
        """Return the event types of each type of resources that has some."""
        found = self._parts.plugins.resource_types().values()
        return {one: one.failure_events for one in found if one.failure_events}

    def _find(self, failure: ResourceFailure) -> tuple[Cluster, Bound] | None:
        """Return the cluster of a failed node, and its binding of a health policy."""
        store, uuid = self._parts.store, failure.resource_uuid
        node = store.nodes_by_uuid([uuid]).get(uuid)
        if node is None or node.cluster_id is None or node.deleted_at is not None:
            return None
        if node.physical_id != failure.physical_id:
            return None
        cluster = store.objects_by_id(Cluster, [node.cluster_id])[node.cluster_id]
        for bound in store.bindings_of_clusters([cluster.id]).get(cluster.id, ()):
            is_on = bound.binding.enabled and bound.binding.data.get(DETECTS_EVENTS)
            if is_on and is_health_policy(bound.policy):
                return cluster, bound
        return None


def _text(reported: Sequence[Reported]) -> str:
    """Return the reasons of failures for the log."""
    reasons = [failure.reason for failure, _ in reported[:5]]
    more = [f'and {len(reported) - 5} more'] if len(reported) > 5 else []
    return ', '.join([*reasons, *more])
