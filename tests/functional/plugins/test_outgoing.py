"""Real servers that users must not reach through a worker."""

import dataclasses
import ipaddress
import socket

import fixtures

from tests.functional.plugins.http_case import HttpTestCase
from watcherlite import exceptions, testing
from watcherlite.destinations import WITH_LOOPBACK, Destinations
from watcherlite.engine.stacks.handler_calls import call_handler
from watcherlite.plugins import http_client, options
from watcherlite.plugins.action_types.http_request import HttpRequest
from watcherlite.plugins.http_messages import HttpRequestMessage, Settings
from watcherlite.plugins.resource_handlers.http_resource import HttpResource
from watcherlite.testing.coroutines import (
    FakeCoroutineContext,
    run_coroutine,
    run_steps_of_core,
)

ONE = Destinations(allowed=(ipaddress.ip_network('127.0.0.1/32'),))
REFUSED = (
    'is in a network that is refused (options refused_networks and allowed_networks in '
    'the group [outgoing_http])'
)


class TestOutgoing(HttpTestCase):
    def get(self, url, destinations, **given):
        inputs = {'method': 'GET', 'url': url, 'follow_redirects': True}
        return testing.run_action(
            HttpRequest, inputs, destinations=destinations, **given
        )

    def test_the_loopback_interface_is_not_reached_by_default(self):
        server = self.answering()
        for host in ('127.0.0.1', 'localhost', '127.1', '[::ffff:127.0.0.1]'):
            result = self.get(f'http://{host}:{server.port}/', Destinations())

            self.assertIn(REFUSED, result.status_message, host)
        run = testing.ResourceRun(HttpResource, destinations=Destinations())

        settled = run.create({'create': {'url': server.url}})

        self.assertEqual(f'POST {server.url}: 127.0.0.1 {REFUSED}', settled.reason)
        # A check reports an unknown state.
        handler = HttpResource(options.standalone_group(HttpResource))
        call = {'method': 'GET', 'url': server.url}
        context = testing.FakeContext()
        context.properties = {'read': call, 'key_header': 'X-Key'}
        context.physical_id, context.attributes = 'x', {}

        error = self.assertRaises(
            exceptions.StateUnknown,
            run_steps_of_core,
            context,
            call_handler(handler, 'check', context),
        )

        self.assertEqual(f'GET {server.url}: 127.0.0.1 {REFUSED}', str(error))
        self.assertEqual([], server.received)

    def test_a_redirect_to_a_refused_destination_is_not_followed(self):
        server = self.answering()
        named = dataclasses.replace(WITH_LOOPBACK, hosts=('127.0.0.1',))
        for host, rules, reason in (
            ('127.0.0.2', ONE, f'127.0.0.2 {REFUSED}'),
            ('localhost', named, 'localhost is none of the hosts that are allowed'),
        ):
            first = self.answering(302, location=f'http://{host}:{server.port}/')

            result = self.get(first.url, rules)

            self.assertIn(reason, result.status_message)
            self.assertEqual((1, 0), (len(first.received), len(server.received)))

    def test_a_proxy_may_be_local_and_gets_no_refused_destination(self):
        proxy = self.answering()
        self.useFixture(fixtures.EnvironmentVariable('http_proxy', proxy.url))
        through = {'options': {'proxies_from_environment': True}}

        well = self.get('http://name.example/', Destinations(), **through)
        bad = self.get('http://169.254.169.254/', Destinations(), **through)

        self.assertEqual('SUCCEEDED', well.status)
        self.assertIn(REFUSED, bad.status_message)
        self.assertEqual(
            ['http://name.example/'], [request.path for request in proxy.received]
        )

    def test_the_checked_address_is_used_for_the_connection(self):
        server = self.answering()
        asked = []

        def lookup(host, *_):
            # A second lookup would return another address.
            asked.append(host)
            address = '127.0.0.1' if len(asked) == 1 else '127.0.0.2'
            return [(socket.AF_INET, 1, 6, '', (address, server.port))]

        context = testing.FakeContext()
        answer = run_coroutine(
            context,
            http_client.exchange(
                FakeCoroutineContext(context),
                HttpRequestMessage('GET', f'http://name.example:{server.port}/'),
                Settings(5, 100, ONE, lookup=lookup),
                5,
            ),
        )

        self.assertEqual((200, ['name.example']), (answer.status, asked))
        self.assertEqual(
            f'name.example:{server.port}', server.received[0].headers['host']
        )
