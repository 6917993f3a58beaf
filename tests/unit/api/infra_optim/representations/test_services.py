"""The representations of leases as services."""

from tests import base
from tests.factories import NOW, at, new_uuid
from watcherlite.api.infra_optim.handlers import services
from watcherlite.db.query import ListedWorker

BOTH = ('applier', 'engine')


def worker(number, lanes, live=True, lease_until=None):
    until = lease_until or at(130)
    return ListedWorker(number, new_uuid(), f'host-{number}', lanes, NOW, until, live)


class TestServices(base.TestCase):
    """A service is one lane of one worker."""

    def told(self, *workers):
        return [
            (service.id, service.name, service.host, service.status)
            for service in services.of_workers(workers, at(100))
        ]

    def test_one_was_seen_until_its_lease_ended_or_is_seen_now(self):
        alive, lost = services.of_workers(
            [worker(1, BOTH[:1]), worker(2, BOTH[:1], live=False, lease_until=at(90))],
            at(100),
        )

        self.assertEqual((at(100), at(90)), (alive.last_seen_up, lost.last_seen_up))
