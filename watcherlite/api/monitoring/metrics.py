"""Prometheus metrics of the requests of this process, and of the store.

Each process counts its own requests. A scrape reaches one of several processes at an
address; see `operations.rst`.
"""

from collections.abc import Callable, Iterator
from datetime import datetime

from prometheus_client import CONTENT_TYPE_LATEST, CollectorRegistry, Counter, Histogram
from prometheus_client import generate_latest as render
from prometheus_client.core import GaugeMetricFamily, Metric

from watcherlite import exceptions
from watcherlite.db.api import Store

CONTENT_TYPE = CONTENT_TYPE_LATEST
#: The label of unknown methods and routes.
OTHER = 'other'
_METHODS = frozenset({'GET', 'HEAD', 'OPTIONS', 'POST', 'PUT', 'PATCH', 'DELETE'})


class Metrics:
    """The metrics of one process.

    :param now: returns the current time, for the age of the oldest notification
    """

    def __init__(self, store: Store, now: Callable[[], datetime]) -> None:
        self._registry = CollectorRegistry()
        self._requests = Counter(
            'watcherlite_api_requests',
            'Requests that were answered.',
            ('method', 'route', 'status'),
            registry=self._registry,
        )
        self._seconds = Histogram(
            'watcherlite_api_request_seconds',
            'Seconds until an answer began.',
            ('method', 'route'),
            registry=self._registry,
        )
        self._registry.register(_Stored(store, now))

    def observe(
        self, method: str, route: str | None, status: int, seconds: float
    ) -> None:
        """Count a request.

        :param route: the template of its URL; None if no route matched
        """
        method = method if method in _METHODS else OTHER
        route = route or OTHER
        self._requests.labels(method, route, str(status)).inc()
        self._seconds.labels(method, route).observe(seconds)

    def render(self) -> bytes:
        """Return all metrics; if the store is unavailable, without its metrics."""
        return render(self._registry)


class _Stored:
    """The collector of the metrics of the store."""

    def __init__(self, store: Store, now: Callable[[], datetime]) -> None:
        self._store = store
        self._now = now

    def describe(self) -> list[Metric]:
        """Return nothing: registration must not query the store."""
        return []

    def collect(self) -> Iterator[Metric]:
        """Yield the families."""
        try:
            figures = self._store.statistics()
            oldest = self._store.oldest_pending_event()
        except exceptions.WatcherliteError:
            yield _gauge('watcherlite_database_up', 'Whether the database answers.', 0)
            return
        yield _gauge('watcherlite_database_up', 'Whether the database answers.', 1)
        for name, label, text in (
            ('action_plans', 'state', 'Action plans that have not ended.'),
            ('actions', 'status', 'Actions that have not ended.'),
            ('stacks', 'status', 'Stacks that are not deleted, nested ones included.'),
        ):
            family = GaugeMetricFamily(f'watcherlite_{name}', text, labels=[label])
            for value, count in sorted(figures[name].items()):
                family.add_metric([value], count)
            yield family
        yield _gauge(
            'watcherlite_resources_in_progress',
            'Resources of stacks with an operation in progress.',
            figures['resources_in_progress'],
        )
        yield _gauge('watcherlite_workers', 'Workers with a lease.', figures['workers'])
        yield _gauge(
            'watcherlite_pending_notifications',
            'Notifications that are not sent yet.',
            figures['pending_events'],
        )
        waited = 0.0 if oldest is None else (self._now() - oldest).total_seconds()
        yield _gauge(
            'watcherlite_oldest_pending_notification_seconds',
            'Seconds since the oldest of them was stored.',
            max(waited, 0.0),
        )


def _gauge(name: str, text: str, value: float) -> GaugeMetricFamily:
    return GaugeMetricFamily(name, text, value=value)
