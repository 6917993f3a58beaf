"""The adoption of existing resources by a stack."""

from collections.abc import Mapping
from typing import Any, ClassVar

from tests.stack_worlds import TENANT, Group, StackWorld, StackWorldCase, res, template
from tests.unit.engine.stacks.requests.test_template_validator import inner
from watcherlite import exceptions
from watcherlite.domain.resource_results import (
    Expansion,
    Property,
    Ready,
    ResourceInProgress,
)
from watcherlite.domain.stacks import Stack, StackRequest
from watcherlite.plugins.base import ResourceHandler

FILES = {
    'n.yaml': inner(
        {'deep': res(value={'get_param': 'p'})},
        parameters={'p': {'type': 'string'}},
        outputs={'o': {'value': {'get_attr': ['deep', 'output']}}},
    )
}


class Slow(ResourceHandler):
    """Needs two polls to find the resource."""

    properties: ClassVar[Mapping[str, Property]] = {
        'size': Property({'type': 'integer', 'default': 1})
    }

    def create(self, context: Any) -> Any:
        return Ready('slow-1', attributes={'seen': 1}, data={'kept': 'here'})

    def check(self, context: Any) -> Any:
        return ResourceInProgress('again', 0.0)

    def poll(self, context: Any, operation: str, token: Any) -> Any:
        text = f'{operation} {context.physical_id} {context.data.get("kept")}'
        return Ready(attributes={**context.attributes, 'calls': text})

    def delete(self, context: Any) -> Any:
        return None

    def reference(self, context: Any) -> str:
        return f'ref-{context.physical_id}'


class StackRecordingGroup(Group):
    """Records the stack in which it was created first."""

    def expand(self, context: Any, members: Any) -> Any:
        data = {} if context.data else {'data': {'first': context.stack_uuid}}
        return Expansion(super().expand(context, members), **data)


class StateRecordingGroup(StackRecordingGroup):
    """Records the states of its members."""

    def adopted(self, context: Any, members: Any) -> Any:
        data = {member.name: member.serving for member in members}
        return Expansion(super().expand(context, members).batches, data)


class AdoptingCase(StackWorldCase):
    def setUp(self) -> None:
        super().setUp()
        self.world: StackWorld = self.create_stack_world(
            {
                'Slow': Slow,
                'StackRecordingGroup': StackRecordingGroup,
                'StateRecordingGroup': StateRecordingGroup,
            }
        )
        self.external = self.world.external

    def adopt(self, data: Mapping[str, Any], name: str = 'adopted') -> Stack:
        new = StackRequest(name, None, adopt=data)
        return self.world.wait_until_settled(self.world.stacks.create(new, TENANT))


class TestAdoption(AdoptingCase):
    def abandon_and_adopt(self, stack: Stack) -> Stack:
        return self.adopt(self.world.stacks.abandon(stack.uuid, TENANT))

    def test_a_stack_adopts_the_resources_of_an_abandoned_one(self) -> None:
        left = self.world.make(
            {
                'a': res(value='x'),
                'b': res(value={'get_attr': ['a', 'output']}),
                'slow': res('Slow'),
            }
        )
        before = self.world.ids(left)
        samples = dict(self.external.samples)

        data = self.world.stacks.abandon(left.uuid, TENANT)
        stack = self.adopt(data)

        self.assertRaises(exceptions.StackNotFound, self.world.find_stack, 's')
        self.assertEqual('ADOPT_COMPLETE', stack.state.name)
        self.assertEqual(before, self.world.ids(stack))
        self.assertEqual(samples, self.external.samples)
        self.assertEqual({'ADOPT_COMPLETE'}, set(self.world.states(stack).values()))
        self.assertEqual(['a', 'b'], self.external.of('create'))
        b, slow = (self.world.resource(stack, name) for name in ('b', 'slow'))
        self.assertEqual({'value': 'x', 'wait': 0}, b.properties)
        self.assertEqual(
            (
                {'size': 1},
                {'seen': 1, 'calls': 'check slow-1 here'},
                {'kept': 'here'},
                'ref-slow-1',
            ),
            (slow.properties, slow.attributes, slow.data, slow.reference),
        )

    def test_parameters_of_the_request_override_the_adopted_ones(self) -> None:
        declared = {name: {'type': 'string', 'default': '-'} for name in 'pq'}
        left = self.world.make(
            {'a': res(value={'get_param': 'p'}), 'b': res(value={'get_param': 'q'})},
            sections={'parameters': declared},
            parameters={'p': 'x', 'q': 'y'},
        )
        data = self.world.stacks.abandon(left.uuid, TENANT)

        new = StackRequest('adopted', None, parameters={'q': 'z'}, adopt=data)
        stack = self.world.wait_until_settled(self.world.stacks.create(new, TENANT))

        self.assertEqual('ADOPT_COMPLETE', stack.state.name, stack.status_reason)
        found = [self.world.resource(stack, n).properties['value'] for n in 'ab']
        self.assertEqual(['x', 'z'], found)

    def test_resources_are_adopted_in_dependency_order(self) -> None:
        stack = self.abandon_and_adopt(
            self.world.make({'a': res(), 'b': res(_depends_on='a')})
        )

        self.assertEqual(
            [
                ('adopted', 'ADOPT_IN_PROGRESS'),
                ('a', 'ADOPT_IN_PROGRESS'),
                ('a', 'ADOPT_COMPLETE'),
                ('b', 'ADOPT_IN_PROGRESS'),
                ('b', 'ADOPT_COMPLETE'),
                ('adopted', 'ADOPT_COMPLETE'),
            ],
            self.world.transitions(stack),
        )

    def test_nested_stacks_are_adopted(self) -> None:
        left = self.world.make(
            {'n': res('n.yaml', p='x'), 'g': res('Group', count=2)}, files=FILES
        )
        before = [self.world.ids(self.world.nested(left, name)) for name in 'ng']

        stack = self.abandon_and_adopt(left)

        inside = [self.world.nested(stack, name) for name in 'ng']
        self.assertEqual(before, [self.world.ids(one) for one in inside])
        self.assertEqual(['ADOPT_COMPLETE'] * 2, [one.state.name for one in inside])
        self.assertEqual({'o': 'x'}, self.world.resource(stack, 'n').attributes)
        self.assertEqual(
            {'refs': list(before[1].values())},
            self.world.resource(stack, 'g').attributes,
        )
        self.assertEqual(3, len(self.external.samples))

    def test_a_group_adopts_its_data_and_sees_its_unhealthy_members(self) -> None:
        left = self.world.make(
            {
                'k': res('StackRecordingGroup', count=1),
                'asking': res('StateRecordingGroup', count=2),
            }
        )
        kept = dict(self.world.resource(left, 'k').data)
        self.world.mark(self.world.nested(left, 'asking'), 'm1')

        stack = self.abandon_and_adopt(left)

        self.assertEqual([left.uuid], list(kept.values()))
        self.assertEqual(kept, self.world.resource(stack, 'k').data)
        self.assertEqual(
            {'m0': True, 'm1': False}, self.world.resource(stack, 'asking').data
        )

    def test_adopted_resources_are_updated_and_deleted_normally(self) -> None:
        resources = {'a': res(value='x'), 'g': res('Group', count=2)}
        stack = self.abandon_and_adopt(self.world.make(resources, files=FILES))

        self.world.change(stack, {'a': res(value='y'), 'g': res('Group', count=1)})

        values = sorted(str(one.get('value')) for one in self.external.samples.values())
        self.assertEqual(['a member', 'y'], values)
        self.world.act(stack, 'DELETE')
        self.assertEqual({}, self.external.samples)

    def test_a_missing_resource_fails_and_the_next_update_creates_it(self) -> None:
        left = self.world.make({'a': res(value='x'), 'b': res()})
        ids = self.world.ids(left)
        data = self.world.stacks.abandon(left.uuid, TENANT)
        del self.external.samples[ids['a'] or '']
        self.external.calls.clear()

        stack = self.adopt(data)

        self.assertEqual('ADOPT_FAILED', stack.state.name)
        self.assertIn(f'{ids["a"]} is not there', stack.status_reason)
        self.assertEqual(
            {'a': 'ADOPT_FAILED', 'b': 'ADOPT_COMPLETE'}, self.world.states(stack)
        )
        stack = self.world.change(stack)
        self.assertEqual('UPDATE_COMPLETE', stack.state.name)
        self.assertEqual(['a'], self.external.of('create'))
        self.assertEqual(ids['b'], self.world.ids(stack)['b'])

    def test_a_resource_without_a_record_fails_with_the_reason(self) -> None:
        self.world.worker()
        whole = template({'a': res()})

        stack = self.adopt({'template': whole, 'resources': {}})

        self.assertEqual('ADOPT_FAILED', stack.state.name)
        self.assertIn('resource_id is missing', stack.status_reason)


class TestRecord(AdoptingCase):
    """Only resources that the service has abandoned are adopted, by its record."""

    def setUp(self) -> None:
        super().setUp()
        left = self.world.make({'a': res(), 'slow': res('Slow')})
        self.foreign = self.world.make({'a': res(value='mine')}, name='foreign')
        self.left = left
        self.data = self.world.stacks.abandon(left.uuid, TENANT)

    def refusal(self, data: Mapping[str, Any], tenant: str = TENANT) -> str:
        """Return why a document is rejected; check that nothing is stored."""
        stacks = self.world.stacks
        error = self.assertRaises(
            exceptions.StackValidationFailed,
            stacks.create,
            StackRequest('adopted', None, adopt=data),
            tenant,
        )
        self.assertRaises(exceptions.StackNotFound, self.world.find_stack, 'adopted')
        return str(error)

    def test_invented_resources_are_rejected(self) -> None:
        mine = self.world.ids(self.foreign)['a']
        entries = self.data['resources']
        forged = {**self.data, 'resources': {'a': {'resource_id': mine}}}
        unknown = {**self.data, 'resources': {**entries, 'b': {}}}
        twice = {**self.data, 'resources': {**entries, 'b': entries['a']}}
        no_such = 'has no such resource'
        for name, data, tenant, text in (
            ('an id of a resource of another user', forged, TENANT, no_such),
            ('a resource that was not there', unknown, TENANT, no_such),
            ('one resource under two names', twice, TENANT, no_such),
            ('no id', {**self.data, 'id': None}, TENANT, 'must be the id'),
            ('of unknown', {**self.data, 'id': 'x'}, TENANT, 'abandoned no stack x'),
            ('of another project', self.data, 'other', 'abandoned no stack'),
            (
                'a stack that is there',
                {**self.data, 'id': self.foreign.uuid},
                TENANT,
                'abandon it first',
            ),
        ):
            with self.subTest(name=name):
                error = self.refusal(data, tenant)
                self.assertIn(text, error)
                self.assertNotIn(str(mine), error)
        self.assertEqual('ADOPT_COMPLETE', self.adopt(self.data).state.name)
        self.assertEqual(
            {'value': 'mine', 'wait': 0}, self.external.samples[mine or '']
        )

    def test_a_resource_is_adopted_once_as_recorded_not_as_documented(self) -> None:
        entry = self.data['resources']['slow']
        entry |= {'resource_data': {'kept': 'forged'}, 'attributes': {'seen': 99}}

        stack = self.adopt(self.data)

        row = self.world.resource(stack, 'slow')
        self.assertEqual(
            ('slow-1', {'kept': 'here'}, 1),
            (row.physical_id, row.data, row.attributes['seen']),
        )
        self.world.act(stack, 'DELETE')
        self.assertIn('another stack has adopted it', self.refusal(self.data))

    def test_an_adopted_resource_keeps_its_type(self) -> None:
        self.data['template']['resources']['a'] = res('Slow')

        stack = self.adopt(self.data)

        self.assertEqual('ADOPT_FAILED', stack.state.name)
        self.assertIn('has the type Sample, and the template', stack.status_reason)
        self.assertIsNone(self.world.resource(stack, 'a').physical_id)

    def test_a_failed_adoption_keeps_the_record(self) -> None:
        self.external.fails.add(('check', 'a'))
        stack = self.adopt(self.data)
        self.assertEqual('ADOPT_FAILED', stack.state.name)
        self.external.fails.clear()

        again = self.adopt(self.world.stacks.abandon(stack.uuid, TENANT), 'again')

        self.world.act(again, 'DELETE')
        mine = self.world.ids(self.foreign)['a']
        self.assertEqual({mine}, set(self.external.samples))


class TestExternal(AdoptingCase):
    """Resources with an external id are read, and never changed or deleted."""

    def setUp(self) -> None:
        super().setUp()
        self.external.samples |= {'one': {'value': 'mine'}, 'two': {}}
        self.world.worker()

    def external_resource(self, external_id: Any, **properties: Any) -> dict[str, Any]:
        return {'a': res(_external_id=external_id, **properties)}

    def test_an_external_id_can_come_from_a_parameter(self) -> None:
        sections = {'parameters': {'p': {'type': 'string', 'default': ''}}}
        resources = self.external_resource({'get_param': 'p'})
        for given, state in (('one', 'ADOPT_COMPLETE'), ('', 'CREATE_COMPLETE')):
            stack = self.world.make(
                resources, name=f's{given}', sections=sections, parameters={'p': given}
            )
            self.assertEqual({'a': state}, self.world.states(stack))

    def test_an_external_id_cannot_depend_on_a_resource(self) -> None:
        error = self.assertRaises(
            exceptions.StackValidationFailed,
            self.world.start_creation,
            {**self.external_resource({'get_resource': 'b'}), 'b': res()},
        )
        self.assertIn('external_id: it cannot depend on other', str(error))

    def test_an_external_resource_is_only_checked(self) -> None:
        stack = self.world.make(self.external_resource('one'))

        self.assertEqual({'a': 'ADOPT_COMPLETE'}, self.world.states(stack))
        self.assertEqual({'a': 'one'}, self.world.ids(stack))
        self.assertEqual([('check', 'a')], self.external.calls)
        for operation in ('SUSPEND', 'RESUME', 'LOCK', 'UNLOCK', 'CHECK'):
            stack = self.world.act(stack, operation)
            self.assertEqual(f'{operation}_COMPLETE', stack.state.name)

        self.assertEqual([('check', 'a')] * 2, self.external.calls)
        self.assertFalse(self.world.resource(stack, 'a').protected)

    def test_an_update_or_delete_leaves_an_external_resource_alone(self) -> None:
        stack = self.world.make(self.external_resource('one'))

        self.world.change(stack, self.external_resource('one', fixed='x'))
        self.world.change(stack, {'b': res()})

        self.assertEqual({'b': 'CREATE_COMPLETE'}, self.world.states(stack))
        self.world.change(stack, self.external_resource('one'))
        self.world.act(stack, 'DELETE')
        self.assertEqual({'one': {'value': 'mine'}, 'two': {}}, self.external.samples)
        self.assertEqual(['b'], self.external.of('create'))
        self.assertEqual(['b'], self.external.of('delete'))

    def test_a_change_of_the_external_id_is_refused_and_changes_nothing(self) -> None:
        for number, (before, after) in enumerate(
            (
                ({'a': res()}, self.external_resource('one')),
                (self.external_resource('one'), self.external_resource('two')),
                (self.external_resource('one'), {'a': res()}),
            )
        ):
            with self.subTest(after=after):
                stack = self.world.make(before, name=f's{number}')
                known = self.world.resource(stack, 'a')
                samples = dict(self.external.samples)
                reason = 'Update to property external_id of a (Sample) is not supported'

                refusal = self.assertRaises(
                    exceptions.NotSupported,
                    self.world.stacks.preview_update,
                    stack.uuid,
                    TENANT,
                    StackRequest(stack.name, template(after)),
                )
                stack = self.world.change(stack, after)

                self.assertEqual(f'{reason}.', str(refusal))
                self.assertEqual('UPDATE_FAILED', stack.state.name)
                self.assertIn(f'{reason}.', stack.status_reason)
                row = self.world.resource(stack, 'a')
                self.assertEqual(
                    (known.state, known.physical_id), (row.state, row.physical_id)
                )
                self.assertEqual(samples, self.external.samples)
                stack = self.world.change(stack, before)
                self.assertEqual('UPDATE_COMPLETE', stack.state.name)

    def test_a_marked_external_resource_is_checked_again(self) -> None:
        stack = self.world.make(self.external_resource('one'))
        self.world.mark(stack, 'a')

        self.world.change(stack)

        self.assertEqual({'a': 'one'}, self.world.ids(stack))
        self.assertEqual({'a': 'ADOPT_COMPLETE'}, self.world.states(stack))
        self.assertEqual(['a'] * 2, self.external.of('check'))
        self.assertEqual([], self.external.of('delete'))

    def test_a_missing_external_resource_fails(self) -> None:
        stack = self.world.make(self.external_resource('gone'))

        self.assertEqual('CREATE_FAILED', stack.state.name)
        self.assertEqual({'a': 'ADOPT_FAILED'}, self.world.states(stack))
        stack = self.world.change(stack, self.external_resource('one'))
        self.assertEqual('UPDATE_COMPLETE', stack.state.name)
        self.assertEqual({'a': 'one'}, self.world.ids(stack))

    def test_a_polled_external_check_holds_no_thread(self) -> None:
        stack = self.world.make({'a': res('Slow', _external_id='far')})

        row = self.world.resource(stack, 'a')
        self.assertEqual(
            ('ADOPT_COMPLETE', 'far', {'calls': 'check far None'}, 'ref-far'),
            (row.state.name, row.physical_id, row.attributes, row.reference),
        )
