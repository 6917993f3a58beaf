"""The parameters of strategies."""

from typing import Any

from tests import base
from watcherlite import exceptions
from watcherlite.domain.solutions import IndicatorSpecification
from watcherlite.plugins import parameters

SPEC: dict[str, Any] = {
    'properties': {
        'limits': {
            'type': 'object',
            'properties': {'cpu': {'type': 'number', 'default': 80}},
            'default': {},
        },
        'names': {'type': 'array', 'default': []},
        'note': {'type': 'string'},
    }
}


class FillTest(base.TestCase):
    """Defaults and checks."""

    def test_defaults_are_filled_in_at_every_depth(self) -> None:
        self.assertEqual(
            {'limits': {'cpu': 80}, 'names': []}, parameters.fill(SPEC, {})
        )
        self.assertEqual(
            {'limits': {'cpu': 5}, 'names': ['a'], 'note': 'x'},
            parameters.fill(SPEC, {'limits': {'cpu': 5}, 'names': ['a'], 'note': 'x'}),
        )

    def test_the_schema_and_the_parameters_are_unchanged(self) -> None:
        given: dict[str, Any] = {'limits': {}}
        filled = parameters.fill(SPEC, given)
        filled['names'].append('x')
        self.assertEqual({'limits': {}}, given)
        self.assertEqual([], parameters.fill(SPEC, {})['names'])

    def test_parameters_outside_the_schema_are_refused(self) -> None:
        for spec in (SPEC, {}, {'additionalProperties': True}):
            error = self.assertRaises(
                exceptions.InvalidInput, parameters.fill, spec, {'zz': 1, 'a': 2}
            )
            self.assertIn('Audit parameter a, zz are not allowed', str(error))

    def test_a_value_that_does_not_fit_is_named_by_its_place(self) -> None:
        error = self.assertRaises(
            exceptions.InvalidInput, parameters.fill, SPEC, {'limits': {'cpu': 'x'}}
        )
        self.assertEqual('parameters.limits.cpu: "x" is not a number', str(error))

    def test_a_default_that_does_not_fit_is_found(self) -> None:
        spec = {'properties': {'n': {'type': 'number', 'default': 'x'}}}
        self.assertRaises(exceptions.InvalidInput, parameters.fill, spec, {})

    def test_an_invalid_schema_is_an_error_of_the_plugin(self) -> None:
        for spec in (
            {'properties': {'n': {'type': 'nothing'}}},
            {'properties': {'n': {'$ref': 'http://example.org/x'}}},
            {'properties': {'n': {'$ref': '#/$defs/none'}}},
        ):
            self.assertRaises(exceptions.PluginError, parameters.fill, spec, {'n': 1})


class IndicatorTest(base.TestCase):
    """Efficacy indicators."""

    def test_a_figure_fits_its_schema_and_is_a_number(self) -> None:
        desired = IndicatorSpecification(
            'n', 'how many', None, {'type': 'integer', 'minimum': 0}
        )
        parameters.check_indicator(desired, 3)
        for value in (-1, 2.5, True, None, '3'):
            error = self.assertRaises(
                exceptions.InvalidInput, parameters.check_indicator, desired, value
            )
            self.assertIn('indicator n', str(error))
