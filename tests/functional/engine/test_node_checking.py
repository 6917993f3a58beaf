"""Health checks of nodes by URL, on a real server."""

import socket
import threading

from tests.bounded import TIMEOUT
from tests.cluster_worlds import ClusterCase
from tests.functional.plugins.http_server import Server
from tests.worlds import action
from watcherlite.engine.clusters.action_types import NODE_CHECK

POLLING = {'type': 'NODE_STATUS_POLLING'}


def answering(*answers):
    """Return a behaviour with these responses in turn; the last one is repeated."""
    left = list(answers)

    def behave(exchange, received):
        status, body = left.pop(0) if len(left) > 1 else left[0]
        exchange.answer(status, body)

    return behave


class UrlCase(ClusterCase):
    def setUp(self):
        super().setUp()
        self.server = self.useFixture(Server(answering((200, b'all is well'))))
        self.world = self.create_cluster_world()
        cluster = self.world.insert_cluster(self.world.profile(), 1, 'web')
        (self.node,) = self.world.nodes(cluster)
        self.world.create_node(self.node)

    def url(self, path='/health', **options):
        given = {
            'poll_url': f'{self.server.url}{path}',
            'poll_url_retry_interval': 0,
            **options,
        }
        return {'type': 'NODE_STATUS_POLL_URL', 'options': given}

    def run_check(self, *modes, **detection):
        desired = {'detection_modes': list(modes), **detection}
        action = self.world.run_action(NODE_CHECK, self.node, {'detection': desired})
        self.assertEqual('SUCCEEDED', action.status, action.status_message)
        return action.outputs['status'], action.outputs['reason']

    def paths(self):
        return [request.path for request in self.server.received]


class TestUrls(UrlCase):
    def test_a_successful_response_that_matches_the_pattern_means_healthy(self):
        result = self.run_check(self.url('/{nodename}/%index%'))

        self.assertEqual(('ACTIVE', 'Check: Node is ACTIVE.'), result)
        self.assertEqual(['/web-1/1'], self.paths())

        well = self.url(poll_url_healthy_response='is w.ll')
        bad = self.url(poll_url_healthy_response='is bad', poll_url_retry_limit=1)
        self.assertEqual('ACTIVE', self.run_check(well)[0])
        self.assertEqual(
            ('ERROR', f"{self.server.url}/health: the answer has no 'is bad'"),
            self.run_check(bad),
        )

    def test_an_error_response_is_retried_before_the_node_is_unhealthy(self):
        self.server.behaviour = answering((503, b''), (503, b''), (200, b'yes'))
        result, _ = self.run_check(self.url(poll_url_retry_limit=3))
        self.assertEqual(('ACTIVE', 3), (result, len(self.paths())))
        self.server.received.clear()
        self.server.behaviour = answering((503, b'busy'))

        result = self.run_check(self.url())

        text = f'{self.server.url}/health answered 503'
        self.assertEqual(('ERROR', text), result)
        self.assertEqual(3, len(self.paths()))
        self.assertEqual('ERROR', self.world.reload(self.node).status)

    def test_a_destination_that_is_not_allowed_is_inconclusive(self):
        url = 'http://169.254.169.254/'

        status, why = self.run_check(self.url(poll_url=url))

        self.assertEqual('ACTIVE', status)
        self.assertEqual('ACTIVE', self.world.reload(self.node).status)
        self.assertIn(f'Its state is unknown: {url}: 169.254.169.254 is in a', why)

    def test_a_refused_connection_counts_as_configured(self):
        with socket.create_server(('127.0.0.1', 0)) as server:
            url = f'http://127.0.0.1:{server.getsockname()[1]}'
        options = {'poll_url': url, 'poll_url_retry_limit': 1}
        silent = {'type': 'NODE_STATUS_POLL_URL', 'options': options}
        allowed = {**options, 'poll_url_conn_error_as_unhealthy': False}

        status, reason = self.run_check(silent)
        self.assertEqual('ERROR', status)
        self.assertIn(url, reason)
        well = self.run_check({'type': 'NODE_STATUS_POLL_URL', 'options': allowed})
        self.assertEqual('ACTIVE', well[0])

    def test_several_modes_combine_by_any_or_all(self):
        self.server.behaviour = answering((500, b''))
        bad = self.url(poll_url_retry_limit=1)

        either = self.run_check(POLLING, bad)[0]
        self.world.save(self.node, status='ACTIVE')
        both = self.run_check(POLLING, bad, recovery_conditional='ALL_FAILED')[0]

        self.assertEqual(('ERROR', 'ACTIVE'), (either, both))

    def test_without_modes_only_the_mark_of_a_user_counts(self):
        self.world.external.samples.clear()

        known = self.run_check()
        self.world.save(self.node, data={'unhealthy': 'it smells'})
        marked = self.run_check()

        self.assertEqual(('ACTIVE', 'Creation succeeded'), known)
        self.assertEqual(('ERROR', 'it smells'), marked)

    def test_an_invalid_pattern_fails_only_the_check(self):
        desired = {'detection_modes': [self.url(poll_url_healthy_response='(')]}
        action = self.world.run_action(NODE_CHECK, self.node, {'detection': desired})

        self.assertEqual('FAILED', action.status)
        self.assertIn('poll_url_healthy_response', action.status_message)
        self.assertEqual('ACTIVE', self.world.reload(self.node).status)


class TestHangingServers(UrlCase):
    def test_hanging_servers_delay_neither_plans_nor_other_checks(self):
        release = threading.Event()
        self.addCleanup(release.set)
        self.server.behaviour = lambda *_: release.wait(TIMEOUT)
        # Creating the nodes starts the only worker.
        world = self.create_cluster_world(max_parallel=1)
        cluster = world.insert_cluster(world.profile(), 3, 'slow')
        nodes = [world.create_node(node) for node in world.nodes(cluster)]
        self.assertEqual(1, len(world.workers))
        desired = {'detection_modes': [self.url(poll_url_retry_limit=1)]}
        asked = [
            world.request_action(NODE_CHECK, node, {'detection': desired})
            for node in nodes
        ]
        self.server.wait_until_received(3)

        plan = world.run(action('a', input_parameters={'message': None}))

        checks = [world.store.get_action(one.uuid).status for one in asked]
        self.assertEqual(('SUCCEEDED', ['RUNNING'] * 3), (plan.state, checks))
        release.set()
        self.assertEqual(
            ['SUCCEEDED'] * 3, [world.wait_for_end(one).status for one in asked]
        )
