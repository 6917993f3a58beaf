"""The servers to which connections are permitted."""

import ipaddress
import socket

from tests import base
from watcherlite import conf, settings
from watcherlite.destinations import (
    WITH_LOOPBACK,
    DestinationRefusedError,
    Destinations,
)
from watcherlite.plugins import outgoing

LOCAL = (
    '127.0.0.1',
    '127.8.9.1',
    '0.0.0.0',
    '169.254.169.254',
    '100.100.100.200',
    '224.0.0.1',
    '255.255.255.255',
    '::',
    '::1',
    'fe80::1',
    'fd00:ec2::254',
    'ff02::1',
    # IPv6 addresses that contain IPv4 addresses: mapped, compatible, NAT64, 6to4,
    # Teredo
    '::ffff:127.0.0.1',
    '::127.0.0.1',
    '::ffff:169.254.169.254',
    '64:ff9b::a9fe:a9fe',
    '2002:7f00:1::1',
    '2001:0:4136:e378:8000:63bf:80ff:fffe',
)
ELSEWHERE = ('192.0.2.1', '10.0.0.1', '2001:db8::1', '::ffff:192.0.2.1')


def network(text):
    return ipaddress.ip_network(text)


class TestAddresses(base.TestCase):
    def refused_addresses(self, rules, addresses):
        return [a for a in addresses if rules.is_refused(ipaddress.ip_address(a))]

    def test_local_and_link_local_addresses_are_refused_by_default(self):
        self.assertEqual(list(LOCAL), self.refused_addresses(Destinations(), LOCAL))
        self.assertEqual([], self.refused_addresses(Destinations(), ELSEWHERE))

    def test_an_exception_applies_to_every_form_of_the_address(self):
        forms = ('127.0.0.1', '::1', '::ffff:127.0.0.1', '169.254.169.254')

        self.assertEqual(
            ['169.254.169.254'], self.refused_addresses(WITH_LOOPBACK, forms)
        )

    def test_networks_of_an_operator_take_the_place_of_the_default(self):
        rules = Destinations(refused=(network('10.0.0.0/8'),))

        self.assertEqual(
            ['10.0.0.1', '::ffff:10.0.0.1'],
            self.refused_addresses(rules, [*ELSEWHERE, '::ffff:10.0.0.1', '127.0.0.1']),
        )

    def test_a_refusal_names_the_host_and_the_options_and_no_address(self):
        with self.assertRaises(DestinationRefusedError) as raised:
            Destinations().check_address('internal.example', '127.0.0.1')

        self.assertEqual(
            'internal.example is in a network that is refused (options '
            'refused_networks and allowed_networks in the group [outgoing_http])',
            str(raised.exception),
        )


class TestHosts(base.TestCase):
    def allowed(self, hosts, *given):
        rules = Destinations(hosts=hosts)
        found = []
        for host in given:
            try:
                rules.check_host(host)
                found.append(host)
            except DestinationRefusedError:
                continue
        return found

    def test_only_those_are_allowed_that_fit_a_name_or_a_pattern_if_there_is_one(self):
        fit = ['API.example.', 'a.intern.example', '192.0.2.7']
        others = ['intern.example', 'api.example.evil.example', '192.0.2.77']
        hosts = ('api.example', '*.intern.example', '192.0.2.7')

        self.assertEqual(fit, self.allowed(hosts, *fit, *others))
        self.assertEqual(others, self.allowed((), *others))


class TestResolving(base.TestCase):
    def resolve(self, addresses, rules=None):
        entries = [(socket.AF_INET, 1, 6, '', (a, 80)) for a in addresses]
        return outgoing.resolve(
            'name.example', 80, rules or Destinations(), lookup=lambda *_: entries
        )

    def test_of_several_addresses_those_are_left_that_are_allowed(self):
        self.assertEqual(
            ['192.0.2.1', '192.0.2.2'],
            self.resolve(['127.0.0.1', '192.0.2.1', '192.0.2.2', '192.0.2.1']),
        )

    def test_a_name_with_only_refused_addresses_is_refused(self):
        # A scope does not hide an address.
        for addresses in (['127.0.0.1', '169.254.169.254'], ['fe80::1%2']):
            self.assertRaises(DestinationRefusedError, self.resolve, addresses)

    def test_a_proxy_gets_no_refused_destination(self):
        ask = outgoing.check_behind_proxy
        for host in ('localhost', 'a.localhost', '127.1', '0x7f000001', '2130706433'):
            self.assertRaises(DestinationRefusedError, ask, host, Destinations())
        ask('name.example', Destinations())


class TestOptions(base.TestCase):
    def test_the_defaults_of_the_options_are_those_of_the_rules(self):
        configuration = conf.new([], config_files=[])

        self.assertEqual(Destinations(), settings.destinations(configuration))

    def test_destinations_have_the_values_of_the_options(self):
        path = self.home / 'x.conf'
        path.write_text(
            '[outgoing_http]\nallowed_hosts = a.example,*.b\n'
            'refused_networks = 10.0.0.0/8\nallowed_networks = 10.1.0.0/16\n'
        )

        configuration = conf.new([], config_files=[str(path)])

        self.assertEqual(
            Destinations(
                ('a.example', '*.b'),
                (network('10.0.0.0/8'),),
                (network('10.1.0.0/16'),),
            ),
            settings.destinations(configuration),
        )
