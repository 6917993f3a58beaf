"""The properties of policies: defaults, rejections and schemas."""

from collections.abc import Mapping
from typing import Any, ClassVar

from tests import base
from watcherlite import exceptions
from watcherlite.plugins import loader, specs
from watcherlite.plugins.base import POLICIES, Policy

#: Type, without the version -> the versions that clients may name.
VERSIONS = {
    'senlin.policy.affinity': ['1.0'],
    'senlin.policy.batch': ['1.0'],
    'senlin.policy.deletion': ['1.0', '1.1'],
    'senlin.policy.health': ['1.0', '1.1', '1.2'],
    'senlin.policy.loadbalance': ['1.0', '1.1', '1.2', '1.3'],
    'senlin.policy.region_placement': ['1.0'],
    'senlin.policy.scaling': ['1.0'],
    'senlin.policy.zone_placement': ['1.0'],
}
PRIORITIES = {
    'senlin.policy.scaling': 100,
    'senlin.policy.batch': 200,
    'senlin.policy.region_placement': 200,
    'senlin.policy.zone_placement': 300,
    'senlin.policy.affinity': 300,
    'senlin.policy.deletion': 400,
    'senlin.policy.loadbalance': 500,
    'senlin.policy.health': 600,
}


class EveryPropertyPolicy(Policy):
    """Has a property of every kind."""

    schema: ClassVar[Mapping[str, Any]] = {
        'type': 'object',
        'properties': {
            'word': {'enum': ['a', 'b'], 'default': 'a', 'description': 'A word.'},
            'number': {'type': 'number', 'description': 'A number.'},
            'inner': {
                'type': 'object',
                'properties': {'flag': {'type': 'boolean', 'default': True}},
                'required': ['flag'],
                'default': {},
            },
            'items': {
                'type': ['array', 'null'],
                'items': {
                    'type': 'object',
                    'properties': {'weight': {'type': 'integer', 'default': 100}},
                },
            },
        },
        'required': ['number'],
        'additionalProperties': False,
    }

    def validate(self, properties: Mapping[str, Any]) -> None:
        if properties['number'] == 13:
            raise exceptions.Invalid('it is 13')


def shown(type_: str, **more: Any) -> dict[str, Any]:
    """Return a property as clients see it, without a description by default."""
    common = {'description': '', 'required': False, 'updatable': False}
    return {'type': type_, **common, **more}


class SpecsTest(base.TestCase):
    """Values and schemas."""

    def test_defaults_are_filled_in_at_any_depth(self) -> None:
        self.assertEqual(
            {
                'word': 'a',
                'number': 1,
                'inner': {'flag': True},
                'items': [{'weight': 100}, {'weight': 1}],
            },
            specs.fit(
                EveryPropertyPolicy(), {'number': 1, 'items': [{}, {'weight': 1}]}
            ),
        )

    def test_given_values_are_unchanged(self) -> None:
        given: dict[str, Any] = {'number': 1, 'inner': {}}

        specs.fit(EveryPropertyPolicy(), given)

        self.assertEqual({'number': 1, 'inner': {}}, given)

    def test_invalid_values_are_reported_with_their_place(self) -> None:
        for given, text in (
            ({}, 'properties.number: is required'),
            (
                {'number': 1, 'wrod': 'a'},
                'properties.wrod: is not known, did you mean word?',
            ),
            ({'number': 1, 'inner': {'flag': 2}}, 'properties.inner.flag: 2 is not'),
            ({'number': 13}, 'it is 13'),
            ([], 'properties: a list is not an object'),
        ):
            error = self.assertRaises(
                exceptions.InvalidSpec, specs.fit, EveryPropertyPolicy(), given
            )
            self.assertIn(text, str(error))

    def test_a_schema_is_shown_in_the_format_of_clients(self) -> None:
        words = {'type': 'AllowedValues', 'constraint': ['a', 'b']}
        flag = shown('Boolean', required=True, default=True)
        item = shown('Map', schema={'weight': shown('Integer', default=100)})
        self.assertEqual(
            {
                'word': shown(
                    'String', description='A word.', default='a', constraints=[words]
                ),
                'number': shown('Number', description='A number.', required=True),
                'inner': shown('Map', default={}, schema={'flag': flag}),
                'items': shown('List', schema={'*': item}),
            },
            specs.describe_schema(EveryPropertyPolicy.schema),
        )

    def test_every_version_that_clients_name_is_there(self) -> None:
        found: dict[str, list[str]] = {}
        for name, kind in loader.load([POLICIES]).loadable(POLICIES).items():
            bare, _, version = name.rpartition('-')
            found.setdefault(bare, []).append(version)
            self.assertEqual(PRIORITIES[bare], kind.priority)
            self.assertIn(version, [one['version'] for one in kind.support_status])
            self.assertTrue(kind.description)
            for one in specs.describe_schema(kind.schema).values():
                self.assertTrue(one['description'], f'{name}: {one}')

        self.assertEqual(VERSIONS, found)
