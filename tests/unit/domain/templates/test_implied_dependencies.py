"""Dependencies that follow from the types of resources."""

from tests import base
from watcherlite.domain.stacks import Definition
from watcherlite.domain.templates.blueprint import Blueprint


def requires(resources):
    definition = Definition(
        {'heat_template_version': '2018-08-31', 'resources': resources}
    )
    blueprint = Blueprint.of(definition, name='stack', uuid=None, tenant='tenant')
    return {name: set(names) for name, names in blueprint.requires.items()}


def resource(kind, **properties):
    more = (
        {'depends_on': properties.pop('depends_on')}
        if 'depends_on' in properties
        else {}
    )
    return {'type': kind, 'properties': properties, **more}


NET = {'get_resource': 'net'}


class TestImpliedDependencies(base.TestCase):
    def test_ports_and_servers_depend_on_the_subnets_of_their_networks(self):
        found = requires(
            {
                'net': resource('OS::Neutron::Net'),
                'subnet': resource('OS::Neutron::Subnet', network=NET),
                'foreign': resource('OS::Neutron::Subnet', network_id='other'),
                'port': resource('OS::Neutron::Port', network_id=NET),
                'server': resource('OS::Nova::Server', networks=[{'network': NET}]),
                'apart': resource('OS::Neutron::Port', network='other'),
            }
        )

        self.assertEqual({'net', 'subnet'}, found['port'])
        self.assertEqual({'net', 'subnet'}, found['server'])
        self.assertEqual({'foreign'}, found['apart'])

    def test_floating_ips_depend_on_routers_and_interfaces(self):
        found = requires(
            {
                'router': resource(
                    'OS::Neutron::Router', external_gateway_info={'network': 'public'}
                ),
                'interface': resource(
                    'OS::Neutron::RouterInterface', router={'get_resource': 'router'}
                ),
                'address': resource(
                    'OS::Neutron::FloatingIP', floating_network='public'
                ),
                'foreign': resource(
                    'OS::Neutron::FloatingIP', floating_network='elsewhere'
                ),
            }
        )

        self.assertEqual({'router', 'interface'}, found['address'])
        self.assertEqual({'interface'}, found['foreign'])

    def test_none_is_added_that_would_close_a_cycle(self):
        found = requires(
            {
                'net': resource('OS::Neutron::Net'),
                'subnet': resource(
                    'OS::Neutron::Subnet', network=NET, depends_on=['port']
                ),
                'port': resource('OS::Neutron::Port', network=NET),
            }
        )

        self.assertEqual({'net'}, found['port'])
