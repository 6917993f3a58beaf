"""Nested stacks that use the metadata and the policies of their resource."""

import json
from typing import Any

from tests.stack_worlds import TENANT, StackWorldCase, res, template
from watcherlite import exceptions
from watcherlite.domain.stacks import StackRequest
from watcherlite.engine.stacks.queries import StackQueries

PARTS = ('metadata', 'deletion_policy', 'update_policy')
SHOWN = {'list_join': ['', [{'resource_facade': 'metadata'}]]}
HOT = template(
    {'inside': res(value=SHOWN)},
    outputs={part: {'value': {'resource_facade': part}} for part in PARTS},
)
AWS = {
    'HeatTemplateFormatVersion': '2012-12-12',
    'Outputs': {
        'metadata': {'Value': {'Fn::ResourceFacade': 'Metadata'}},
        'deletion_policy': {'Value': {'Fn::ResourceFacade': 'DeletionPolicy'}},
        'update_policy': {'Value': {'Fn::ResourceFacade': 'UpdatePolicy'}},
    },
}
#: A template between the stack and the one that uses the facade.
BETWEEN = template({'deep': res('hot.yaml', _metadata={'level': 2})})
FILES = {
    'hot.yaml': json.dumps(HOT),
    'aws.yaml': json.dumps(AWS),
    'between.yaml': json.dumps(BETWEEN),
}
SECTIONS = {
    'parameters': {'role': {'type': 'string', 'hidden': True, 'default': 'web'}}
}


class TestFacades(StackWorldCase):
    def setUp(self) -> None:
        super().setUp()
        self.world = self.create_stack_world()
        parts = self.world.parts(self.world.store)
        self.reading = StackQueries(parts.store, parts.handlers, parts.blueprints)

    def resources(self, **more: Any) -> dict[str, Any]:
        """Return resources whose types are templates."""
        first = {'get_attr': ['first', 'output']}
        described = {
            '_metadata': {'role': {'get_param': 'role'}, 'first': first},
            '_update_policy': {'batch_create': {'max_batch_size': 2}},
        }
        return {
            'first': res(value='1'),
            'hot': res('hot.yaml', **{**described, '_deletion_policy': 'Retain'}),
            'aws': res('aws.yaml', **described),
            'plain': res('hot.yaml'),
            'between': res('between.yaml', _metadata={'level': 1}),
            **more,
        }

    def outputs(self, stack: Any) -> dict[str, Any]:
        """Return the outputs of a stack that uses the facade."""
        found = self.reading.outputs(self.world.reload(stack))
        self.assertEqual([], [one.error for one in found if one.error])
        return {one.key: one.value for one in found}

    def test_the_parts_are_those_of_the_nearest_resource(self) -> None:
        stack = self.world.make(self.resources(), sections=SECTIONS, files=FILES)

        self.assertEqual('CREATE_COMPLETE', stack.state.name)
        policy = {'batch_create': {'max_batch_size': 2}}
        metadata = {'role': 'web', 'first': '1'}
        nothing = {'metadata': {}, 'deletion_policy': 'Delete', 'update_policy': {}}
        nested = {
            name: self.world.nested(stack, name)
            for name in ('hot', 'aws', 'plain', 'between')
        }
        deep = self.world.nested(nested['between'], 'deep')
        self.assertEqual(
            [
                {
                    'metadata': metadata,
                    'deletion_policy': 'Retain',
                    'update_policy': policy,
                },
                {
                    'metadata': metadata,
                    'deletion_policy': 'Delete',
                    'update_policy': policy,
                },
                nothing,
                {**nothing, 'metadata': {'level': 2}},
            ],
            [
                *(self.outputs(nested[name]) for name in ('hot', 'aws', 'plain')),
                self.outputs(deep),
            ],
        )
        # It is no part of the environment that users know, nor of an export.
        self.assertEqual(
            {'parameters': {}, 'parameter_defaults': {}},
            self.reading.environment(nested['hot']),
        )
        exported = self.reading.export(stack)['resources']['hot']
        self.assertEqual({'parameters': {}}, exported['environment'])

    def test_an_update_of_the_resource_updates_its_stack(self) -> None:
        stack = self.world.make(self.resources(), sections=SECTIONS, files=FILES)
        inside = self.world.resource(self.world.nested(stack, 'hot'), 'inside')
        self.assertEqual('{"role": "web", "first": "1"}', inside.properties['value'])
        self.world.external.calls.clear()

        self.world.change(stack)

        self.assertEqual([], self.world.external.calls)

        preview = self.world.stacks.preview_update(
            stack.uuid,
            TENANT,
            StackRequest(stack.name, None, parameters={'role': 'db'}, existing=True),
            nested=True,
        )
        self.assertEqual(['hot', 'inside'], [one.name for one in preview['updated']])
        self.world.change(stack, parameters={'role': 'db'})

        self.assertEqual([('update', 'inside')], self.world.external.calls)
        after = self.world.resource(self.world.nested(stack, 'hot'), 'inside')
        self.assertEqual(
            (inside.uuid, '{"role": "db", "first": "1"}'),
            (after.uuid, after.properties['value']),
        )
        aws = self.outputs(self.world.nested(stack, 'aws'))
        self.assertEqual({'role': 'db', 'first': '1'}, aws['metadata'])

        kept = self.resources()
        kept['hot'].pop('deletion_policy')
        self.world.change(stack, kept, sections=SECTIONS, files=FILES)
        found = self.outputs(self.world.nested(stack, 'hot'))
        self.assertEqual('Delete', found['deletion_policy'])

    def test_a_rollback_restores_the_parts(self) -> None:
        stack = self.world.make(self.resources(), sections=SECTIONS, files=FILES)
        self.world.external.fails.add(('create', 'bad'))

        after = self.world.change(
            stack,
            self.resources(bad=res()),
            sections=SECTIONS,
            files=FILES,
            parameters={'role': 'db'},
            disable_rollback=False,
        )

        self.assertEqual('ROLLBACK_COMPLETE', after.state.name)
        found = self.outputs(self.world.nested(stack, 'hot'))
        self.assertEqual({'role': 'web', 'first': '1'}, found['metadata'])

    def test_a_request_cannot_supply_the_parts(self) -> None:
        error = self.assertRaises(
            exceptions.StackValidationFailed,
            self.world.start_creation,
            {'a': res()},
            environment={'resource_facade': {'metadata': {}}},
        )

        self.assertIn('environment: resource_facade: there is no such key', str(error))

    def test_a_template_with_a_facade_is_not_valid_by_itself(self) -> None:
        error = self.assertRaises(
            exceptions.StackValidationFailed,
            self.world.stacks.create,
            StackRequest('s', HOT),
            TENANT,
        )

        self.assertIn('the stack is not a resource of another one', str(error))
