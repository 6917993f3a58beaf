"""The views of stacks."""

from typing import Any

from tests.stack_worlds import TENANT, StackWorld, StackWorldCase, res
from tests.unit.engine.stacks.requests.test_template_validator import inner
from watcherlite import exceptions
from watcherlite.db.query import EventQuery
from watcherlite.domain.stacks import Definition, Stack
from watcherlite.engine.stacks.queries import StackQueries

FILES = {
    'n.yaml': inner(
        {'deep': res(value={'get_param': 'p'}), 'm': res('m.yaml')},
        parameters={'p': {'type': 'string'}},
        outputs={'o': {'value': {'get_attr': ['deep', 'output']}}},
    ),
    'm.yaml': inner({'deeper': res()}),
}
RESOURCES: Any = {
    'a': res(value={'get_param': 'secret'}, _description='the first'),
    'b': res(value={'get_attr': ['a', 'output']}, _depends_on='g'),
    'n': res('n.yaml', p='x'),
    'g': res('Group', count=2, value='v'),
}
SECTIONS: Any = {
    'parameters': {
        'open': {'type': 'string', 'default': 'yes'},
        'secret': {'type': 'string', 'hidden': True},
    },
    'outputs': {
        'good': {'value': {'get_attr': ['n', 'o']}, 'description': 'of it'},
        'member': {'value': {'get_attr': ['g', 'resource.m1.output']}},
        'bad': {'value': {'get_attr': ['g', 'resource.m7']}},
    },
}


class ReadingCase(StackWorldCase):
    def setUp(self) -> None:
        super().setUp()
        self.world: StackWorld = self.create_stack_world()
        self.stack: Stack = self.world.make(
            RESOURCES,
            sections=SECTIONS,
            files=FILES,
            environment={'parameters': {'secret': 'one'}},
            parameters={'secret': 'two'},
        )
        parts = self.world.parts(self.world.store)
        self.reading = StackQueries(parts.store, parts.handlers, parts.blueprints)


class TestStack(ReadingCase):
    def test_a_stack_is_shown_with_its_outputs_and_hidden_parameters_masked(
        self,
    ) -> None:
        shown = self.reading.show(self.stack)

        self.assertIsNone(shown.owner)
        self.assertEqual(
            {
                'OS::stack_name': 's',
                'OS::stack_id': self.stack.uuid,
                'OS::project_id': TENANT,
                'open': 'yes',
                'secret': '******',
            },
            dict(shown.parameters),
        )
        good, member, bad = shown.outputs
        self.assertEqual(
            ('good', 'x', 'of it', None),
            (good.key, good.value, good.description, good.error),
        )
        self.assertEqual(('v', None), (member.value, member.error))
        self.assertIsNone(bad.value)
        self.assertIn('g has no member m7', bad.error or '')
        self.assertEqual((), self.reading.show(self.stack, with_outputs=False).outputs)
        self.assertEqual('x', self.reading.output(self.stack, 'good').value)
        self.assertRaises(
            exceptions.NotFound, self.reading.output, self.stack, 'unknown'
        )
        self.assertEqual(RESOURCES, self.reading.template(self.stack)['resources'])
        self.assertEqual(FILES, self.reading.files(self.stack))
        self.assertEqual(
            {'parameters': {'secret': '******'}, 'parameter_defaults': {}},
            self.reading.environment(self.stack),
        )

    def test_hidden_parameters_of_nested_stacks_are_masked(self) -> None:
        stack = self.world.make(
            {'a': res()},
            name='t',
            environment={
                'parameter_defaults': {'password': 'p', 'size': 1},
                'encrypted_param_names': ['password'],
            },
        )

        self.assertEqual(
            {'password': '******', 'size': 1},
            self.reading.environment(stack)['parameter_defaults'],
        )

    def test_all_parameters_of_an_invalid_template_are_masked(self) -> None:
        definition = Definition(
            {'heat_template_version': '1999-01-01'},
            {'parameters': {'a': 1}, 'parameter_defaults': {'b': 2}},
            parameters={'c': 3},
        )
        store = self.world.store
        with store.transaction() as tx:
            known = tx.insert_definition(definition)
        stack = self.stack.evolve(definition_id=known.id)

        self.assertEqual(
            {
                'parameters': {'a': '******', 'c': '******'},
                'parameter_defaults': {'b': '******'},
            },
            self.reading.environment(stack),
        )

    def test_a_nested_stack_names_its_ancestors_and_the_locked_one(self) -> None:
        n = self.world.nested(self.stack, 'n')
        m = self.world.nested(n, 'm')

        self.assertEqual(n.uuid, getattr(self.reading.show(m).owner, 'uuid', None))
        self.assertEqual(self.stack.uuid, self.reading.root(m).uuid)
        self.assertEqual(self.stack.uuid, self.reading.root(self.stack).uuid)
        self.assertIsNone(self.reading.lock_owner(self.stack))

        locked = self.world.act(self.stack, 'LOCK', 'stacks')

        m = self.world.nested(self.world.nested(self.stack, 'n'), 'm')
        self.assertEqual(
            [self.stack.uuid] * 2, [self.reading.lock_owner(s) for s in (locked, m)]
        )

    def test_an_export_equals_the_document_of_abandon(self) -> None:
        exported = self.reading.export(self.stack)

        self.assertEqual(exported, self.world.stacks.abandon(self.stack.uuid, TENANT))
        self.assertEqual('two', exported['environment']['parameters']['secret'])
        self.assertEqual({}, exported['resources']['n']['files'])


class TestResources(ReadingCase):
    def names(self, depth: int) -> list[tuple[str | None, str]]:
        found = self.reading.resources(self.stack, depth)
        return sorted((one.parent or '', one.row.name) for one in found)

    def test_resources_of_nested_stacks_are_listed_to_the_requested_depth(self) -> None:
        own = [('', name) for name in 'abgn']
        first = [('g', 'm0'), ('g', 'm1'), ('n', 'deep'), ('n', 'm')]

        self.assertEqual(own, self.names(0))
        self.assertEqual([*own, *first], self.names(1))
        self.assertEqual([*own, *first[:2], ('m', 'deeper'), *first[2:]], self.names(2))

    def test_a_resource_names_its_dependents_and_its_nested_stack(self) -> None:
        found = {one.row.name: one for one in self.reading.resources(self.stack)}

        self.assertEqual(
            {'a': ('b',), 'b': (), 'g': ('b',), 'n': ()},
            {name: one.required_by for name, one in found.items()},
        )
        self.assertEqual(
            self.world.nested(self.stack, 'n').uuid,
            getattr(found['n'].nested, 'uuid', None),
        )
        self.assertIsNone(found['a'].nested)

    def test_a_resource_is_found_by_name_and_physical_id(self) -> None:
        by_name = self.reading.resource(self.stack, 'a')
        physical_id = by_name.row.physical_id or ''

        self.assertEqual(by_name, self.reading.resource(self.stack, physical_id))
        self.assertEqual('the first', by_name.description)
        self.assertEqual(('b',), by_name.required_by)
        self.assertRaises(
            exceptions.ResourceNotFound, self.reading.resource, self.stack, 'deep'
        )

    def test_attributes_are_those_of_the_type_and_the_requested_ones(self) -> None:
        a = self.reading.resource(self.stack, 'a')
        g = self.reading.resource(self.stack, 'g')
        m0, m1 = self.world.ids(self.world.nested(self.stack, 'g')).values()

        self.assertEqual({'output': 'two'}, self.reading.attributes(a))
        self.assertEqual(
            {
                'refs': [m0, m1],
                'resource.m1.output': 'v',
                'resource.m0': m0,
                'resource.m9': None,
            },
            self.reading.attributes(
                g, ['resource.m1.output', 'resource.m0', 'resource.m9']
            ),
        )


class TestEvents(ReadingCase):
    def stack_events(self, depth: int = 0, **keys: Any) -> list[tuple[str, str, str]]:
        query = EventQuery(**{'descending': False, **keys})
        return [
            (
                event.stack.name,
                event.resource['name'],
                event.stored.event.new_status or '',
            )
            for event in self.reading.events(self.stack, query, depth)
        ]

    def test_events_are_those_of_the_stack_to_the_requested_depth(self) -> None:
        found = self.stack_events()
        inside = [self.world.nested(self.stack, name).name for name in 'ng']

        self.assertEqual(('s', 's', 'CREATE_IN_PROGRESS'), found[0])
        self.assertEqual(('s', 's', 'CREATE_COMPLETE'), found[-1])
        self.assertEqual({*'sabgn'}, {name for _, name, _ in found})
        self.assertEqual(
            {'s', *inside}, {name for name, _, _ in self.stack_events(depth=1)}
        )
        self.assertEqual(
            [('s', 'a', 'CREATE_IN_PROGRESS')],
            self.stack_events(filters={'resource': ['a']}, limit=1),
        )
