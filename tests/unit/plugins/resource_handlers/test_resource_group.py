"""The resource type OS::Heat::ResourceGroup: the templates of its batches."""

from typing import Any

from tests import base
from tests.unit.plugins.resource_handlers.group_world import Group
from watcherlite import exceptions
from watcherlite.plugins import properties
from watcherlite.plugins.resource_handlers.resource_group import ResourceGroup


def definition(value: str = 'old') -> dict[str, Any]:
    return {'type': 'OS::Heat::Value', 'properties': {'value': f'{value} %index%'}}


def made(name: str, value: str = 'old') -> dict[str, Any]:
    return {'type': 'OS::Heat::Value', 'properties': {'value': f'{value} {name}'}}


def all_of(names: str, new: str = '') -> dict[str, Any]:
    """Return a template; the names in `new` have the new definition."""
    return {
        name: made(name, 'new' if name in new.split() else 'old')
        for name in names.split()
    }


class SizeTest(base.TestCase):
    """Growing and shrinking."""

    def setUp(self) -> None:
        super().setUp()
        self.group = Group(ResourceGroup)

    def update(self, count: int = 1, value: str = 'old', **more: Any) -> Any:
        return self.group.update(count=count, resource_def=definition(value), **more)

    def test_members_are_numbered_and_get_their_index(self) -> None:
        self.assertEqual([all_of('0 1 2')], self.update(3))

    def test_the_generated_template_is_valid(self) -> None:
        self.update(1)
        self.assertEqual(
            {'heat_template_version': '2021-04-16', 'resources': all_of('0')},
            self.group.batches[0].template,
        )

    def test_the_default_count_is_one(self) -> None:
        self.assertEqual([all_of('0')], self.group.update(resource_def=definition()))

    def test_a_group_may_be_empty(self) -> None:
        self.update(2)
        self.assertEqual([{}], self.update(0))

    def test_the_highest_numbers_are_removed_despite_failed_members(self) -> None:
        self.update(4)
        self.group.mark('1')
        self.assertEqual([all_of('0 1 2')], self.update(3))

    def test_an_update_without_a_change_keeps_failed_members(self) -> None:
        self.update(3)
        self.group.mark('1')
        self.assertEqual([all_of('0 1 2')], self.update(3))

    def test_members_are_sorted_numerically(self) -> None:
        self.assertEqual([str(n) for n in range(12)], list(self.update(12)[0]))

    def test_a_custom_index_variable_is_replaced(self) -> None:
        steps = self.group.update(
            index_var='<n>', resource_def={'type': 'X', 'properties': {'a<n>': '<n>%'}}
        )
        self.assertEqual([{'0': {'type': 'X', 'properties': {'a0': '0%'}}}], steps)


class RemovalTest(base.TestCase):
    """Removal policies."""

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

    def test_members_may_be_listed_by_reference(self) -> None:
        self.update(3)
        self.assertEqual(['1', '2', '3'], self.update(3, 'ref-0'))

    def test_the_mode_update_reuses_unlisted_names(self) -> None:
        self.update(3)
        self.assertEqual(['0', '2'], self.update(2, 'ref-1', mode='update'))
        self.assertEqual(['0', '2'], self.update(2, 'ref-1', mode='update'))
        self.assertEqual(['1', '2'], self.update(2, '0', mode='update'))
        self.assertEqual(['0', '1'], self.update(2, mode='update'))

    def test_removed_names_are_stored_in_the_data(self) -> None:
        self.update(3)
        self.update(2, '1', 'ref-0')
        self.assertEqual(
            {'removed': {'0': 'ref-0', '1': 'ref-1'}}, dict(self.group.data)
        )


class RollingTest(base.TestCase):
    """Rolling updates."""

    def group_of(self, count: int, **policy: Any) -> Group:
        group = Group(ResourceGroup, {'rolling_update': policy})
        group.update(count=count, resource_def=definition())
        return group

    def change(self, group: Group, count: int) -> Any:
        return group.update(count=count, resource_def=definition('new'))

    def test_the_highest_numbers_are_changed_first(self) -> None:
        self.assertEqual(
            [all_of('0 1 2', '1 2'), all_of('0 1 2', '0 1 2')],
            self.change(self.group_of(3, max_batch_size=2), 3),
        )

    def test_surplus_members_are_removed_before_changes(self) -> None:
        self.assertEqual(
            [all_of('0 1', '1'), all_of('0 1', '0 1')], self.change(self.group_of(4), 2)
        )

    def test_a_failed_member_is_changed_first_and_keeps_its_name(self) -> None:
        group = self.group_of(3)
        group.mark('0')
        self.assertEqual(
            [all_of('0 1 2', '0'), all_of('0 1 2', '0 2'), all_of('0 1 2', '0 1 2')],
            self.change(group, 3),
        )

    def test_temporary_members_keep_the_minimum_in_service(self) -> None:
        self.assertEqual(
            [all_of('0 1 2', '2'), all_of('0 1 2', '1 2'), all_of('0 1', '0 1')],
            self.change(self.group_of(2, min_in_service=2), 2),
        )

    def test_a_change_of_the_size_alone_needs_one_batch(self) -> None:
        group = self.group_of(2)
        steps = group.update(count=5, resource_def=definition())
        self.assertEqual([all_of('0 1 2 3 4')], steps)

    def test_batches_have_a_pause(self) -> None:
        group = self.group_of(2, pause_time=7)
        self.change(group, 2)
        self.assertEqual([7, 7], [batch.pause for batch in group.batches])

    def test_pauses_beyond_the_timeout_are_rejected(self) -> None:
        group = self.group_of(4, pause_time=20)
        group.left = 60.0
        error = self.assertRaises(exceptions.Invalid, self.change, group, 4)
        self.assertEqual(
            'group: 4 batches with a pause of 20 seconds between them take at least '
            '60 seconds, and the operation times out in 60; larger batches, or '
            'shorter pauses, would fit',
            str(error),
        )

    def test_too_many_batches_are_rejected_with_a_suggestion(self) -> None:
        group = self.group_of(520)
        error = self.assertRaises(exceptions.Invalid, self.change, group, 520)
        self.assertEqual(
            'group: 520 members in batches of 1 are too many steps; max_batch_size '
            'must be at least 2',
            str(error),
        )
        group.policy = {'rolling_update': {'max_batch_size': 2}}
        self.assertEqual(260, len(self.change(group, 520)))

    def test_a_long_definition_counts_as_several_members(self) -> None:
        group = self.group_of(520)
        error = self.assertRaises(
            exceptions.Invalid,
            group.update,
            count=520,
            resource_def=definition('x' * 1000),
        )
        self.assertIn('max_batch_size must be at least 4', str(error))

    def test_files_count_as_members_of_each_step(self) -> None:
        group = self.group_of(100)
        group.files = {'n.yaml': 'x' * 2_000_000}
        error = self.assertRaises(exceptions.Invalid, self.change, group, 100)
        self.assertIn('max_batch_size must be at least 2', str(error))

    def test_an_oversized_template_is_rejected(self) -> None:
        group = Group(ResourceGroup)
        for policy in ({}, {'batch_create': {'max_batch_size': 500}}):
            group.policy = policy
            error = self.assertRaises(
                exceptions.Invalid,
                group.update,
                count=1000,
                resource_def=definition('x' * 20_000),
            )
            self.assertRegex(
                str(error),
                '^group: the definitions of 1000 members, 200.. characters each, are '
                'more than 16777216 characters; a shorter one or fewer members would '
                'fit$',
            )

    def test_a_failed_update_continues_with_the_rest(self) -> None:
        group = self.group_of(3)
        self.properties = properties.fit(
            ResourceGroup, {'count': 3, 'resource_def': definition('new')}
        )
        said = ResourceGroup()
        group.properties = self.properties
        group.follow(said.expand(group.context(), group.members).batches[:1])
        self.assertEqual(
            [all_of('0 1 2', '1 2'), all_of('0 1 2', '0 1 2')], self.change(group, 3)
        )


class CreationTest(base.TestCase):
    """Creation in batches."""

    def test_members_are_created_in_batches_with_a_pause(self) -> None:
        policy = {'max_batch_size': 2, 'pause_time': 3}
        group = Group(ResourceGroup, {'batch_create': policy})
        self.assertEqual(
            [all_of('0 1'), all_of('0 1 2 3'), all_of('0 1 2 3 4')],
            group.update(count=5, resource_def=definition()),
        )
        self.assertEqual([3, 3, 3], [batch.pause for batch in group.batches])

    def test_too_many_creation_batches_are_rejected(self) -> None:
        group = Group(ResourceGroup, {'batch_create': {}})
        error = self.assertRaises(
            exceptions.Invalid, group.update, count=100_000, resource_def=definition()
        )
        self.assertIn('max_batch_size must be at least 40000', str(error))

    def test_batch_create_does_not_apply_to_updates(self) -> None:
        group = Group(ResourceGroup, {'batch_create': {}})
        group.update(count=1, resource_def=definition())
        steps = group.update(count=4, resource_def=definition())
        self.assertEqual([all_of('0 1 2 3')], steps)


class PolicyTest(base.TestCase):
    """Invalid update policies."""

    def problems(self, policy: Any) -> list[str]:
        group = Group(ResourceGroup, policy)
        error = self.assertRaises(
            exceptions.StackValidationFailed, group.update, resource_def=definition()
        )
        return error.problems

    def test_all_problems_are_reported(self) -> None:
        self.assertEqual(
            [
                'update_policy.rolling_update.min: is unknown; there are '
                'min_in_service, max_batch_size, pause_time',
                "update_policy.rolling_update.min_in_service: 'x' is no number from 0 "
                'on',
                'update_policy.rolling_update.max_batch_size: 0 is no number from 1 on',
                'update_policy.rolling_update.pause_time: -1 is no number from 0 on',
            ],
            self.problems(
                {
                    'rolling_update': {
                        'min': 1,
                        'min_in_service': 'x',
                        'max_batch_size': 0,
                        'pause_time': -1,
                    }
                }
            ),
        )
        self.assertEqual(
            [
                'update_policy.rolling: is unknown; group takes rolling_update and '
                'batch_create'
            ],
            self.problems({'rolling': {}}),
        )
        self.assertEqual(
            [
                'update_policy.batch_create.min_in_service: is unknown; there are '
                'max_batch_size, pause_time'
            ],
            self.problems({'batch_create': {'min_in_service': 1}}),
        )
        self.assertEqual(
            [
                'update_policy.rolling_update: must be a mapping, with max_batch_size '
                'and pause_time'
            ],
            self.problems({'rolling_update': 3}),
        )


class AttributesTest(base.TestCase):
    """The values of get_attr."""

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
