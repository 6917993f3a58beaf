"""The properties of resources: conversions, defaults and rejections."""

from typing import ClassVar

from tests import base
from watcherlite import exceptions
from watcherlite.domain.resource_results import Operation, Property
from watcherlite.plugins import loader, properties
from watcherlite.plugins.base import NestedHandler, ResourceHandler


class Declares(ResourceHandler):
    properties: ClassVar = {
        'size': Property({'type': 'integer', 'minimum': 1, 'default': 5}),
        'rate': Property({'type': 'number'}),
        'quick': Property({'type': 'boolean', 'default': False}),
        'name': Property({'type': 'string'}, required=True),
        'nothing': Property({'type': ['string', 'null']}),
        'any': Property({}),
        'kind': Property({'enum': ['a', 'b']}),
        'ports': Property(
            {
                'type': 'array',
                'items': {
                    'type': 'object',
                    'properties': {
                        'number': {'type': 'integer'},
                        'open': {'type': 'boolean', 'default': True},
                    },
                    'required': ['number'],
                    'additionalProperties': False,
                },
            }
        ),
        'labels': Property(
            {'type': 'object', 'additionalProperties': {'type': 'string'}}
        ),
    }

    def create(self, context):
        return None

    def delete(self, context):
        return None


def fit(values, **kwargs):
    return properties.fit(Declares, {'name': 'x', **values}, **kwargs)


class TestFitting(base.TestCase):
    def problems(self, values, **kwargs):
        error = self.assertRaises(
            exceptions.StackValidationFailed, properties.fit, Declares, values, **kwargs
        )
        return error.problems

    def test_missing_properties_have_their_defaults(self):
        self.assertEqual({'name': 'x', 'size': 5, 'quick': False}, fit({}))

    def test_unambiguous_values_are_converted(self):
        for name, given, expected in (
            ('size', '5', 5),
            ('size', ' 12 ', 12),
            ('size', 7.0, 7),
            ('size', '7.0', 7),
            ('rate', '5', 5),
            ('rate', '0.5', 0.5),
            ('rate', 2, 2),
            ('quick', 'true', True),
            ('quick', 'False', False),
            ('quick', 'on', True),
            ('quick', 0, False),
            ('name', 5, '5'),
            ('name', 1.5, '1.5'),
            ('name', True, 'True'),
            ('name', '5', '5'),
            ('nothing', 3, '3'),
            ('any', '5', '5'),
            ('labels', {'a': 1}, {'a': '1'}),
            ('ports', [{'number': '80'}], [{'number': 80, 'open': True}]),
            ('ports', ({'number': 1, 'open': 'no'},), [{'number': 1, 'open': False}]),
        ):
            found = fit({name: given})[name]

            self.assertEqual((expected, type(expected)), (found, type(found)), name)

    def test_null_is_a_missing_value_unless_the_schema_permits_it(self):
        found = fit({'size': None, 'rate': None, 'nothing': None, 'any': None})

        self.assertEqual(
            {'name': 'x', 'size': 5, 'quick': False, 'nothing': None, 'any': None},
            found,
        )
        self.assertEqual(
            ['properties.name: is required'], self.problems({'name': None})
        )

    def test_every_problem_is_reported_with_its_place(self):
        self.assertEqual(
            [
                'properties.name: is required',
                'properties.sise: is not known, did you mean size?',
                'properties.kind: "c" is none of "a", "b"',
                'properties.ports.0.number: "http" is not a whole number',
                'properties.ports.1.number: is required',
                'properties.quick: "perhaps" is not true or false',
                'properties.rate: "NaN" is not a number',
                'properties.size: 0 is less than the minimum of 1',
            ],
            self.problems(
                {
                    'sise': 3,
                    'size': '0',
                    'rate': 'NaN',
                    'quick': 'perhaps',
                    'kind': 'c',
                    'ports': [{'number': 'http'}, {}],
                }
            ),
        )

    def test_unknown_values_are_accepted_everywhere(self):
        given = {
            'name': None,
            'size': None,
            'kind': None,
            'ports': [None, {'number': None}],
            'labels': {'a': None},
        }

        found = properties.fit(Declares, given, known=False)

        self.assertEqual(
            {**given, 'ports': [None, {'number': None, 'open': True}], 'quick': False},
            found,
        )

    def test_known_values_are_validated_beside_unknown_ones(self):
        self.assertEqual(
            [
                'properties.ports.0.shut: is not known (known: number, open)',
                'properties.size: "many" is not a whole number',
            ],
            self.problems(
                {
                    'name': None,
                    'size': 'many',
                    'ports': [{'number': None, 'shut': True}],
                },
                known=False,
            ),
        )

    def test_a_type_that_accepts_any_property_keeps_it_as_it_is(self):
        class Anything(Declares):
            allows_undeclared = True

        found = properties.fit(Anything, {'name': 'x', 'other': {'a': None}})

        self.assertEqual({'a': None}, found['other'])

    def test_private_values_are_not_repeated(self):
        class Private(Declares):
            properties: ClassVar = {
                'private_headers': Property(
                    {'type': 'object', 'additionalProperties': {'type': 'string'}}
                )
            }

        for given in ('hunter2', {'X-One': ['hunter2']}):
            error = self.assertRaises(
                exceptions.Invalid, properties.fit, Private, {'private_headers': given}
            )

            self.assertNotIn('hunter2', str(error))


class TestDeclarations(base.TestCase):
    """Invalid declarations of a handler are found when it is loaded."""

    def reason(self, *bases, **members):
        kind = type('Odd', bases or (Declares,), members)
        plugins = loader.Plugins.of(resource_handlers={'My::Odd': kind})
        (entry,) = plugins.entries()
        self.assertEqual(
            {} if entry.error else {'My::Odd': kind}, plugins.resource_types()
        )
        return entry.error

    def test_a_valid_handler_is_loaded_and_created_with_its_options(self):
        plugins = loader.Plugins.of(resource_handlers={'My::Type': Declares})

        made = plugins.make_resource_handler('My::Type')

        self.assertIsInstance(made, Declares)
        self.assertEqual({'My::Type': Declares}, plugins.resource_types())
        self.assertEqual('y', plugins.fit_properties(made, {'name': 'y'})['name'])

    def test_the_reason_names_the_defect(self):
        def operate(self, context, operation, parameters):
            return None

        for expected, found in (
            (
                'its properties are no mapping of a name to a Property',
                {'properties': ['size']},
            ),
            (
                'its property size is a dict, not a Property',
                {'properties': {'size': {}}},
            ),
            (
                'its attributes are no mapping of a name to a sentence',
                {'attributes': {'a': 1}},
            ),
            ('it has no delete', {'delete': ResourceHandler.delete}),
            (
                'its operations are no mapping of a name to an Operation',
                {'operations': ['reboot']},
            ),
            (
                'it has operations, but no operate',
                {'operations': {'reboot': Operation()}},
            ),
            (
                'its operation reboot is a dict, not an Operation',
                {'operations': {'reboot': {}}, 'operate': operate},
            ),
            (
                "its operation reboot is not usable: schema.type: 'x' is not valid "
                'under any of the given schemas',
                {
                    'operations': {'reboot': Operation('', {'type': 'x'})},
                    'operate': operate,
                },
            ),
        ):
            self.assertEqual(expected, self.reason(**found))
        self.assertEqual('it has no expand', self.reason(NestedHandler))
        self.assertEqual('it has no create and no delete', self.reason(ResourceHandler))

    def test_the_reason_names_the_property(self):
        for declared, reason in (
            (
                Property({'type': 'whole'}),
                "is not usable: schema.type: 'whole' is not valid under any of the "
                'given schemas',
            ),
            (
                Property({'type': 'integer', 'default': 'x'}),
                'has a default that does not fit its schema: properties.size: "x" is '
                'not a whole number',
            ),
            (
                Property({}, updatable=True, immutable=True),
                'is both updatable and immutable',
            ),
            (Property({}, updatable=True), 'is updatable, but there is no update'),
        ):
            self.assertEqual(
                f'its property size {reason}',
                self.reason(properties={'size': declared}),
            )

    def test_an_invalid_handler_does_not_affect_others(self):
        class Bad(Declares):
            attributes = ()

        plugins = loader.Plugins.of(
            resource_handlers={'My::Bad': Bad, 'My::Good': Declares}
        )

        self.assertEqual({'My::Good': Declares}, plugins.resource_types())
        error = self.assertRaises(
            exceptions.PluginError, plugins.make_resource_handler, 'My::Bad'
        )
        self.assertIn('its attributes are no mapping', str(error))
        unknown = self.assertRaises(
            exceptions.PluginNotFound, plugins.make_resource_handler, 'My::God'
        )
        self.assertIn(
            'There is no resource handler My::God. Did you mean My::Good?', str(unknown)
        )
