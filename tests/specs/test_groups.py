"""Groups of resources: creation, scaling, repair and changes, as spec 002 requires.

tests/unit/plugins/resource_handlers checks the templates of the steps; these tests
execute them.
"""

import datetime
import json
from collections.abc import Callable
from typing import Any

from tests.stack_worlds import TENANT, StackWorld, StackWorldCase, res
from watcherlite import exceptions
from watcherlite.domain.stacks import Stack
from watcherlite.plugins import base
from watcherlite.plugins.resource_handlers.auto_scaling_group import AutoScalingGroup
from watcherlite.plugins.resource_handlers.instance_group import InstanceGroup
from watcherlite.plugins.resource_handlers.nested_stack import NestedStack
from watcherlite.plugins.resource_handlers.nothing import Nothing
from watcherlite.plugins.resource_handlers.resource_group import ResourceGroup
from watcherlite.plugins.resource_handlers.scaling_policy import ScalingPolicy
from watcherlite.states import stack as states

HANDLERS: dict[str, type] = {
    'ASG': AutoScalingGroup,
    'IG': InstanceGroup,
    'Policy': ScalingPolicy,
    'RG': ResourceGroup,
    'Stack': NestedStack,
}


def sample(value: str = 'old') -> dict[str, Any]:
    return {'type': 'Sample', 'properties': {'value': value}}


def scaling(adjustment: int = 1, **more: Any) -> dict[str, Any]:
    """Return a policy that changes the size of the group `g`."""
    return res(
        'Policy',
        auto_scaling_group_id={'get_resource': 'g'},
        adjustment_type='change_in_capacity',
        scaling_adjustment=adjustment,
        **more,
    )


class GroupCase(StackWorldCase):
    """A world with the resource groups of watcherlite."""

    def setUp(self) -> None:
        super().setUp()
        self.world: StackWorld = self.create_stack_world(HANDLERS)

    def make(self, **resources: Any) -> Stack:
        stack = self.world.make(resources)
        self.assertEqual('CREATE_COMPLETE', stack.state.name, stack.status_reason)
        return stack

    def change(self, stack: Stack, **resources: Any) -> None:
        """Update a stack; without resources, keep its template."""
        after = self.world.change(stack, resources or None)
        self.assertEqual('UPDATE_COMPLETE', after.state.name, after.status_reason)

    def ids(self, stack: Stack) -> dict[str, str | None]:
        return self.world.ids(self.world.nested(stack, 'g'))

    def assert_marked_member_removed(
        self, stack: Stack, shrink: Callable[[], object]
    ) -> dict[str, str | None]:
        """Mark a member, shrink the group, and check that the member is deleted.

        :returns: the remaining members
        """
        before = self.ids(stack)
        marked = min(before)
        self.mark(stack, marked)
        shrink()
        del before[marked]
        self.assertEqual(before, self.ids(stack))
        return before

    def assert_replaced(
        self, stack: Stack, before: dict[str, str | None], *names: str
    ) -> None:
        """Check that the names are the same, and that exactly these were replaced."""
        after = self.ids(stack)
        self.assertEqual(before.keys(), after.keys())
        self.assertEqual({*names}, {n for n in after if after[n] != before[n]})

    def values(self, stack: Stack) -> dict[str, str]:
        """Return the physical value of each member."""
        return {
            name: self.world.external.samples[physical_id or '']['value']
            for name, physical_id in self.ids(stack).items()
        }

    def mark(self, stack: Stack, name: str) -> None:
        self.world.mark(self.world.nested(stack, 'g'), name)

    def attributes(self, stack: Stack) -> Any:
        return self.world.resource(stack, 'g').attributes

    def signal(self, stack: Stack, name: str = 'up', **details: Any) -> None:
        """Signal a resource, and wait until the stack has settled."""
        self.world.stacks.signal(stack.uuid, TENANT, name, details)
        self.world.wait_until_settled(stack)


class TestResourceGroup(GroupCase):
    """OS::Heat::ResourceGroup."""

    def group(self, count: int, value: str = 'old', **more: Any) -> dict[str, Any]:
        return res('RG', count=count, resource_def=sample(f'{value} %index%'), **more)

    def test_members_are_created_and_can_be_referenced_in_the_stack(self) -> None:
        outputs = {'get_attr': ['g', 'attributes', 'output']}
        stack = self.make(
            g=self.group(2),
            one=res(value={'get_attr': ['g', 'resource.1.output']}),
            map=res(value={'str_replace': {'template': 'M', 'params': {'M': outputs}}}),
            all=res(value={'list_join': [',', {'get_attr': ['g', 'output']}]}),
        )
        values = {'0': 'old 0', '1': 'old 1'}
        self.assertEqual(values, self.values(stack))
        self.assertEqual({'output': values}, self.attributes(stack)['attributes'])
        found = [
            self.world.resource(stack, name).attributes['output']
            for name in ('one', 'map', 'all')
        ]
        self.assertEqual(['old 1', json.dumps(values), 'old 0,old 1'], found)
        self.world.act(stack, states.DELETE)
        self.assertEqual({}, self.world.external.samples)

    def test_a_marked_member_is_replaced_and_the_highest_number_removed(self) -> None:
        stack = self.make(g=self.group(4))
        before = self.ids(stack)
        self.mark(stack, '1')
        self.change(stack)
        self.assert_replaced(stack, before, '1')
        before = self.ids(stack)
        self.mark(stack, '1')
        self.change(stack, g=self.group(3))
        del before['3']
        self.assert_replaced(stack, before, '1')

    def test_a_removed_name_is_not_used_again(self) -> None:
        stack = self.make(g=self.group(3))
        self.change(stack, g=self.group(2, removal_policies=[{'resource_list': ['1']}]))
        self.change(stack, g=self.group(3))
        self.assertEqual({'0', '2', '3'}, self.ids(stack).keys())
        self.assertEqual(['1'], self.attributes(stack)['removed_rsrc_list'])

    def test_a_rolling_update_changes_one_after_the_other_in_place(self) -> None:
        policy = {'rolling_update': {'max_batch_size': 1}}
        stack = self.make(g=self.group(3, _update_policy=policy))
        before = self.ids(stack)
        self.mark(stack, '0')
        self.change(stack, g=self.group(3, 'new', _update_policy=policy))
        self.assertEqual({'0': 'new 0', '1': 'new 1', '2': 'new 2'}, self.values(stack))
        self.assert_replaced(stack, before, '0')
        self.assertEqual(['2', '1'], self.world.external.of('update'))
        made = self.world.external.of('create')
        self.assertEqual(('0', 4), (made[-1], len(made)))

    def test_additional_members_are_created_during_an_update_and_deleted(self) -> None:
        policy = {'rolling_update': {'min_in_service': 2}}
        stack = self.make(g=self.group(2, _update_policy=policy))
        before = self.ids(stack)
        self.change(stack, g=self.group(2, 'new', _update_policy=policy))
        self.assertEqual(before, self.ids(stack))
        self.assertEqual({'0': 'new 0', '1': 'new 1'}, self.values(stack))
        self.assertEqual(['2'], self.world.external.of('delete'))

    def test_a_failed_rolling_update_is_rolled_back_or_continued(self) -> None:
        policy = {'rolling_update': {}}
        stack = self.make(g=self.group(3, _update_policy=policy))
        self.world.external.fails.add(('update', '1'))
        more = self.group(4, 'new', _update_policy=policy)
        self.world.change(stack, {'g': more}, disable_rollback=False)
        self.assertEqual('ROLLBACK_COMPLETE', self.world.reload(stack).state.name)
        self.assertEqual({'0': 'old 0', '1': 'old 1', '2': 'old 2'}, self.values(stack))
        self.assertEqual(3, len(self.world.external.samples))

        new = self.group(3, 'new', _update_policy=policy)
        self.world.change(stack, {'g': new}, disable_rollback=True)
        self.assertEqual('UPDATE_FAILED', self.world.reload(stack).state.name)
        self.assertEqual('old 0', self.values(stack)['0'])
        self.world.external.fails.clear()
        self.world.external.calls.clear()
        self.change(stack, g=new)
        self.assertEqual({'0': 'new 0', '1': 'new 1', '2': 'new 2'}, self.values(stack))
        self.assertEqual(
            [('create', '1'), ('delete', '1'), ('update', '0')],
            self.world.external.calls,
        )

    def test_a_rolling_update_continues_after_the_loss_of_its_worker(self) -> None:
        policy = {'rolling_update': {}}
        stack = self.make(g=self.group(3, _update_policy=policy))
        before = self.ids(stack)
        gate = self.create_gate_at(self.world, 'update', '1')
        new = self.group(3, 'new', _update_policy=policy)
        self.world.start_update(stack, {'g': new})
        gate.wait_until_entered()
        (worker,) = self.world.workers
        del self.world.external.gates['update', '1']
        self.world.worker(sweep_interval=0.2)
        self.world.kill(worker)
        self.world.wait_until_settled(stack)
        self.assertEqual('UPDATE_COMPLETE', self.world.reload(stack).state.name)
        self.assertEqual(before, self.ids(stack))
        self.assertEqual({'0': 'new 0', '1': 'new 1', '2': 'new 2'}, self.values(stack))
        self.assertEqual(['2', '1', '1', '0'], self.world.external.of('update'))

    def test_a_group_is_created_in_batches_on_request(self) -> None:
        policy = {'batch_create': {'max_batch_size': 2}}
        stack = self.make(g=self.group(3, _update_policy=policy))
        inner = self.world.nested(stack, 'g')
        self.assertEqual(['0', '1', '2'], sorted(self.ids(stack)))
        self.assertEqual('UPDATE_COMPLETE', inner.state.name)

    def test_an_update_after_a_failure_creates_only_the_failed_member(self) -> None:
        self.world.external.fails.add(('create', '1'))
        stack = self.world.make({'g': self.group(3)})
        self.assertEqual('CREATE_FAILED', stack.state.name)
        before = self.ids(stack)
        self.world.external.fails.clear()
        self.world.external.calls.clear()
        self.change(stack)
        # The replacement also deletes what the failed creation may have left.
        self.assertEqual([('create', '1'), ('delete', '1')], self.world.external.calls)
        self.assert_replaced(stack, before, '1')


class TestInstanceGroup(GroupCase):
    """OS::Heat::InstanceGroup: FAILED members go first, or keep their names."""

    def group(self, size: int, value: str = 'old', **more: Any) -> dict[str, Any]:
        return res('IG', size=size, resource=sample(value), **more)

    def test_an_update_replaces_and_a_reduction_removes_the_marked_member(self) -> None:
        stack = self.make(g=self.group(4))
        before = self.ids(stack)
        marked = max(before)
        self.mark(stack, marked)
        self.change(stack)
        self.assert_replaced(stack, before, marked)
        self.assert_marked_member_removed(
            stack, lambda: self.change(stack, g=self.group(3))
        )

    def test_a_rolling_update_starts_with_the_marked_member(self) -> None:
        policy = {'rolling_update': {'max_batch_size': 1}}
        stack = self.make(g=self.group(3, _update_policy=policy))
        before = self.ids(stack)
        marked = max(before)
        self.mark(stack, marked)
        self.world.external.calls.clear()
        self.change(stack, g=self.group(3, 'new', _update_policy=policy))
        self.assertEqual(before.keys(), self.ids(stack).keys())
        calls = self.world.external.calls
        self.assertEqual([('create', marked), ('delete', marked)], calls[:2])
        self.assertEqual(
            sorted(before.keys() - {marked}), sorted(self.world.external.of('update'))
        )


class TestAutoScaling(GroupCase):
    """OS::Heat::AutoScalingGroup and OS::Heat::ScalingPolicy."""

    def group(self, **more: Any) -> dict[str, Any]:
        return res('ASG', min_size=1, max_size=4, resource=sample(), **more)

    def test_a_signal_to_the_policy_scales_the_group(self) -> None:
        stack = self.make(g=self.group(), up=scaling(2), down=scaling(-1))
        first = self.ids(stack)
        self.signal(stack)
        before = self.ids(stack)
        self.assertEqual(3, len(before))
        self.assertEqual(first, {n: before.get(n) for n in first})
        self.assertEqual(3, self.attributes(stack)['current_size'])
        self.assertEqual('CREATE_COMPLETE', self.world.states(stack)['g'])
        # An update replaces the marked member; scaling in deletes the marked member.
        marked = min(before)
        self.mark(stack, marked)
        self.change(stack)
        self.assert_replaced(stack, before, marked)
        before = self.assert_marked_member_removed(
            stack, lambda: self.signal(stack, 'down')
        )
        # A locked group is not scaled.
        self.world.act(stack, states.LOCK)
        self.signal(stack)
        self.assertEqual(before, self.ids(stack))

    def test_the_token_of_its_url_permits_only_signals_to_the_policy(self) -> None:
        stack = self.make(g=self.group(), up=scaling(), down=scaling(-1))
        signal = self.world.stacks.signal_with_token
        tokens = {
            name: str(row.attributes['signal_url']).partition('?token=')[2]
            for name in ('up', 'down')
            for row in [self.world.resource(stack, name)]
        }
        digest = self.world.resource(stack, 'up').data['signal_token_digest']
        for uuid, name, token in (
            (stack.uuid, 'up', None),
            (stack.uuid, 'up', ''),
            (stack.uuid, 'up', digest),
            (stack.uuid, 'up', tokens['down']),
            (stack.uuid, 'g', tokens['up']),
            (stack.uuid, 'nope', tokens['up']),
            (stack.name, 'up', tokens['up']),
            ('nope', 'up', tokens['up']),
        ):
            error = self.assertRaises(exceptions.NotFound, signal, uuid, name, token)
            self.assertIn('No resource has this signal_url', str(error))
        self.assertEqual(1, len(self.ids(stack)))

        signal(stack.uuid, 'up', tokens['up'], {'current': 'alarm'})
        self.world.wait_until_settled(stack)

        self.assertEqual(2, len(self.ids(stack)))

    def test_a_group_is_not_scaled_again_before_the_end_of_the_cooldown(self) -> None:
        stack = self.make(g=self.group(), up=scaling(cooldown=600))
        # An alarm that has ended changes nothing.
        for current, size in (('ok', 1), ('alarm', 2), ('alarm', 2)):
            self.signal(stack, current=current)
            self.assertEqual(size, len(self.ids(stack)))
        data = self.world.resource(stack, 'g').data
        self.assertEqual(2, data['size'])
        self.assertEqual({'up': data['scaled']['at']}, data['scaled']['by'])
        self.assertNotIn('scaling', data)

    def test_policies_that_refer_to_each_other_do_not_loop(self) -> None:
        policy = scaling()
        policy['properties']['auto_scaling_group_id'] = 'up'
        stack = self.make(up=policy)
        self.signal(stack)
        self.assertEqual(
            [('up', 'SIGNAL_FAILED')] * 2, self.world.transitions(stack)[-2:]
        )

    def test_a_rollback_keeps_the_previous_members(self) -> None:
        stack = self.make(g=self.group(desired_capacity=2))
        before = self.ids(stack)
        broken = {**sample(), 'properties': {'value': 'old', 'fixed': 'broken'}}
        self.world.external.fails |= {('create', name) for name in before}
        more = res('ASG', min_size=1, max_size=4, desired_capacity=4, resource=broken)
        self.world.change(stack, {'g': more}, disable_rollback=False)
        self.assertEqual('ROLLBACK_COMPLETE', self.world.reload(stack).state.name)
        after = self.ids(stack)
        self.assertEqual((2, 2), (len(after), len(self.world.external.samples)))
        (kept,) = before.keys() & after.keys()
        self.assertEqual(before[kept], after[kept])


class TestNestedStack(GroupCase):
    """OS::Heat::Stack."""

    def start_creation(self) -> Stack:
        """Begin to create a stack that contains a nested stack of two resources."""
        inner = {
            'heat_template_version': '2021-04-16',
            'parameters': {'p': {'type': 'string'}},
            'resources': {
                'a': res(value={'get_param': 'p'}),
                'b': res(value='constant'),
            },
            'outputs': {'o': {'value': {'get_attr': ['a', 'output']}}},
        }
        nested = res(
            'Stack', template={'get_file': 'inner'}, parameters={'p': 'one'}, timeout=5
        )
        return self.world.start_creation(
            {'g': nested, 'out': res(value={'get_attr': ['g', 'outputs', 'o']})},
            # Functions in the file are not resolved by the outer stack.
            files={'inner': json.dumps(inner)},
        )

    def test_a_nested_stack_has_the_given_timeout(self) -> None:
        gate = self.create_gate_at(self.world, 'create', 'a')
        self.world.worker()
        stack = self.start_creation()
        gate.wait_until_entered()
        inner = self.world.nested(stack, 'g')
        begun, around = inner.updated_at, self.world.reload(stack).deadline
        assert begun and inner.deadline and around
        self.assertLessEqual(inner.deadline - begun, datetime.timedelta(minutes=5))
        self.assertLess(inner.deadline, around)

    def test_stacks_in_it_are_in_its_cloud_and_region(self) -> None:
        seen = {}

        class Placed(Nothing):
            def create(self, context: base.ResourceContext) -> None:
                seen[context.resource_name] = (context.cloud_secret, context.region)

        class Clouds:
            def connection_for(self, *arguments: Any) -> Any:
                raise exceptions.ServiceUnavailable('keystone')

            remote_connection = connection_for

        def nested(place: dict[str, str], **resources: Any) -> dict[str, Any]:
            template = {'heat_template_version': '2021-04-16', 'resources': resources}
            return res('Stack', template=template, **place)

        reference = '9a0b4c1e-0000-4000-8000-000000000001'
        world = self.create_stack_world({**HANDLERS, 'P': Placed}, clouds=Clouds())
        region = {'context': {'region_name': 'two'}}
        remote = {'context': {'credential_secret_id': reference}}
        both = {'context': {**remote['context'], 'region_name': 'three'}}
        place = {'type': 'P'}

        stack = world.make(
            {
                'here': place,
                'a': nested(
                    region,
                    region=place,
                    b=nested(remote, cloud=place, c=nested({}, inherited=place)),
                    d=nested(both, both=place),
                    e=nested(remote, f=nested(region, inner=place)),
                ),
            }
        )

        self.assertEqual('CREATE_COMPLETE', stack.state.name, stack.status_reason)
        self.assertEqual(
            {
                'here': (None, None),
                'region': (None, 'two'),
                'cloud': (reference, None),
                'inherited': (reference, None),
                'both': (reference, 'three'),
                'inner': (reference, 'two'),
            },
            seen,
        )

    def test_a_marked_member_is_replaced_alone_and_a_marked_stack_completely(
        self,
    ) -> None:
        self.world.worker()
        stack = self.world.wait_until_settled(self.start_creation())
        self.assertEqual('CREATE_COMPLETE', stack.state.name, stack.status_reason)
        # Its outputs are available to the outer stack.
        self.assertEqual(
            {'output': 'one'}, self.world.resource(stack, 'out').attributes
        )
        before = self.ids(stack)
        self.mark(stack, 'a')
        self.change(stack)
        after = self.ids(stack)
        self.assert_replaced(stack, before, 'a')
        self.world.mark(stack, 'g')
        self.change(stack)
        whole = self.ids(stack)
        self.assertEqual(
            set(), {before['b'], after['a'], after['b']} & set(whole.values())
        )
