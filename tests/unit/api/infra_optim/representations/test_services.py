"""How leases become services."""

import jsonschema

from tests import base
from tests.factories import NOW, at, new_uuid
from tests.unit.api.infra_optim.requests import links_to, make_request
from watcherlite.api import operation
from watcherlite.api.infra_optim.handlers import services
from watcherlite.api.infra_optim.schemas import services as schemas
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

    def test_a_worker_is_a_service_for_each_lane(self):
        self.assertEqual(
            [
                (1, 'watcherlite-applier', 'host-1', 'ACTIVE'),
                (4, 'watcherlite-engine', 'host-2', 'ACTIVE'),
                (5, 'watcherlite-applier', 'host-3', 'ACTIVE'),
                (6, 'watcherlite-engine', 'host-3', 'ACTIVE'),
            ],
            self.told(worker(3, BOTH), worker(1, BOTH[:1]), worker(2, BOTH[1:])),
        )

    def test_one_whose_lease_has_ended_has_failed(self):
        self.assertEqual(
            [(1, 'watcherlite-applier', 'host-1', 'FAILED')],
            self.told(worker(1, BOTH[:1], live=False, lease_until=at(90))),
        )

    def test_one_was_seen_until_its_lease_ended_or_is_seen_now(self):
        alive, lost = services.of_workers(
            [
                worker(1, BOTH[:1]),
                worker(2, BOTH[:1], live=False, lease_until=at(90)),
            ],
            at(100),
        )

        self.assertEqual((at(100), at(90)), (alive.last_seen_up, lost.last_seen_up))

    def test_details_add_the_times_to_the_columns_of_clients(self):
        (service,) = services.of_workers([worker(1, BOTH[:1])], at(100))

        brief = services.represent(make_request(), service, False)
        shown = services.represent(make_request(), service, True)

        self.assertEqual(
            {
                'id': 1,
                'name': 'watcherlite-applier',
                'host': 'host-1',
                'status': 'ACTIVE',
                'links': links_to('services/1'),
            },
            brief,
        )
        self.assertEqual(
            {
                **brief,
                'last_seen_up': '2026-03-29T01:31:55.123456',
                'created_at': '2026-03-29T01:30:15.123456+00:00',
                'updated_at': '2026-03-29T01:31:55.123456+00:00',
                'deleted_at': None,
            },
            shown,
        )
        jsonschema.validate(
            {'services': [brief]}, operation.at(schemas.COLLECTION, (1, 0))
        )
        jsonschema.validate(shown, operation.at(schemas.SERVICE, (1, 0)))
