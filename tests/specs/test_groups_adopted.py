"""Groups of an abandoned stack are adopted with their members."""

import json
from collections.abc import Mapping
from typing import Any

from tests.specs.test_groups import GroupCase, sample, scaling
from tests.stack_worlds import TENANT, res
from watcherlite.domain.stacks import Stack, StackRequest


class AdoptedCase(GroupCase):
    def abandon(self, stack: Stack) -> dict[str, Any]:
        """Abandon a stack; return its data as a client would send it."""
        left = self.world.stacks.abandon(stack.uuid, TENANT)
        return dict(json.loads(json.dumps(left)))

    def adopt(self, left: Mapping[str, Any], template: Any = None) -> Stack:
        """Adopt a stack; return its state at the end."""
        self.world.external.calls.clear()
        new = StackRequest('adopted', template, adopt=left)
        return self.world.wait_until_settled(self.world.stacks.create(new, TENANT))

    def assert_members_kept(self, stack: Stack, before: Mapping[str, Any]) -> None:
        """Check that the members are the same, and that an update keeps them."""
        self.assertEqual('ADOPT_COMPLETE', stack.state.name, stack.status_reason)
        self.assertEqual(before, self.ids(stack))
        self.change(stack)
        self.assertEqual(before, self.ids(stack))
        calls = [self.world.external.of(do) for do in ('create', 'update', 'delete')]
        self.assertEqual([[], [], []], calls)
        self.assertEqual(set(before.values()), self.world.external.samples.keys())


class TestScaledGroups(AdoptedCase):
    """OS::Heat::AutoScalingGroup and OS::Heat::InstanceGroup."""

    def group(self, **more: Any) -> dict[str, Any]:
        return res(
            'ASG', **{'min_size': 1, 'max_size': 4, 'resource': sample(), **more}
        )

    def test_a_group_keeps_its_scaled_size_and_its_cooldown(self) -> None:
        stack = self.make(
            g=self.group(), up=scaling(2, cooldown=600), at_once=scaling(cooldown=0)
        )
        self.signal(stack)
        before, data = self.ids(stack), self.world.resource(stack, 'g').data

        stack = self.adopt(self.abandon(stack))

        self.assertEqual(3, len(before))
        self.assert_members_kept(stack, before)
        self.assertEqual(data, self.world.resource(stack, 'g').data)
        self.assertEqual(3, self.attributes(stack)['current_size'])
        self.signal(stack)
        self.assertEqual(before, self.ids(stack))
        self.signal(stack, 'at_once')
        self.assertEqual(4, len(self.ids(stack)))

    def test_surplus_members_are_adopted_and_removed_later(self) -> None:
        stack = self.make(g=self.group(desired_capacity=1), up=scaling(2))
        self.signal(stack)
        before = self.ids(stack)

        stack = self.adopt(self.abandon(stack))

        self.assertEqual('ADOPT_COMPLETE', stack.state.name, stack.status_reason)
        self.assertEqual((3, before), (len(before), self.ids(stack)))
        self.change(stack)
        (kept,) = self.ids(stack).items()
        self.assertIn(kept, before.items())
        self.assertEqual({kept[1]}, self.world.external.samples.keys())

    def test_members_can_have_any_names(self) -> None:
        stack = self.make(g=res('IG', size=2, resource=sample()))
        left = self.abandon(stack)
        group = left['resources']['g']
        for part in (group['resources'], group['template']['resources']):
            for name, new in zip(sorted(part), ('old.one', 'web-2'), strict=True):
                part[new] = part.pop(name)
        before = {n: one['resource_id'] for n, one in group['resources'].items()}

        stack = self.adopt(left)

        self.assertEqual({'old.one', 'web-2'}, before.keys())
        self.assert_members_kept(stack, before)

    def test_a_changed_definition_applies_from_the_next_update(self) -> None:
        stack = self.make(g=res('IG', size=2, resource=sample()))
        before, left = self.ids(stack), self.abandon(stack)
        left['template']['resources']['g']['properties']['resource'] = sample('new')

        stack = self.adopt(left)

        self.assertEqual('ADOPT_COMPLETE', stack.state.name, stack.status_reason)
        self.assertEqual(['old'] * 2, list(self.values(stack).values()))
        self.change(stack)
        self.assertEqual(before, self.ids(stack))
        self.assertEqual(['new'] * 2, list(self.values(stack).values()))

    def test_a_member_without_a_definition_gets_that_of_the_group(self) -> None:
        stack = self.make(g=res('IG', size=2, resource=sample()))
        before, left = self.ids(stack), self.abandon(stack)
        del left['resources']['g']['template']

        self.assert_members_kept(self.adopt(left), before)

    def test_an_unknown_member_is_reported_and_created_later(self) -> None:
        for group, text in (
            (res('IG', size=3, resource=sample()), ': resource_id is missing'),
            (
                res('RG', count=3, resource_def=sample('old %index%')),
                'resources.1: 1: resource_id is missing',
            ),
        ):
            stack = self.make(g=group)
            left = self.abandon(stack)
            known = left['resources']['g']['resources']
            del known[sorted(known)[1]]

            stack = self.adopt(left)

            self.assertEqual('ADOPT_FAILED', stack.state.name)
            self.assertIn(text, stack.status_reason)
            self.change(stack)
            names = sorted(self.ids(stack))
            (made,) = self.world.external.of('create')
            self.assertEqual(3, len(names))
            self.world.act(stack, 'DELETE')
        self.assertEqual((['0', '1', '2'], '1'), (names, made))


class TestUnhealthyMembers(AdoptedCase):
    """Unhealthy resources of an abandoned stack are unhealthy after the adoption."""

    def group(self, **more: Any) -> dict[str, Any]:
        return res('IG', **{'size': 3, 'resource': sample(), **more})

    def test_the_next_update_replaces_a_marked_member_in_any_case(self) -> None:
        stack = self.make(g=self.group())
        before = self.ids(stack)
        marked = min(before)
        self.world.mark(self.world.nested(stack, 'g'), marked, reason='too hot')
        left = self.abandon(stack)
        # The values that a client sends have no effect.
        member = left['resources']['g']['resources'][marked]
        member |= {'status': 'COMPLETE', 'status_reason': ['x'], 'action': {}}

        stack = self.adopt(left)

        self.assertEqual('ADOPT_COMPLETE', stack.state.name, stack.status_reason)
        self.assertEqual(before, self.ids(stack))
        inner = self.world.nested(stack, 'g')
        expected = dict.fromkeys(before, 'ADOPT_COMPLETE') | {marked: 'CHECK_FAILED'}
        self.assertEqual(expected, self.world.states(inner))
        self.assertEqual('too hot', self.world.resource(inner, marked).status_reason)
        self.change(stack)
        self.assert_replaced(stack, before, marked)

    def test_a_reduction_removes_a_marked_member_first_unless_the_mark_was_removed(
        self,
    ) -> None:
        stack = self.make(g=self.group())
        before = self.ids(stack)
        marked, other = min(before), max(before)
        self.mark(stack, marked)
        self.mark(stack, other)
        stack = self.adopt(self.abandon(stack))

        self.world.mark(self.world.nested(stack, 'g'), marked, False)
        self.change(stack, g=self.group(size=2))

        del before[other]
        self.assertEqual(before, self.ids(stack))

    def test_a_member_that_failed_to_change_stays_failed(self) -> None:
        stack = self.make(g=self.group())
        before = self.ids(stack)
        broken = min(before)
        self.world.external.fails.add(('update', broken))
        after = self.world.change(stack, {'g': self.group(resource=sample('new'))})
        self.assertEqual('UPDATE_FAILED', after.state.name)
        self.world.external.fails.clear()

        stack = self.adopt(self.abandon(stack))

        inner = self.world.nested(stack, 'g')
        self.assertEqual('ADOPT_COMPLETE', self.world.states(stack)['g'])
        self.assertEqual('ADOPT_FAILED', self.world.states(inner)[broken])
        self.world.mark(inner, broken, False)
        self.change(stack)
        self.assert_replaced(stack, before, broken)

    def test_a_marked_group_is_replaced_completely(self) -> None:
        stack = self.make(g=self.group())
        before = self.ids(stack)
        self.world.mark(stack, 'g')

        stack = self.adopt(self.abandon(stack))

        self.assertEqual('CHECK_FAILED', self.world.states(stack)['g'])
        self.assertEqual(before, self.ids(stack))
        self.change(stack)
        self.assertEqual(set(), set(before.values()) & set(self.ids(stack).values()))


class TestNumberedGroup(AdoptedCase):
    """OS::Heat::ResourceGroup."""

    def group(
        self, count: int, value: str = 'old %index%', **more: Any
    ) -> dict[str, Any]:
        return res('RG', count=count, resource_def=sample(value), **more)

    def create_group_with_gap(self) -> Stack:
        """Return a stack with the members 0 and 2."""
        stack = self.make(g=self.group(3))
        self.change(stack, g=self.group(2, removal_policies=[{'resource_list': ['1']}]))
        self.assertEqual(['0', '2'], sorted(self.ids(stack)))
        return stack

    def test_a_gap_in_the_names_is_not_filled(self) -> None:
        for is_said in (True, False):
            stack = self.create_group_with_gap()
            before, left = self.ids(stack), self.abandon(stack)
            if not is_said:
                left['template']['resources']['g'] = self.group(2)
                del left['resources']['g']['resource_data']

            stack = self.adopt(left)

            self.assert_members_kept(stack, before)
            self.assertEqual(['1'], self.attributes(stack)['removed_rsrc_list'])
            self.change(stack, g=self.group(3))
            self.assertEqual(['0', '2', '3'], sorted(self.ids(stack)))
            self.world.act(stack, 'DELETE')

    def test_a_member_with_a_name_that_is_not_a_number_keeps_it(self) -> None:
        stack = self.make(g=self.group(2, 'old'))
        left = self.abandon(stack)
        group = left['resources']['g']
        for part in (group['resources'], group['template']['resources']):
            part['web'] = part.pop('1')
        before = {n: one['resource_id'] for n, one in group['resources'].items()}

        self.assert_members_kept(stack := self.adopt(left), before)

        self.change(stack, g=self.group(1, 'old'))
        self.assertEqual({'web': before['web']}, self.ids(stack))
