"""Forms from JSON schemas."""

from tests import base
from watcherlite.dashboard.schema_forms import fields_of, values_of

SCHEMA = {
    'type': 'object',
    'properties': {
        'threshold': {'type': 'number', 'default': 0.5, 'minimum': 0, 'maximum': 1},
        'host': {'type': 'string', 'description': 'The name of a host.'},
        'mode': {'type': 'string', 'enum': ['hot', 'cold'], 'default': 'cold'},
        'level': {'enum': [1, 2]},
        'force': {'type': 'boolean', 'default': True},
        'metrics': {'type': ['array', 'null'], 'default': ['cpu']},
    },
    'required': ['host', 'force'],
}


class TestFields(base.TestCase):
    def test_each_property_has_a_field_of_its_type_with_its_default(self) -> None:
        self.assertEqual(
            [
                ('parameter.threshold', 'number', '0.5', False),
                ('parameter.host', 'text', '', True),
                ('parameter.mode', 'select', 'cold', False),
                ('parameter.level', 'select', '', False),
                ('parameter.force', 'checkbox', 'true', False),
                ('parameter.metrics', 'json', '["cpu"]', False),
            ],
            [(f.name, f.kind, f.value, f.required) for f in fields_of(SCHEMA, {})],
        )

    def test_a_refused_form_shows_what_was_entered(self) -> None:
        fields = fields_of(SCHEMA, {'parameter.threshold': 'much', 'name': 'x'})
        self.assertEqual(
            ['much', '', '', '', '', ''], [field.value for field in fields]
        )


class TestValues(base.TestCase):
    def test_fields_become_values_of_the_types(self) -> None:
        given = {
            'threshold': '0.25',
            'host': '7',
            'mode': 'hot',
            'level': '2',
            'force': 'on',
            'metrics': '["ram", 1]',
        }
        self.assertEqual(
            {
                'threshold': 0.25,
                'host': '7',
                'mode': 'hot',
                'level': 2,
                'force': True,
                'metrics': ['ram', 1],
            },
            values_of(SCHEMA, {f'parameter.{k}': v for k, v in given.items()}),
        )

    def test_empty_fields_are_left_out_and_an_empty_box_is_false(self) -> None:
        self.assertEqual({'force': False}, values_of(SCHEMA, {'parameter.host': ' '}))

    def test_an_invalid_value_remains_text_that_the_api_rejects(self) -> None:
        given = {'parameter.threshold': 'much', 'parameter.metrics': '[oops'}
        self.assertEqual(
            {'threshold': 'much', 'metrics': '[oops', 'force': False},
            values_of(SCHEMA, given),
        )
