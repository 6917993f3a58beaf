"""Actions wait for a service without a thread, until their deadline."""

import functools
from typing import ClassVar

from tests import base
from watcherlite import exceptions
from watcherlite.domain.outcomes import Done, InProgress, Retry
from watcherlite.domain.resource_results import Property, Ready, ResourceInProgress
from watcherlite.plugins import base as contract
from watcherlite.plugins.openstack import delays
from watcherlite.testing.actions import run_action
from watcherlite.testing.clock import ManualClock
from watcherlite.testing.context import FakeContext
from watcherlite.testing.resources import ResourceRun

DOWN = exceptions.ServiceUnavailable('server 1: the compute service is not available')


class Migrate(contract.CloudClient, contract.ActionType):
    """Start a migration, and wait for it; the service fails as prescribed."""

    def execute(self, context):
        return delays.attempt(context, functools.partial(self._step, context))

    def poll(self, context, token):
        return delays.attempt(context, functools.partial(self._step, context), token)

    def _step(self, context, token):
        # The fake connection is the list of failures that are left.
        calls = self.clouds
        calls.seen.append(token)
        if calls.failures and calls.failures.pop(0):
            raise DOWN
        return Done() if token == 'started' else InProgress('started', 1.0)


class Calls:
    def __init__(self, *failures):
        self.failures = list(failures)
        self.seen = []


class TestActions(base.TestCase):
    def test_an_action_continues_where_the_service_failed(self):
        calls = Calls(True, True, False, True, False)

        result = run_action(Migrate, {}, clouds=calls)

        self.assertEqual('SUCCEEDED', result.status)
        self.assertEqual([None, None, None, 'started', 'started'], calls.seen)

    def test_it_fails_with_the_reason_before_its_deadline(self):
        clock = ManualClock()
        start = clock.monotonic()

        result = run_action(
            Migrate, {}, clouds=Calls(*[True] * 99), clock=clock, timeout=300
        )

        self.assertEqual('FAILED', result.status)
        self.assertIn('the compute service is not available', result.status_message)
        self.assertLess(clock.monotonic() - start, 300)

    def test_the_token_of_a_delayed_step_is_available_to_cancel(self):
        calls, context = Calls(False, True), FakeContext({})
        migrate = Migrate()
        migrate.clouds = calls
        started = migrate.execute(context).token
        delayed = migrate.poll(context, started).token

        self.assertNotEqual(started, delayed)
        self.assertEqual(
            ['started'] * 2, [delays.inner_token(t) for t in (started, delayed)]
        )

    def test_delays_grow_up_to_a_limit(self):
        context = FakeContext({})
        token, found = None, []

        def fail(token):
            raise DOWN

        for _ in range(7):
            outcome = delays.attempt(context, fail, token)
            token = outcome.token
            found.append(outcome.delay)

        self.assertEqual([2.0, 4.0, 8.0, 16.0, 30.0, 30.0, 30.0], found)
        self.assertEqual(1, self.log.output.count('is delayed: server 1'))

    def test_a_pre_condition_is_retried(self):
        self.assertEqual(Retry(str(DOWN), 2.0), delays.retry(DOWN))


class Server(contract.CloudClient, contract.ResourceHandler):
    """A server."""

    properties: ClassVar = {'name': Property({'type': 'string'})}

    def create(self, context):
        return delays.attempt_resource(context, self._create)

    def delete(self, context):
        raise AssertionError('It is not deleted')

    def poll(self, context, operation, token):
        return delays.attempt_resource(context, self._create, token)

    def _create(self, token):
        if self.clouds.failures and self.clouds.failures.pop(0):
            raise DOWN
        if token is None:
            return ResourceInProgress('building', physical_id='s1')
        return Ready()


class TestResources(base.TestCase):
    def test_a_resource_continues_where_the_service_failed(self):
        run = ResourceRun(Server, clouds=Calls(True, False, True, False))

        run.create({'name': 'x'})

        self.assertEqual('s1', run.physical_id)
        self.assertEqual(['CREATE_COMPLETE'], run.history)
