import threading

from tests import base, factories
from tests.bounded import TIMEOUT
from tests.unit.api.requests import ask
from watcherlite import exceptions
from watcherlite.api.app import CALLER, ROUTE
from watcherlite.api.authentication import SYNTHETIC
from watcherlite.api.monitoring.health import (
    FRESH,
    LATE,
    BrokerProbe,
    Health,
    HealthEndpoints,
)
from watcherlite.api.monitoring.metrics import Metrics
from watcherlite.api.monitoring.request_log import RequestLog
from watcherlite.domain.stacks import Definition, NewResource, NewStack
from watcherlite.testing.clock import ManualClock
from watcherlite.testing.memory_store import MemoryStore


class UnavailableStore:
    """A store whose database is unavailable."""

    def __getattr__(self, name):
        def call(*args, **kwargs):
            raise exceptions.StoreUnavailable('The database is away.')

        return call


class EndpointCase(base.TestCase):
    """Requests of /healthcheck and /metrics."""

    def setUp(self):
        super().setUp()
        self.clock = ManualClock()
        self.store = MemoryStore(self.clock)
        self.addCleanup(self.store.close)
        self.broker = lambda: None
        self.disable_file = self.home / 'disabled'

    def endpoints(self, metrics=None):
        health = Health(
            self.store,
            self.clock,
            BrokerProbe(lambda: self.broker(), self.clock.monotonic),
            str(self.disable_file),
        )
        return HealthEndpoints(
            self.elsewhere, health, lambda caller: 'admin' in caller.roles, metrics
        )

    def elsewhere(self, environ, start_response):
        environ[ROUTE] = '/v1/elsewhere'
        start_response('200 OK', [])
        return [b'{"place": "elsewhere"}']

    def ask(self, method='GET', path='/healthcheck', caller=None):
        return ask(self.endpoints(), method, path, environ={CALLER: caller})


class TestHealth(EndpointCase):
    """GET /healthcheck."""

    def detailed(self):
        return self.ask(caller=SYNTHETIC)

    def serve(self, *lanes):
        for number, each in enumerate(lanes):
            self.store.register_worker(
                factories.make_worker(host=f'host-{number}', lanes=each), 30
            )

    def test_overdue_notification_degrades_status(self):
        plan = factories.store_plan(self.store)[0]
        with self.store.transaction() as tx:
            tx.add_events([factories.make_event(plan, occurred_at=self.clock.now())])
        self.clock.advance(LATE + 1)
        self.serve(('applier', 'engine'))

        answer = self.detailed()

        self.assertEqual((200, 'degraded'), (answer.status, answer.body['status']))
        found = answer.body['notifications']
        self.assertEqual(
            ('degraded', LATE + 1), (found['status'], found['oldest_pending_seconds'])
        )

    def test_status_without_details_is_public(self):
        path = '/healthcheck'
        for method, place, expected in (
            ('GET', path, (200, b'{"status": "ok"}')),
            ('GET', f'{path}/', (200, b'{"status": "ok"}')),
            ('HEAD', path, (200, b'')),
            ('OPTIONS', path, (200, b'')),
        ):
            answer = self.ask(method, place)
            self.assertEqual(expected, (answer.status, answer.data))
        self.assertEqual('no-store', self.ask().headers['Cache-Control'])
        refused = self.ask('POST')
        self.assertEqual(405, refused.status)
        self.assertEqual('GET, HEAD, OPTIONS', refused.headers['Allow'])

    def test_unavailable_database_fails_health_check(self):
        self.store = UnavailableStore()
        failed = {'status': 'failed'}
        for answer, expected in (
            (self.ask(), failed),
            (
                self.detailed(),
                {
                    **failed,
                    'database': {**failed, 'message': 'The database is away.'},
                    'broker': {'status': 'ok', 'message': 'available'},
                },
            ),
        ):
            self.assertEqual((503, expected), (answer.status, answer.body))

    def test_database_is_checked_once_per_request(self):
        looks = []

        def check():
            looks.append(1)
            if len(looks) > 1:
                raise exceptions.StoreUnavailable('The database is away.')

        self.patch(self.store, 'check', check)

        answer = self.detailed()

        self.assertEqual(
            (200, 'ok'), (answer.status, answer.body['database']['status'])
        )

    def test_disable_file_disables_service(self):
        self.disable_file.touch()

        self.assertEqual(
            (503, {'status': 'disabled'}), (self.ask().status, self.ask().body)
        )

    def test_administrator_gets_status_of_each_part(self):
        self.serve(('applier',), ('applier', 'engine'))

        answer = self.detailed()

        self.assertEqual(200, answer.status)
        ok = {'status': 'ok'}
        self.assertEqual(
            {
                **ok,
                'database': {**ok, 'message': 'available'},
                'broker': {**ok, 'message': 'available'},
                'lanes': {
                    'applier': {**ok, 'live_workers': 2, 'hosts': ['host-0', 'host-1']},
                    'engine': {**ok, 'live_workers': 1, 'hosts': ['host-1']},
                },
                'notifications': {
                    **ok,
                    'oldest_pending': None,
                    'oldest_pending_seconds': 0.0,
                },
            },
            answer.body,
        )

    def test_lane_without_worker_degrades_status(self):
        self.serve(('engine',))

        body = self.detailed().body

        self.assertEqual('degraded', body['status'])
        self.assertEqual(
            {'status': 'failed', 'live_workers': 0, 'hosts': []},
            body['lanes']['applier'],
        )

    def test_unavailable_broker_degrades_status(self):
        self.serve(('applier', 'engine'))

        def broker():
            raise exceptions.BrokerUnavailable('It does not answer.')

        self.broker = broker

        answer = self.detailed()

        self.assertEqual((200, 'degraded'), (answer.status, answer.body['status']))
        self.assertEqual(
            {'status': 'failed', 'message': 'It does not answer.'},
            answer.body['broker'],
        )


class TestBrokerProbe(base.TestCase):
    """The probe of the broker, which does not block requests."""

    def test_result_is_cached(self):
        clock, asked = ManualClock(), []
        probe = BrokerProbe(lambda: asked.append(1), clock.monotonic)

        counts = []
        for seconds in (0.0, FRESH - 1, 1.0):
            clock.advance(seconds)
            probe.status(TIMEOUT)
            counts.append(len(asked))

        self.assertEqual([1, 1, 2], counts)

    def test_unresponsive_broker_does_not_delay_requests(self):
        gate = threading.Event()
        self.addCleanup(gate.set)
        asked = []

        def connect_to_broker():
            asked.append(1)
            gate.wait(TIMEOUT)

        probe = BrokerProbe(connect_to_broker, ManualClock().monotonic)

        self.assertEqual(
            [('unknown', 'no response yet')] * 2, [probe.status(0), probe.status(0)]
        )
        gate.set()
        self.assertEqual(('ok', 'available'), probe.status(TIMEOUT))
        self.assertEqual([1], asked)

    def test_error_is_reported_without_password_and_next_probe_runs(self):
        clock = ManualClock()
        errors = [
            RuntimeError('amqp://u:S3cret@h'),
            exceptions.BrokerUnavailable('amqp://u:S3cret@h is away'),
        ]

        def connect_to_broker():
            if errors:
                raise errors.pop(0)

        probe = BrokerProbe(connect_to_broker, clock.monotonic)
        found = []
        for _ in range(3):
            found.append(probe.status(TIMEOUT))
            clock.advance(FRESH + 1)

        self.assertEqual(
            [
                ('failed', 'the probe failed: RuntimeError'),
                ('failed', 'amqp://u:***@h is away'),
                ('ok', 'available'),
            ],
            found,
        )


class TestMetrics(EndpointCase):
    """GET /metrics and its counters."""

    def figures(self, metrics):
        """Return name{labels} -> value, without creation times."""
        lines = metrics.render().decode().splitlines()
        pairs = [line.rsplit(' ', 1) for line in lines if not line.startswith('#')]
        return {name: float(value) for name, value in pairs if 'created' not in name}

    def metrics(self):
        return Metrics(self.store, self.clock.now)

    def test_disabled_metrics_are_passed_to_application(self):
        self.assertEqual(b'{"place": "elsewhere"}', self.ask(path='/metrics').data)

    def test_requests_are_counted_by_method_route_and_status(self):
        metrics = self.metrics()
        observed = RequestLog(self.endpoints(metrics), metrics, self.clock.monotonic)

        for method, path in (
            ('GET', '/v1/elsewhere'),
            ('GET', '/v1/elsewhere'),
            ('EXPLODE', '/v1/elsewhere'),
            ('GET', '/healthcheck'),
        ):
            ask(observed, method, path)
        answer = ask(observed, 'GET', '/metrics')

        name = 'watcherlite_api_requests_total'
        own = f'{name}{{method="GET",route="/metrics",status="200"}}'
        self.assertEqual(
            {
                f'{name}{{method="GET",route="/v1/elsewhere",status="200"}}': 2.0,
                f'{name}{{method="other",route="/v1/elsewhere",status="200"}}': 1.0,
                f'{name}{{method="GET",route="/healthcheck",status="200"}}': 1.0,
                own: 1.0,
            },
            {
                key: value
                for key, value in self.figures(metrics).items()
                if key.startswith(name)
            },
        )
        self.assertIn('text/plain', answer.headers['Content-Type'])

    def test_metrics_include_figures_of_store(self):
        factories.store_plan(self.store, state='ONGOING')
        self.store.register_worker(factories.make_worker(), 30)
        with self.store.transaction() as tx:
            key = tx.insert_definition(Definition({})).id
            stack = tx.insert_stack(NewStack('s', 'web', 'tenant', key))
            resource = NewResource('r', stack.id, 'r', 'T', 'T')
            tx.insert_resources([resource.evolve(status='IN_PROGRESS')])
        expected = {
            'watcherlite_database_up': 1.0,
            'watcherlite_stacks{status="IN_PROGRESS"}': 1.0,
            'watcherlite_resources_in_progress': 1.0,
            'watcherlite_action_plans{state="ONGOING"}': 1.0,
            'watcherlite_workers': 1.0,
            'watcherlite_oldest_pending_notification_seconds': 0.0,
        }

        figures = self.figures(self.metrics())

        self.assertEqual(expected, {name: figures[name] for name in expected})

    def test_unavailable_database_leaves_only_metric_database_up(self):
        self.store = UnavailableStore()

        figures = self.figures(self.metrics())

        self.assertEqual({'watcherlite_database_up': 0.0}, figures)


class TestRequestLog(base.TestCase):
    """Log lines, and uncaught exceptions."""

    def observed(self, application):
        return RequestLog(application, None, ManualClock().monotonic)

    def answering(self, status):
        def call(environ, start_response):
            start_response(status, [])
            return [b'']

        return self.observed(call)

    def test_requests_are_logged_at_info(self):
        ask(self.answering('200 OK'), 'GET', '/v1/a')
        ask(self.answering('404 Not Found'), 'GET', '/v1/b')
        ask(self.answering('204 No Content'), 'DELETE', '/v1/c')

        lines = [line for line in self.log.output.splitlines() if '/v1/' in line]
        self.assertEqual(
            [
                '- "GET /v1/a" status: 200 time: 0.0000',
                '- "GET /v1/b" status: 404 time: 0.0000',
                '- "DELETE /v1/c" status: 204 time: 0.0000',
            ],
            lines,
        )

    def test_exception_of_middleware_returns_500_and_is_logged(self):
        def broken(environ, start_response):
            raise ValueError('with a secret')

        answer = ask(self.observed(broken), 'GET', '/v1')

        self.assertEqual(500, answer.status)
        self.assertNotIn('secret', answer.fault)
        self.assertIn('with a secret', self.log.output)
