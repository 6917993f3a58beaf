"""The notifications of services that may report failed nodes."""

import dataclasses
from collections.abc import Collection
from typing import Any, ClassVar, cast

from tests import base
from tests.service_notifications import notification
from watcherlite.domain.service_notifications import (
    ResourceFailure,
    ServiceNotification,
)
from watcherlite.engine.clusters import failure_events
from watcherlite.engine.clusters.services import ClusterServices
from watcherlite.plugins.loader import Plugins
from watcherlite.plugins.resource_handlers.test_resource import TestResource
from watcherlite.testing.clock import ManualClock

FAILURE = ResourceFailure('a-node', 'a-server', 'it is away')


class Reporting(TestResource):
    """A type of resources whose service reports failures."""

    failure_events: ClassVar[Collection[str]] = ('thing.*.end',)

    @classmethod
    def failure_in(cls, notification: ServiceNotification) -> ResourceFailure | None:
        return FAILURE if notification.payload.get('is_ours') else None


@dataclasses.dataclass
class Parts:
    """The services that are needed to match notifications."""

    plugins: Plugins


class TestMatching(base.TestCase):
    def setUp(self) -> None:
        super().setUp()
        handlers: Any = {'Reporting': Reporting, 'Silent': TestResource}
        parts = Parts(Plugins.of(resource_handlers=handlers))
        self.events = failure_events.FailureEvents(
            cast(ClusterServices, parts), ManualClock()
        )

    def waiting(self) -> list[Any]:
        found = []
        while not self.events._waiting.empty():
            found.append(self.events._waiting.get_nowait())
        return found

    def test_only_notifications_of_failed_resources_are_handled(self) -> None:
        ours = notification('thing.stop.end', {'is_ours': True})
        for given in (
            ours,
            notification('thing.stop.start', {'is_ours': True}),
            notification('thing.stop.end', {}),
        ):
            self.events.on_notification(given)

        self.assertEqual([(FAILURE, ours)], self.waiting())

    def test_the_number_of_waiting_failures_is_bounded(self) -> None:
        ours = notification('thing.stop.end', {'is_ours': True})
        for _ in range(failure_events.MOST_WAITING):
            self.events.on_notification(ours)

        with self.assertLogs('watcherlite.engine.clusters', 'WARNING') as logs:
            self.events.on_notification(ours)

        self.assertEqual(failure_events.MOST_WAITING, len(self.waiting()))
        self.assertIn('the one of a-node is ignored', logs.output[0])

    def test_failures_of_a_short_time_are_handled_together(self) -> None:
        ours = notification('thing.stop.end', {'is_ours': True})
        for _ in range(failure_events.MOST_TOGETHER + 2):
            self.events.on_notification(ours)
        self.events._waiting.put(None)

        self.assertEqual(
            [(failure_events.MOST_TOGETHER, False), (2, True)],
            [
                (len(taken), ends)
                for taken, ends in (self.events._take(), self.events._take())
            ],
        )
