"""The resource type OS::Heat::ResourceGroup: the templates of its batches."""

from typing import Any

from tests import base
from tests.unit.plugins.resource_handlers.group_world import Group
from watcherlite import exceptions
from watcherlite.plugins import properties
from watcherlite.plugins.resource_handlers.resource_group import ResourceGroup


def definition(value: str = 'old') -> dict[str, Any]:
    return {'type': 'OS::Heat::Value', 'properties': {'value': f'{value} %index%'}}


def make_member(name: str, value: str = 'old') -> dict[str, Any]:
    return {'type': 'OS::Heat::Value', 'properties': {'value': f'{value} {name}'}}


def all_of(names: str, new: str = '') -> dict[str, Any]:
    """Return a template; the names in `new` have the new definition."""
    return {
        name: make_member(name, 'new' if name in new.split() else 'old')
        for name in names.split()
    }


class SizeTest(base.TestCase):
    def setUp(self) -> None:
        super().setUp()
        self.group = Group(ResourceGroup)

    def update(self, count: int = 1, value: str = 'old', **more: Any) -> Any:
        return self.group.update(count=count, resource_def=definition(value), **more)

    def test_members_are_numbered_from_zero_and_get_their_index(self) -> None:
        self.assertEqual([all_of('0')], self.group.update(resource_def=definition()))
        self.assertEqual(
            {'heat_template_version': '2021-04-16', 'resources': all_of('0')},
            self.group.batches[0].template,
        )
        self.assertEqual([all_of('0 1 2')], self.update(3))
        self.assertEqual([{}], self.update(0))
        self.assertEqual([str(n) for n in range(12)], list(self.update(12)[0]))

    def test_the_highest_numbers_are_removed_despite_failed_members(self) -> None:
        self.update(4)
        self.group.mark('1')
        self.assertEqual([all_of('0 1 2')], self.update(3))
        self.assertEqual([all_of('0 1 2')], self.update(3))

    def test_a_custom_index_variable_is_replaced(self) -> None:
        steps = self.group.update(
            index_var='<n>', resource_def={'type': 'X', 'properties': {'a<n>': '<n>%'}}
        )
        self.assertEqual([{'0': {'type': 'X', 'properties': {'a0': '0%'}}}], steps)


class RemovalTest(base.TestCase):
    def setUp(self) -> None:
        super().setUp()
        self.group = Group(ResourceGroup)

    def update(self, count: int, *listed: str, mode: str = 'append') -> list[str]:
        """Return the names of its members after an update."""
        steps = self.group.update(
            count=count,
            resource_def=definition(),
            removal_policies=[{'resource_list': list(listed)}],
            removal_policies_mode=mode,
        )
        return list(steps[-1])

    def test_listed_members_are_removed_and_their_names_not_reused(self) -> None:
        self.update(3)
        self.assertEqual(['0', '2'], self.update(2, '1'))
        self.assertEqual(['0', '2', '3', '4'], self.update(4))
        self.assertEqual(['1'], self.group.attributes()['removed_rsrc_list'])
        self.assertEqual(['2', '3', '4', '5'], self.update(4, 'ref-0'))
        removed = {'0': 'ref-0', '1': 'ref-1'}
        self.assertEqual({'removed': removed}, dict(self.group.data))

    def test_the_mode_update_reuses_unlisted_names(self) -> None:
        self.update(3)
        self.assertEqual(['0', '2'], self.update(2, 'ref-1', mode='update'))
        self.assertEqual(['0', '2'], self.update(2, 'ref-1', mode='update'))
        self.assertEqual(['1', '2'], self.update(2, '0', mode='update'))
        self.assertEqual(['0', '1'], self.update(2, mode='update'))


class RollingTest(base.TestCase):
    def group_of(self, count: int, **policy: Any) -> Group:
        group = Group(ResourceGroup, {'rolling_update': policy})
        group.update(count=count, resource_def=definition())
        return group

    def change(self, group: Group, count: int, value: str = 'new') -> Any:
        return group.update(count=count, resource_def=definition(value))

    def refusal(self, group: Group, count: int, value: str = 'new') -> str:
        return str(
            self.assertRaises(exceptions.Invalid, self.change, group, count, value)
        )

    def test_members_are_changed_in_batches_with_a_pause(self) -> None:
        marked = self.group_of(3)
        marked.mark('0')
        for rule, group, count, steps in (
            (
                'the highest numbers first',
                self.group_of(3, max_batch_size=2),
                3,
                [('0 1 2', '1 2'), ('0 1 2', '0 1 2')],
            ),
            (
                'surplus members are removed before',
                self.group_of(4),
                2,
                [('0 1', '1'), ('0 1', '0 1')],
            ),
            (
                'a failed member first, and it keeps its name',
                marked,
                3,
                [('0 1 2', '0'), ('0 1 2', '0 2'), ('0 1 2', '0 1 2')],
            ),
            (
                'temporary members keep the minimum in service',
                self.group_of(2, min_in_service=2, pause_time=7),
                2,
                [('0 1 2', '2'), ('0 1 2', '1 2'), ('0 1', '0 1')],
            ),
        ):
            expected = [all_of(*step) for step in steps]
            self.assertEqual(expected, self.change(group, count), rule)
        self.assertEqual([7, 7, 7], [batch.pause for batch in group.batches])
        # A change of the size alone needs one batch.
        self.assertEqual([all_of('0 1 2 3 4')], self.change(self.group_of(2), 5, 'old'))

    def test_pauses_beyond_the_timeout_are_rejected(self) -> None:
        group = self.group_of(4, pause_time=20)
        group.left = 60.0
        self.assertEqual(
            'group: 4 batches with a pause of 20 seconds between them take at least '
            '60 seconds, and the operation times out in 60; larger batches, or '
            'shorter pauses, would fit',
            self.refusal(group, 4),
        )

    def test_too_many_batches_are_rejected_with_a_suggestion(self) -> None:
        group = self.group_of(520)
        self.assertEqual(
            'group: 520 members in batches of 1 are too many steps; max_batch_size '
            'must be at least 2',
            self.refusal(group, 520),
        )
        # A long definition counts as several members.
        refused = self.refusal(group, 520, 'x' * 1000)
        self.assertIn('max_batch_size must be at least 4', refused)
        group.policy = {'rolling_update': {'max_batch_size': 2}}
        self.assertEqual(260, len(self.change(group, 520)))

    def test_files_count_as_members_of_each_step(self) -> None:
        group = self.group_of(100)
        group.files = {'n.yaml': 'x' * 2_000_000}
        refused = self.refusal(group, 100)
        self.assertIn('max_batch_size must be at least 2', refused)

    def test_an_oversized_template_is_rejected(self) -> None:
        group = Group(ResourceGroup)
        for policy in ({}, {'batch_create': {'max_batch_size': 500}}):
            group.policy = policy
            self.assertRegex(
                self.refusal(group, 1000, 'x' * 20_000),
                '^group: the definitions of 1000 members, 200.. characters each, are '
                'more than 16777216 characters; a shorter one or fewer members would '
                'fit$',
            )

    def test_a_failed_update_continues_with_the_rest(self) -> None:
        group = self.group_of(3)
        group.properties = properties.fit(
            ResourceGroup, {'count': 3, 'resource_def': definition('new')}
        )
        group.follow(ResourceGroup().expand(group.context(), group.members).batches[:1])
        self.assertEqual(
            [all_of('0 1 2', '1 2'), all_of('0 1 2', '0 1 2')], self.change(group, 3)
        )


class CreationTest(base.TestCase):
    def test_members_are_created_in_batches_with_a_pause_and_updated_at_once(
        self,
    ) -> None:
        policy = {'max_batch_size': 2, 'pause_time': 3}
        group = Group(ResourceGroup, {'batch_create': policy})
        self.assertEqual(
            [all_of('0 1'), all_of('0 1 2 3'), all_of('0 1 2 3 4')],
            group.update(count=5, resource_def=definition()),
        )
        self.assertEqual([3, 3, 3], [batch.pause for batch in group.batches])
        steps = group.update(count=9, resource_def=definition())
        self.assertEqual([all_of('0 1 2 3 4 5 6 7 8')], steps)

    def test_too_many_creation_batches_are_rejected(self) -> None:
        group = Group(ResourceGroup, {'batch_create': {}})
        error = self.assertRaises(
            exceptions.Invalid, group.update, count=100_000, resource_def=definition()
        )
        self.assertIn('max_batch_size must be at least 40000', str(error))


class PolicyTest(base.TestCase):
    def test_all_problems_are_reported(self) -> None:
        sizes = {'min_in_service': 'x', 'max_batch_size': 0, 'pause_time': -1}
        policies: tuple[tuple[str, Any, list[str]], ...] = (
            (
                'rolling_update',
                {'min': 1, **sizes},
                [
                    '.min: is unknown; there are min_in_service, max_batch_size, '
                    'pause_time',
                    ".min_in_service: 'x' is no number from 0 on",
                    '.max_batch_size: 0 is no number from 1 on',
                    '.pause_time: -1 is no number from 0 on',
                ],
            ),
            (
                'rolling',
                {},
                [': is unknown; group takes rolling_update and batch_create'],
            ),
            (
                'batch_create',
                {'min_in_service': 1},
                ['.min_in_service: is unknown; there are max_batch_size, pause_time'],
            ),
            (
                'rolling_update',
                3,
                [': must be a mapping, with max_batch_size and pause_time'],
            ),
        )
        for name, policy, problems in policies:
            error = self.assertRaises(
                exceptions.StackValidationFailed,
                Group(ResourceGroup, {name: policy}).update,
                resource_def=definition(),
            )
            expected = [f'update_policy.{name}{problem}' for problem in problems]
            self.assertEqual(expected, error.problems)


class AttributesTest(base.TestCase):
    def test_attributes_combine_those_of_all_members(self) -> None:
        group = Group(ResourceGroup)
        group.update(count=2, resource_def=definition())
        self.assertEqual(
            {
                'refs': ['ref-0', 'ref-1'],
                'refs_map': {'0': 'ref-0', '1': 'ref-1'},
                'attributes': {
                    'value': {'0': 'value of 0', '1': 'value of 1'},
                    'more': {'0': ['0'], '1': ['1']},
                },
                'value': ['value of 0', 'value of 1'],
                'more': [['0'], ['1']],
                'removed_rsrc_list': [],
            },
            group.attributes(),
        )
