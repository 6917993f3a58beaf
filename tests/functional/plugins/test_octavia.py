"""The driver octavia through openstacksdk, against a local HTTP server."""

import json

from tests import base
from tests.functional.plugins.fake_cloud import FakeCloud
from tests.functional.plugins.http_server import Server
from tests.octavia import FakeOctavia
from watcherlite import exceptions
from watcherlite.domain.outcomes import Retry
from watcherlite.plugins.openstack.connections import Clouds
from watcherlite.plugins.openstack.load_balancers.octavia import Octavia
from watcherlite.plugins.openstack.settings import OpenStackSettings
from watcherlite.plugins.policies.load_balance import LoadBalance
from watcherlite.testing.policies import fitted

NAME = 'cluster-policy'
SUBNET = '5b4c2b5e-0000-4000-8000-000000000001'
NETWORK = '5b4c2b5e-0000-4000-8000-000000000002'
_ATTACHED = [
    'POST loadbalancers',
    'POST listeners',
    'POST pools',
    'POST healthmonitors',
    'PUT pools/members',
]


class CloudWithOctavia(FakeCloud):
    """Keystone, neutron with one subnet, and octavia."""

    def __init__(self):
        super().__init__()
        self.catalog |= {'network': '/network'}
        self.octavia = FakeOctavia(lambda: f'{self.url}/load-balancer')
        self.networks = {
            'subnets': {
                'id': SUBNET,
                'name': 'web',
                'cidr': '10.0.0.0/24',
                'network_id': NETWORK,
                'ip_version': 4,
            },
            'networks': {'id': NETWORK, 'name': 'front'},
        }

    def __call__(self, exchange, request):
        if '/lbaas/' in request.path:
            return self.octavia(exchange, request)
        kind, _, place = request.path.removeprefix('/network/v2.0/').partition('/')
        name, _, query = kind.partition('?')
        if name not in self.networks:
            return super().__call__(exchange, request)
        one = self.networks[name]
        if place == one['id']:
            answer = {name.removesuffix('s'): one}
        elif place:
            return exchange.answer(404, b'{}')
        else:
            answer = {name: [one] if query == f'name={one["name"]}' else []}
        body = json.dumps(answer).encode()
        return exchange.answer(200, body, content_type='application/json')


class TestOctavia(base.TestCase):
    def setUp(self):
        super().setUp()
        self.cloud = CloudWithOctavia()
        self.server = server = self.useFixture(Server(self.cloud))
        self.cloud.url = server.url
        self.octavia = self.cloud.octavia
        self.clouds = Clouds(
            OpenStackSettings(
                auth={
                    'auth_url': f'{server.url}/identity',
                    'username': 'u',
                    'password': 'p',  # nosec B105
                    'project_name': 'p',
                    'user_domain_id': 'd',
                    'project_domain_id': 'd',
                },
                region_name='one',
                retries=0,
                allow_service_authority=True,
            )
        )
        self.addCleanup(self.clouds.close)

    def driver(self, **properties):
        """Return a driver for a policy."""
        given = {'pool': {'subnet': 'web'}, 'vip': {'subnet': 'web'}, **properties}
        driver = Octavia()
        driver.clouds = self.clouds
        driver.properties = fitted(LoadBalance(), **given)
        return driver

    def apply(self, driver, *members):
        """Apply members until nothing is left to change; return the data."""
        for _ in range(50):
            found = driver.apply(NAME, driver.properties, members)
            if not isinstance(found, Retry):
                return found
        raise AssertionError(found)

    def remove(self, driver):
        for _ in range(50):
            found = driver.remove(NAME)
            if found is None:
                return
        raise AssertionError(found)

    def test_a_load_balancer_is_created_and_follows_its_members(self):
        driver = self.driver(health_monitor={'type': 'HTTP', 'url_path': '/up'})

        data = self.apply(driver, member(1), member(2))
        created = list(self.octavia.changes)
        self.apply(driver, member(2), member(3))

        (pool,) = self.octavia.members
        self.assertEqual(_ATTACHED, created)
        self.assertEqual(['PUT pools/members'], self.octavia.changes[len(created) :])
        self.assertEqual(
            {'vip_address': '203.0.113.9', 'preexisting': False, 'pool': pool},
            {key: data[key] for key in ('vip_address', 'preexisting', 'pool')},
        )
        self.assertEqual({pool: ['10.0.0.2', '10.0.0.3']}, self.octavia.addresses())
        (one, _) = self.octavia.members[pool]
        self.assertEqual(
            {
                'name': 'n2',
                'address': '10.0.0.2',
                'protocol_port': 80,
                'subnet_id': SUBNET,
                'weight': 1,
                'admin_state_up': True,
                'tags': [NAME],
            },
            {key: value for key, value in one.items() if key != 'id'},
        )
        (monitor,) = self.octavia.objects['healthmonitors'].values()
        self.assertEqual(
            ('HTTP', '/up', 10, 5, 3),
            tuple(
                monitor[key]
                for key in ('type', 'url_path', 'delay', 'timeout', 'max_retries')
            ),
        )

    def test_a_lost_answer_makes_no_second_load_balancer(self):
        driver = self.driver()
        self.octavia.loses_answers = True
        error = self.assertRaises(
            exceptions.ServiceUnavailable, driver.apply, NAME, driver.properties, []
        )
        self.octavia.loses_answers = False

        self.apply(driver)

        self.assertIn('load-balancer service is not available', str(error))
        self.assertEqual(1, len(self.octavia.objects['loadbalancers']))

    def test_a_service_that_is_down_or_busy_delays_and_a_failure_does_not(self):
        driver = self.driver()
        self.octavia.is_down = True
        self.assertRaises(
            exceptions.ServiceUnavailable, driver.apply, NAME, driver.properties, []
        )
        self.octavia.is_down = False
        self.octavia.status = 'ERROR'
        self.assertEqual(
            'The load balancer is being created',
            driver.apply(NAME, driver.properties, []).reason,
        )

        error = self.assertRaises(exceptions.WatcherliteError, self.apply, driver)
        self.remove(driver)

        self.assertIn('has the provisioning status ERROR', str(error))
        self.assertEqual({}, self.octavia.objects['loadbalancers'])

    def test_everything_is_deleted_by_one_request(self):
        driver = self.driver(health_monitor={})
        self.apply(driver, member(1))
        before = len(self.octavia.changes)

        self.remove(driver)
        self.remove(driver)

        self.assertEqual(['DELETE loadbalancers'], self.octavia.changes[before:])
        self.assertEqual([], self.octavia.named(NAME))
        self.assertEqual({}, self.octavia.members)

    def test_of_an_existing_load_balancer_only_own_objects_are_deleted(self):
        existing = self.octavia.add(
            'loadbalancers', name='theirs', vip_address='1.2.3.4'
        )
        driver = self.driver(loadbalancer='theirs', health_monitor={})

        data = self.apply(driver, member(1))
        self.assertEqual(
            (existing['id'], True, '1.2.3.4'),
            (data['loadbalancer'], data['preexisting'], data['vip_address']),
        )
        self.remove(driver)

        self.assertEqual([], self.octavia.named(NAME))
        self.assertEqual(
            [existing], list(self.octavia.objects['loadbalancers'].values())
        )

    def test_an_existing_pool_keeps_the_members_of_others(self):
        balancer = self.octavia.add(
            'loadbalancers', name='theirs', vip_address='1.2.3.4'
        )
        pool = self.octavia.add(
            'pools', balancer=balancer['id'], loadbalancers=[{'id': balancer['id']}]
        )
        self.octavia.members[pool['id']].append(
            {'id': 'm', 'address': '10.0.0.99', 'protocol_port': 80, 'tags': []}
        )
        driver = self.driver(pool={'id': pool['id'], 'subnet': SUBNET})

        self.apply(driver, member(1), member(2))
        self.apply(driver, member(2))
        added = self.octavia.addresses()
        self.remove(driver)

        self.assertEqual({pool['id']: ['10.0.0.2', '10.0.0.99']}, added)
        self.assertEqual({pool['id']: ['10.0.0.99']}, self.octavia.addresses())
        self.assertEqual(
            ['POST pools/members'] * 2 + ['DELETE pools/members'] * 2,
            self.octavia.changes,
        )

    def test_the_address_of_a_node_is_the_one_on_the_subnet(self):
        elsewhere = {'network': 'back', 'address': '10.0.0.7'}
        outside = {'network': 'front', 'address': '192.0.2.7'}
        on_subnet = {'network': NETWORK, 'address': '10.0.0.8'}
        driver = self.driver()

        self.apply(
            driver,
            {**member(7), 'addresses': [elsewhere, outside, on_subnet]},
            {**member(6), 'addresses': [elsewhere, outside]},
            {**member(5), 'address': '192.0.2.5', 'addresses': []},
        )

        (addresses,) = self.octavia.addresses().values()
        self.assertEqual(['10.0.0.8'], addresses)

    def test_the_number_of_requests_does_not_depend_on_the_number_of_members(self):
        counts = []
        for number in (1, 100):
            driver = self.driver(health_monitor={})
            self.apply(driver, member(1))
            before = len(self.server.received)
            self.apply(driver, *(member(n) for n in range(1, number + 1)))
            counts.append(len(self.server.received) - before)
            self.remove(driver)

        # Without a change; with one request for it, and a read while it is pending.
        self.assertEqual([7, 7 + 1 + 1 + 7], counts)

    def test_objects_that_the_policy_names_must_exist(self):
        for given, text in (
            ({'loadbalancer': 'none'}, 'Octavia has no load balancer none'),
            ({'vip': {'subnet': 'none'}}, 'Neutron has no subnet none'),
            ({'vip': {}}, 'vip.subnet or vip.network is required'),
        ):
            driver = self.driver(**given)
            error = self.assertRaises(exceptions.WatcherliteError, self.apply, driver)
            self.assertIn(text, str(error))
        self.assertEqual([], self.octavia.changes)

    def test_it_is_usable_where_the_catalog_has_it(self):
        driver = self.driver()
        usable = driver.is_usable()
        del self.cloud.catalog['load-balancer']
        other = Clouds(self.clouds._settings)
        self.addCleanup(other.close)
        without = self.driver()
        without.clouds = other
        nowhere = self.driver()
        nowhere.clouds = Clouds(OpenStackSettings())

        self.assertEqual(
            (True, False, False), (usable, without.is_usable(), nowhere.is_usable())
        )

    def test_each_effect_is_fenced(self):
        driver, fenced = self.driver(), []
        driver.fence = lambda: fenced.append(len(self.octavia.changes))

        self.apply(driver, member(1))
        self.remove(driver)

        self.assertEqual(list(range(len(self.octavia.changes))), fenced)


def member(number):
    """Return the member of a node."""
    address = f'10.0.0.{number}'
    return {
        'id': f'00000000-0000-4000-8000-{number:012}',
        'name': f'n{number}',
        'address': address,
        'port': 80,
        'addresses': [{'network': 'front', 'address': address}],
    }
