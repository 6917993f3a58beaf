"""The profile types, as clients see them."""

from typing import ClassVar

from tests import base
from watcherlite import exceptions
from watcherlite.domain.clusters import Node, Owner
from watcherlite.domain.resource_results import Operation, Property
from watcherlite.engine.clusters import profile_types
from watcherlite.engine.clusters.profile_types import ProfileTypes
from watcherlite.plugins import loader
from watcherlite.plugins.base import NestedHandler, ResourceHandler


class Server(ResourceHandler):
    properties: ClassVar = {
        'flavor': Property(
            {'type': 'string', 'enum': ['s', 'm']}, 'Its size.', required=True
        ),
        'ports': Property(
            {
                'type': 'array',
                'items': {
                    'type': 'object',
                    'properties': {'number': {'type': 'integer'}},
                    'required': ['number'],
                },
                'default': [],
            },
            updatable=True,
        ),
        'port': Property({'type': 'integer'}),
    }
    operations: ClassVar = {
        'reboot': Operation(
            'Restarts it.',
            {
                'type': 'object',
                'properties': {
                    'type': {'enum': ['SOFT', 'HARD'], 'default': 'SOFT'},
                    'delay': {'type': 'integer'},
                },
                'required': ['delay'],
                'additionalProperties': False,
            },
        )
    }

    def create(self, context):
        return None

    def update(self, context):
        return None

    def delete(self, context):
        return None

    def operate(self, context, operation, parameters):
        return None

    def validate(self, properties):
        if properties.get('port') == 22:
            raise exceptions.Invalid('port 22 is not allowed here')


class Named(Server):
    profile_type = 'os.nova.server'


class OnlyProfile(Named):
    in_templates = False


class Nested(NestedHandler):
    def expand(self, context, members):
        return ()


HANDLERS = {
    'My::BigServer': Server,
    'Other': Named,
    'OS::Heat::Stack': Nested,
    'OS::Heat::ResourceGroup': Nested,
}


class TypesCase(base.TestCase):
    def setUp(self):
        super().setUp()
        self.types = ProfileTypes(loader.Plugins.of(resource_handlers=HANDLERS))

    def refusal(self, error, *arguments):
        return str(self.assertRaises(error, *arguments))


class TestNames(TypesCase):
    def test_every_handler_without_nested_stacks_is_a_profile_type(self):
        found = {name: t.handler for name, t in self.types.all().items()}

        self.assertEqual(
            {
                'my.big_server': 'My::BigServer',
                'os.nova.server': 'Other',
                'os.heat.stack': 'os.heat.stack',
            },
            found,
        )

    def test_a_type_that_is_only_a_profile_precedes_another_of_its_name(self):
        handlers = {'A': Named, 'Z': OnlyProfile}
        types = ProfileTypes(loader.Plugins.of(resource_handlers=handlers))

        self.assertEqual('Z', types.find('os.nova.server').handler)

    def test_a_type_is_found_by_a_name_in_lower_case_with_or_without_version(self):
        for entry, name in (
            ('Local::Process', 'local.process'),
            ('OS::Heat::RandomString', 'os.heat.random_string'),
            ('HTTPServer', 'http_server'),
            ('Plain', 'plain'),
        ):
            self.assertEqual(name, profile_types.name_of(entry))
        known = ', '.join(sorted(f'{name}-1.0' for name in self.types.all()))
        own, found = 'my.big_server', 'my.big_server-1.0'
        for arguments in ((own,), (found,), (own, '1.0')):
            self.assertEqual(found, self.types.find(*arguments).full_name)
        for arguments, name in (
            (('fly',), 'fly'),
            ((f'{own}-2.0',), f'{own}-2.0'),
            ((own, '1.1'), f'{own}-1.1'),
        ):
            self.assertEqual(
                f"The profile_type '{name}' could not be found. Known types: {known}.",
                self.refusal(exceptions.NotFound, self.types.find, *arguments),
            )


class TestSchemas(TypesCase):
    def test_schemas_have_the_format_of_clients(self):
        self.assertEqual(
            {
                'flavor': {
                    'type': 'String',
                    'description': 'Its size.',
                    'required': True,
                    'updatable': False,
                    'constraints': [
                        {'type': 'AllowedValues', 'constraint': ['s', 'm']}
                    ],
                },
                'ports': {
                    'type': 'List',
                    'description': '',
                    'required': False,
                    'updatable': True,
                    'default': [],
                    'schema': {
                        '*': {
                            'type': 'Map',
                            'description': '',
                            'required': False,
                            'updatable': False,
                            'schema': {
                                'number': {
                                    'type': 'Integer',
                                    'description': '',
                                    'required': True,
                                    'updatable': False,
                                }
                            },
                        }
                    },
                },
                'port': {
                    'type': 'Integer',
                    'description': '',
                    'required': False,
                    'updatable': False,
                },
            },
            self.types.find('my.big_server').schema(),
        )

    def test_operations_are_listed_with_their_parameters(self):
        self.assertEqual(
            {
                'reboot': {
                    'description': 'Restarts it.',
                    'parameters': {
                        'type': {
                            'type': 'String',
                            'description': '',
                            'required': False,
                            'default': 'SOFT',
                            'constraints': [
                                {
                                    'type': 'AllowedValues',
                                    'constraint': ['SOFT', 'HARD'],
                                }
                            ],
                        },
                        'delay': {
                            'type': 'Integer',
                            'description': '',
                            'required': True,
                        },
                    },
                }
            },
            self.types.find('my.big_server').operations(),
        )

    def test_the_parameters_of_an_operation_get_their_defaults(self):
        self.assertEqual(
            {'type': 'SOFT', 'delay': 3},
            profile_types.operation_parameters(Server, 'reboot', {'delay': 3}),
        )

    def test_invalid_operations_are_rejected(self):
        for operation, given, text in (
            ('fly', {}, "operation 'fly' is not supported by the profile type "
             '(supported: reboot)'),
            ('reboot', None, 'params.delay: is required'),
            ('reboot', {'delay': 1, 'type': 'X'}, 'params.type: "X" is none of'),
        ):  # fmt: skip
            with self.subTest(operation=operation, given=given):
                error = self.refusal(
                    exceptions.Invalid,
                    profile_types.operation_parameters,
                    Server,
                    operation,
                    given,
                )
                self.assertIn(text, error)


class TestSpecs(TypesCase):
    def spec(self, **properties):
        return {'type': 'my.big_server', 'version': 1.0, 'properties': properties}

    def test_a_spec_is_validated_and_gets_defaults(self):
        checked = self.types.check(self.spec(flavor='s'))

        self.assertEqual(
            ('my.big_server-1.0', 'My::BigServer', {'flavor': 's', 'ports': []}),
            (checked.type, checked.handler, checked.properties),
        )

    def test_invalid_specs_are_rejected(self):
        good = self.spec(flavor='s')
        for spec, text in (
            ('x', 'The provided spec is not a map.'),
            (
                {'version': '1.0'},
                "The 'type' key is missing from the provided spec map.",
            ),
            (
                {'type': 'my.big_server'},
                "The 'version' key is missing from the provided spec map.",
            ),
            ({**good, 'colour': 1}, "Unrecognizable spec item 'colour'"),
            ({**good, 'properties': []}, 'The properties of a spec are a map.'),
            (
                self.spec(colour=1, size=2),
                "Unrecognizable spec item 'colour'; Unrecognizable spec item 'size'; "
                "Required spec item 'flavor' not provided",
            ),
            (self.spec(flavor='x'), 'properties.flavor: "x" is none of "s", "m"'),
            (self.spec(flavor='s', port=22), 'port 22 is not allowed here'),
        ):
            with self.subTest(spec=spec):
                error = self.refusal(exceptions.Invalid, self.types.check, spec)
                self.assertIn(text, error)

    def test_placeholders_are_replaced_by_values_of_the_node(self):
        spec = self.spec(flavor='s', port='80%index%')
        node = Node('a-uuid', 'web', Owner('t'), 1, 'My::BigServer', index=4, id=1)

        handler = self.types.make('My::BigServer')
        fitted = self.types.fit(handler, spec['properties'], node)

        self.assertEqual(801, self.types.check(spec).properties['port'])
        self.assertEqual(804, fitted['port'])
        self.assertEqual(
            {'a': ['web a-uuid', 3]},
            profile_types.fill_placeholders({'a': ['%name% %id%', 3]}, node),
        )

    def test_an_existing_resource_need_not_be_allowed(self):
        handler = self.types.make('My::BigServer')

        for given, fitted in (
            ({'flavor': 's', 'port': 22}, {'flavor': 's', 'port': 22, 'ports': []}),
            ({'flavor': 'xxl'}, {'flavor': 'xxl'}),
        ):
            found = self.types.fit(handler, given, check=False)
            self.assertEqual(fitted, found)

    def test_stack_profiles_need_the_services_of_stacks(self):
        self.assertEqual(
            'This process cannot create stacks',
            self.refusal(exceptions.PluginError, self.types.make, 'os.heat.stack'),
        )
