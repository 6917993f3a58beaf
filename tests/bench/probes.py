"""Probes of the queues of the broker and of one plan in the database."""

import time
from collections.abc import Callable
from contextlib import AbstractContextManager
from typing import Any

from tests.bench import connections, plans
from watcherlite.domain.actions import APPLIER
from watcherlite.messaging import declaration, topology
from watcherlite.messaging.settings import MessagingSettings, NotificationDestination
from watcherlite.states import action as states
from watcherlite.states import action_plan as plan_states

_LOOK = 0.005
#: Poll intervals of small and of large plans in seconds. Polling large plans more often
#: would distort the measurement.
_SMALL = 100
_LOOK_SMALL, _LOOK_LARGE = 0.002, 0.01


class Broker(AbstractContextManager['Broker']):
    """The declared queues of the applier lane and of the notifications."""

    def __init__(self, url: str) -> None:
        work = topology.work(MessagingSettings(url).prefix)
        notifications = topology.notifications(NotificationDestination())
        self._lane = topology.lane_queue(MessagingSettings(url).prefix, APPLIER)
        self._notifications = [queue.name for queue in notifications.queues]
        self._link = connections.broker(url)
        self._channel = self._link.channel()
        for desired in (work, notifications):
            declaration.declare(self._channel, desired)

    def __exit__(self, *_error: object) -> None:
        self._link.close()

    def wait_for_consumers(
        self, desired: bool, timeout: float, check: Callable[[], None]
    ) -> float:
        """Wait until the lane has a consumer, or none; return the wall clock time.

        :param check: called between polls; an exception ends the wait
        """
        deadline = time.monotonic() + timeout
        while bool(self._declared(self._lane)[2]) is not desired:
            check()
            if time.monotonic() > deadline:
                raise TimeoutError(f'{self._lane}: waiting for consumers timed out')
            time.sleep(_LOOK)
        return time.time()

    def messages(self) -> int:
        """Return the number of notifications queued since `purge`."""
        return sum(int(self._declared(name)[1]) for name in self._notifications)

    def purge(self) -> None:
        """Purge the queues of notifications."""
        for name in self._notifications:
            self._channel.queue_purge(name)

    def _declared(self, name: str) -> Any:
        """Return the name of a queue, its messages and its consumers."""
        return self._channel.queue_declare(name, passive=True)


class Plans(AbstractContextManager['Plans']):
    """The rows of plans on PostgreSQL."""

    def __init__(self, url: str) -> None:
        self._connection = connections.postgresql(url)

    def __exit__(self, *_error: object) -> None:
        self._connection.close()

    def wait_until_published(self, size: int, check: Callable[[], None]) -> None:
        """Wait until all events are published."""
        query = 'SELECT 1 FROM events WHERE pending = 1 LIMIT 1'
        self._wait(query, (), size, check, lambda row: row is None)

    def wait_until_ended(
        self, plan_id: int, size: int, check: Callable[[], None]
    ) -> float:
        """Wait for the end of a plan; return the wall clock time.

        :raises PlanNotSucceeded: the plan ended in another state
        """
        query = 'SELECT state FROM action_plans WHERE id = %s'

        def ended(row: Any) -> bool:
            return row[0] in plan_states.ENDED

        row, seen = self._wait(query, (plan_id,), size, check, ended)
        if row[0] != plan_states.SUCCEEDED:
            raise plans.PlanNotSucceeded(f'the plan of {size} actions has {row[0]}')
        return seen

    def moments(self, plan_id: int) -> tuple[float, float]:
        """Return the times of the first ONGOING action and the last published event."""
        row = self._connection.execute(
            'SELECT min(EXTRACT(EPOCH FROM occurred_at)) '
            'FILTER (WHERE action_id IS NOT NULL AND new_status = %s), '
            'max(EXTRACT(EPOCH FROM published_at)) FROM events WHERE plan_id = %s',
            (states.RUNNING, plan_id),
        ).fetchone()
        assert row is not None
        return float(row[0]), float(row[1])

    def _wait(
        self,
        query: str,
        parameters: tuple[Any, ...],
        size: int,
        check: Callable[[], None],
        desired: Callable[[Any], bool],
    ) -> tuple[Any, float]:
        pause = _LOOK_SMALL if size <= _SMALL else _LOOK_LARGE
        deadline = time.monotonic() + plans.timeout(size)
        with self._connection.cursor() as cursor:
            while True:
                row = cursor.execute(query, parameters, prepare=True).fetchone()
                if desired(row):
                    return row, time.time()
                check()
                if time.monotonic() > deadline:
                    raise TimeoutError(f'the plan of {size} actions is stuck: {row}')
                time.sleep(pause)
