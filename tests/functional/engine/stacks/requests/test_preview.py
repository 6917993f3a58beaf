"""Previews show the changes without performing them."""

from collections.abc import Mapping, Sequence
from typing import Any, ClassVar

from tests.stack_worlds import TENANT, StackWorld, StackWorldCase, res, template
from tests.unit.engine.stacks.requests.test_template_validator import inner
from watcherlite import exceptions
from watcherlite.domain.stacks import Stack, StackRequest
from watcherlite.engine.stacks.requests.preview import PlannedResource
from watcherlite.engine.stacks.services import StackLimits

STRING = {'type': 'string'}
FILES = {
    'n.yaml': inner({'deep': res(value={'get_param': 'p'})}, parameters={'p': STRING})
}
Names = dict[str, list[tuple[str | None, str]]]


def names(changes: Mapping[str, Sequence[PlannedResource]]) -> Names:
    """Return the names of the resources by kind of change, without empty kinds."""
    return {
        kind: sorted((p.parent or '', p.name) for p in planned)
        for kind, planned in changes.items()
        if planned
    }


class TestCreation(StackWorldCase):
    def planned(self, resources: Any, **keys: Any) -> list[PlannedResource]:
        world = self.create_stack_world()
        new = StackRequest('s', template(resources, **keys), files=FILES)
        stack, planned = world.stacks.preview(new, TENANT)
        self.assertEqual('s', stack.name)
        self.assertEqual([], world.store.list_actions(limit=10))
        return planned

    def test_a_preview_includes_nested_stacks(self) -> None:
        a, n, g = self.planned(
            {
                'a': res(value='x', _description='the first', _metadata={'k': 'v'}),
                'n': res('n.yaml', p={'get_attr': ['a', 'output']}),
                'g': res('Group', count=2, _depends_on='a'),
            }
        )

        self.assertEqual(
            ('a', 'Sample', 'INIT_COMPLETE', {'k': 'v'}, 'the first'),
            (a.name, a.type, a.state.name, a.metadata, a.description),
        )
        # With the default of a property, and without values of attributes and times.
        self.assertEqual(
            ({'value': 'x', 'wait': 0}, {'output': None}, None, None),
            (a.properties, a.attributes, a.created_at, a.updated_at),
        )
        self.assertEqual(('n', 'g'), a.required_by)
        self.assertIsNone(a.nested)
        # The value of p is not known yet.
        (deep,) = n.nested or ()
        self.assertEqual({'value': None, 'wait': 0}, deep.properties)
        self.assertEqual('s-n', deep.stack.name)
        self.assertEqual(
            [[('deep', 'n')], [('m0', 'g'), ('m1', 'g')]],
            [[(p.name, p.parent) for p in one.nested or ()] for one in (n, g)],
        )

    def test_the_size_of_a_preview_is_limited(self) -> None:
        long = {'str_replace': {'template': 'x' * 400, 'params': {'y': ''}}}
        new = StackRequest('s', template({name: res(value=long) for name in 'ab'}))
        problems = []
        for limits in (StackLimits(shown=500), StackLimits(evaluated=500)):
            world = self.create_stack_world(limits=limits)
            error = self.assertRaises(
                exceptions.RequestLimitExceeded, world.stacks.preview, new, TENANT
            )
            problems.append(str(error))

        self.assertEqual(
            [
                'the resources of the preview have more than 500 bytes together',
                'the functions of the template make more than 500 characters and '
                'values for one request; make less',
            ],
            problems,
        )

    def test_hidden_parameters_are_masked(self) -> None:
        (a,) = self.planned(
            {'a': res(value={'get_param': 'p'})},
            parameters={'p': {'type': 'string', 'hidden': True, 'default': 'secret'}},
        )

        self.assertEqual({'value': '******', 'wait': 0}, a.properties)


class TestUpdate(StackWorldCase):
    RESOURCES: ClassVar[Any] = {
        'a': res(value='x'),
        'b': res(value={'get_attr': ['a', 'output']}),
        'n': res('n.yaml', p='x'),
        'g': res('Group', count=2),
        'z': res('Nothing'),
    }

    def setUp(self) -> None:
        super().setUp()
        self.world: StackWorld = self.create_stack_world()
        self.stack: Stack = self.world.make(self.RESOURCES, files=FILES)

    def preview(self, resources: Any = None, nested: bool = False) -> Names:
        whole = template(resources) if resources is not None else None
        new = StackRequest('s', whole, files=FILES, existing=whole is None)
        before = len(self.world.store.list_actions(limit=1000))
        found = self.world.stacks.preview_update(self.stack.uuid, TENANT, new, nested)
        self.assertEqual(before, len(self.world.store.list_actions(limit=1000)))
        return names(found)

    def test_each_resource_is_shown_with_its_change_and_present_state(self) -> None:
        own = [('', name) for name in sorted(self.RESOURCES)]
        members = [('g', 'm0'), ('g', 'm1'), ('n', 'deep')]
        replaced = {'a': res(value='x', fixed='y'), 'g': res('Group', count=3)}
        fewer = {**self.RESOURCES, 'new': res(), 'g': res('Group', count=1)}
        del fewer['z']
        # It has the same effect on its members.
        same = {'g': res('Group', count=2, value='a member')}
        for name, resources, nested, expected in (
            ('no changes', None, False, {'unchanged': own}),
            ('no changes, nested', None, True, {'unchanged': own + members}),
            (
                'a dependent of a replaced resource is updated',
                *({**self.RESOURCES, **replaced}, False),
                {
                    'unchanged': [('', 'n'), ('', 'z')],
                    'updated': [('', 'b'), ('', 'g')],
                    'replaced': [('', 'a')],
                },
            ),
            (
                *('additions and deletions in nested stacks', fewer, True),
                {
                    'unchanged': [*own[:2], ('', 'n'), ('g', 'm0'), ('n', 'deep')],
                    'updated': [('', 'g')],
                    'added': [('', 'new')],
                    'deleted': [('', 'z'), ('g', 'm1')],
                },
            ),
            (
                'a nested stack is updated by its properties',
                *({**self.RESOURCES, **same}, True),
                {
                    'unchanged': [*(('', name) for name in 'abnz'), *members],
                    'updated': [('', 'g')],
                },
            ),
        ):
            with self.subTest(name=name):
                self.assertEqual(expected, self.preview(resources, nested))
        impossible = {**self.RESOURCES, 'a': res(value='x', final='y')}
        self.assertRaises(exceptions.Invalid, self.preview, impossible)

        found = self.world.stacks.preview_update(
            self.stack.uuid, TENANT, StackRequest('s', None, existing=True)
        )
        a = next(one for one in found['unchanged'] if one.name == 'a')
        self.assertEqual(
            ('CREATE_COMPLETE', self.world.ids(self.stack)['a'], {'output': 'x'}),
            (a.state.name, a.physical_id, a.attributes),
        )

    def test_a_marked_resource_is_replaced(self) -> None:
        self.world.mark(self.stack, 'b')
        self.world.mark(self.world.nested(self.stack, 'g'), 'm1')

        found = self.preview(nested=True)

        self.assertEqual([('', 'b'), ('g', 'm1')], found['replaced'])
        self.assertEqual([('', 'g')], found['updated'])

    def test_a_resource_that_was_never_created_is_added(self) -> None:
        self.world.external.fails.add(('create', 'one'))
        changed = {'one': res(), 'two': res(_depends_on='one')}
        self.world.change(self.stack, changed)

        self.assertEqual(
            {'added': [('', 'two')], 'replaced': [('', 'one')]},
            {
                kind: found
                for kind, found in self.preview(changed).items()
                if kind != 'deleted'
            },
        )

    def test_an_external_id_that_changes_inside_a_nested_stack_is_refused(self) -> None:
        nested = inner({'deep': res(_external_id='one')}, parameters={'p': STRING})
        new = StackRequest(
            's', template(self.RESOURCES), files={**FILES, 'n.yaml': nested}
        )

        refusal = self.assertRaises(
            exceptions.NotSupported,
            self.world.stacks.preview_update,
            self.stack.uuid,
            TENANT,
            new,
        )

        self.assertEqual(
            'Update to property external_id of deep (Sample) is not supported.',
            str(refusal),
        )

    def test_a_preview_agrees_with_the_update(self) -> None:
        changed = {
            **self.RESOURCES,
            'a': res(value='x', fixed='y'),
            'g': res('Group', count=3, value='v'),
        }
        preview = self.preview(changed, nested=True)
        before = self.world.ids(self.stack)

        self.world.change(self.stack, changed, files=FILES)

        after = self.world.ids(self.stack)
        replaced = [name for name in before if before[name] != after[name]]
        self.assertEqual([('', name) for name in replaced], preview['replaced'])
        self.assertEqual(
            [('g', name) for name in ('m0', 'm1')],
            [pair for pair in preview['updated'] if pair[0] == 'g'],
        )
        self.assertEqual(['m0', 'm1'], sorted(self.world.external.of('update')[-2:]))
