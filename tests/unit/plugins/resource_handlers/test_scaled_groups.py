"""OS::Heat::InstanceGroup, OS::Heat::AutoScalingGroup, OS::Heat::ScalingPolicy."""

import datetime
from typing import Any

from tests import base
from tests.unit.plugins.resource_handlers.group_world import Context, Group
from watcherlite import exceptions
from watcherlite.domain import bearer_tokens
from watcherlite.domain.resource_results import PassOn, Ready
from watcherlite.plugins import options as plugin_options
from watcherlite.plugins import properties
from watcherlite.plugins.resource_handlers.auto_scaling_group import AutoScalingGroup
from watcherlite.plugins.resource_handlers.instance_group import InstanceGroup
from watcherlite.plugins.resource_handlers.scaling_policy import ScalingPolicy

OLD: dict[str, Any] = {'type': 'OS::Heat::Value', 'properties': {'value': 'old'}}
NEW: dict[str, Any] = {'type': 'OS::Heat::Value', 'properties': {'value': 'new'}}


class InstanceGroupTest(base.TestCase):
    def group(self, size: int, policy: dict[str, Any] | None = None) -> Group:
        group = Group(InstanceGroup, policy)
        for at in range(1, size + 1):
            # Created one by one, so that their ages differ.
            group.update(size=at, resource=OLD)
        return group

    def test_members_have_generated_names_which_growing_keeps(self) -> None:
        group = Group(InstanceGroup)
        (step,) = group.update(size=3, resource=OLD)
        self.assertEqual([OLD] * 3, list(step.values()))
        self.assertEqual({12}, {len(name) for name in step})
        (grown,) = group.update(size=5, resource=OLD)
        self.assertEqual((5, set()), (len(grown), set(step) - set(grown)))

    def test_the_oldest_members_are_removed_first(self) -> None:
        group = self.group(4)
        oldest = sorted(group.members, key=lambda member: member.created_at)
        group.update(size=2, resource=OLD)
        self.assertEqual({one.name for one in oldest[2:]}, set(group.names))

    def test_a_failed_member_keeps_its_name_or_is_removed_before_older_ones(
        self,
    ) -> None:
        group = self.group(4)
        names = set(group.names)
        youngest = max(group.members, key=lambda member: member.created_at).name
        for size, expected in ((4, names), (3, names - {youngest})):
            group.mark(youngest)
            (step,) = group.update(size=size, resource=OLD)
            self.assertEqual([expected] * 2, [set(step), set(group.names)])

    def test_a_failed_member_is_the_first_in_a_rolling_update(self) -> None:
        group = self.group(3, {'rolling_update': {'max_batch_size': 1}})
        old = [
            one.name for one in sorted(group.members, key=lambda one: one.created_at)
        ]
        broken = old[2]
        group.mark(broken)
        steps = group.update(size=3, resource=NEW)
        new = [{name for name in step if step[name] == NEW} for step in steps]
        self.assertEqual([{broken}, {broken, old[0]}, set(old)], new)
        self.assertEqual([set(old)] * 3, [set(step) for step in steps])

    def test_without_a_policy_all_change_at_once(self) -> None:
        group = self.group(3)
        steps = group.update(size=3, resource=NEW)
        self.assertEqual([dict.fromkeys(group.names, NEW)], steps)

    def test_aws_update_policies_are_supported(self) -> None:
        pace = {'MaxBatchSize': '2', 'PauseTime': 'PT1M30S'}
        policy = {'MinInstancesInService': '1', **pace}
        group = self.group(3, {'RollingUpdate': policy})
        steps = group.update(Size=3, resource=NEW)
        new = [sum(one == NEW for one in step.values()) for step in steps]
        self.assertEqual([2, 3], new)
        self.assertEqual([90, 90], [batch.pause for batch in group.batches])

    def test_exactly_one_size_is_required(self) -> None:
        group = Group(InstanceGroup)
        for sizes in ({}, {'size': 1, 'Size': 1}):
            error = self.assertRaises(
                exceptions.StackValidationFailed, group.update, resource=OLD, **sizes
            )
            problem = 'properties.size: must be given, without Size'
            self.assertEqual([problem], error.problems, sizes)

    def test_names_are_repeatable_after_the_loss_of_a_worker(self) -> None:
        group = Group(InstanceGroup)
        group.properties = properties.fit(InstanceGroup, {'size': 3, 'resource': OLD})
        first, again = (InstanceGroup().expand(group.context(), []) for _ in range(2))
        self.assertEqual(first, again)

    def test_attributes_exclude_failed_members(self) -> None:
        group = self.group(2)
        broken, well = group.names
        group.mark(broken)
        self.assertEqual(
            {
                'refs': [f'ref-{well}'],
                'refs_map': {well: f'ref-{well}'},
                'outputs': {
                    'value': {well: f'value of {well}'},
                    'more': {well: [well]},
                },
                'outputs_list': {'value': [f'value of {well}'], 'more': [[well]]},
                'current_size': 1,
            },
            group.attributes(),
        )


class AutoScalingGroupTest(base.TestCase):
    def setUp(self) -> None:
        super().setUp()
        self.group = Group(AutoScalingGroup)

    def update(self, resource: dict[str, Any] = OLD, **more: Any) -> list[int]:
        """Return the sizes of the steps."""
        desired = {'min_size': 1, 'max_size': 5, 'resource': resource, **more}
        return [len(step) for step in self.group.update(**desired)]

    def signal(self, adjustment: float = 1, **more: Any) -> tuple[int, str]:
        """Return the number of members after a signal, and the reason if unchanged."""
        details = {
            'adjustment_type': 'change_in_capacity',
            'scaling_adjustment': adjustment,
            **more,
        }
        reason = self.group.signal(**details)
        return len(self.group.members), reason

    def test_the_size_is_the_desired_or_minimum_size_and_within_its_bounds(
        self,
    ) -> None:
        self.assertEqual([1], self.update())
        self.group = Group(AutoScalingGroup)
        self.assertEqual([4], self.update(desired_capacity=4))
        self.assertEqual([3], self.update(max_size=3))
        self.assertEqual([4], self.update(min_size=4))

    def test_an_update_without_a_desired_capacity_keeps_the_size(self) -> None:
        self.update(desired_capacity=2)
        self.signal(2)
        names = set(self.group.names)
        self.group.mark(self.group.names[0])
        self.assertEqual([4], self.update())
        self.assertEqual(names, set(self.group.names))
        self.assertEqual([2], self.update(desired_capacity=2))
        self.signal(2)
        self.assertEqual([2], self.update(desired_capacity=2))

    def test_members_change_one_by_one_by_default(self) -> None:
        self.update(desired_capacity=3)
        steps = self.group.update(min_size=1, max_size=5, resource=NEW)
        new = [sum(one == NEW for one in step.values()) for step in steps]
        self.assertEqual([1, 2, 3], new)

    def test_members_change_at_the_configured_pace(self) -> None:
        self.update(desired_capacity=3)
        pace = {'min_in_service': 3, 'max_batch_size': 3, 'pause_time': 0.5}
        sizes = self.update(NEW, rolling_updates=pace)
        self.assertEqual([6, 3], sizes)
        self.assertEqual([1, 1], [batch.pause for batch in self.group.batches])

    def test_signals_change_the_size_between_its_bounds(self) -> None:
        self.update()
        self.assertEqual((3, ''), self.signal(2))
        self.assertEqual((5, ''), self.signal(9))
        self.assertEqual((5, 'Ignored: it already has 5 members'), self.signal())
        self.assertEqual((1, ''), self.signal(-9))
        more = {'adjustment_type': 'exact_capacity'}
        self.assertEqual((4, ''), self.signal(4, **more))
        more = {'adjustment_type': 'percent_change_in_capacity'}
        self.assertEqual((2, ''), self.signal(-50, **more))
        self.assertEqual((4, ''), self.signal(10, **more, min_adjustment_step=2))

    def test_failed_members_count_when_scaling_out_and_are_removed_first(self) -> None:
        self.update(desired_capacity=3)
        for adjustment, size, kept in ((1, 4, True), (-1, 3, False)):
            broken = self.group.names[2]
            self.group.mark(broken)
            self.assertEqual((size, ''), self.signal(adjustment))
            self.assertEqual(kept, broken in self.group.names)

    def test_a_cooldown_follows_scaling_unless_it_failed(self) -> None:
        self.update(cooldown=60)
        details = {'adjustment_type': 'change_in_capacity', 'scaling_adjustment': 1}
        context = self.group.context()
        result = AutoScalingGroup().adjust(context, self.group.members, details)
        # Its stack fails, so nothing is stored.
        self.group.data = result.data or {}
        self.assertEqual((3, ''), self.signal())
        scaled = self.group.time
        until = scaled + datetime.timedelta(seconds=60)
        reason = (
            'Ignored: the cooldown of the last scaling lasts until '
            f'{until:%Y-%m-%dT%H:%M:%SZ}'
        )
        self.assertEqual((3, reason), self.signal())
        self.group.time = until
        self.assertEqual((4, ''), self.signal())

    def test_each_policy_has_its_own_cooldown(self) -> None:
        self.update()
        self.signal(policy='up', cooldown=60)
        self.assertEqual(2, self.signal(policy='up', cooldown=60)[0])
        self.assertEqual((3, ''), self.signal(policy='other', cooldown=60))
        self.group.time += datetime.timedelta(seconds=60)
        self.assertEqual((4, ''), self.signal(policy='up', cooldown=60))

    def test_a_repeated_signal_scales_once(self) -> None:
        self.update(cooldown=60)
        details = {'adjustment_type': 'change_in_capacity', 'scaling_adjustment': 2}
        handler, members = AutoScalingGroup(), self.group.members
        self.group.actions += 1
        first = handler.adjust(self.group.context(), members, details)
        self.group.data = first.data or {}
        again = handler.adjust(self.group.context(), members, details)
        self.assertEqual(
            (3, first), (len(first.batches[0].template['resources']), again)
        )

    def test_an_update_completes_interrupted_scaling(self) -> None:
        self.update()
        self.signal()
        scaled = self.group.data['scaled']
        self.group.data = {**self.group.data, 'scaling': {'action': 'x', 'policy': ''}}
        self.update()
        self.assertEqual({'size': 2, 'scaled': scaled}, dict(self.group.data))

    def test_an_invalid_signal_is_rejected_with_the_expected_values(self) -> None:
        self.update()
        error = self.assertRaises(exceptions.Invalid, self.group.signal, what='this')
        self.assertEqual(
            'A signal for group needs scaling_adjustment, a number, and '
            'adjustment_type, one of change_in_capacity, exact_capacity, '
            'percent_change_in_capacity; an OS::Heat::ScalingPolicy sends both',
            str(error),
        )
        error = self.assertRaises(exceptions.Invalid, self.signal, cooldown='long')
        self.assertEqual(
            "cooldown of a signal must be a number, not 'long'", str(error)
        )

    def test_inconsistent_sizes_and_update_policies_are_rejected(self) -> None:
        external = 'is not between min_size, 1, and max_size, 5'
        for policy, sizes, problem in (
            ({}, {'min_size': 6}, 'properties.min_size: 6 is more than max_size, 5'),
            ({}, {'desired_capacity': 6}, f'properties.desired_capacity: 6 {external}'),
            ({}, {'desired_capacity': 0}, f'properties.desired_capacity: 0 {external}'),
            (
                *({'rolling_update': {}}, {}),
                'update_policy.rolling_update: is unknown; group takes none',
            ),
        ):
            self.group.policy = policy
            error = self.assertRaises(
                exceptions.StackValidationFailed, self.update, **sizes
            )
            self.assertEqual([problem], error.problems)
        unknown = dict.fromkeys(('min_size', 'max_size', 'desired_capacity'))
        self.assertIsNone(AutoScalingGroup().validate(unknown))

    def test_only_auto_scaling_groups_accept_adjustments(self) -> None:
        self.assertEqual(
            (True, False), (AutoScalingGroup.adjusts(), InstanceGroup.adjusts())
        )


class ScalingPolicyTest(base.TestCase):
    def policy(self, **desired: Any) -> dict[str, Any]:
        return properties.fit(
            ScalingPolicy,
            {
                'auto_scaling_group_id': 'the-group',
                'adjustment_type': 'change_in_capacity',
                'scaling_adjustment': '2',
                **desired,
            },
        )

    def handler(self) -> ScalingPolicy:
        return ScalingPolicy(
            plugin_options.standalone_group(
                ScalingPolicy, {'endpoint': 'https://api:9322/'}
            )
        )

    def signal(self, details: dict[str, Any], **desired: Any) -> Any:
        context = Context(self.policy(**desired), resource_name='up')
        return ScalingPolicy().signal(context, details)

    def test_a_signal_is_forwarded_to_the_group(self) -> None:
        amount = {'adjustment_type': 'change_in_capacity', 'scaling_adjustment': 2}
        details = {**amount, 'policy': 'up'}
        kind = {'adjustment_type': 'percent_change_in_capacity'}
        desired = {**kind, 'min_adjustment_step': 3, 'cooldown': 60}
        for more in ({}, desired):
            self.assertEqual(
                PassOn('the-group', {**details, **more}), self.signal({}, **more)
            )
        group = Group(AutoScalingGroup)
        group.update(min_size=1, max_size=5, resource=OLD)
        self.assertEqual('', group.signal(**self.signal({}).details))
        self.assertEqual(3, len(group.members))

    def test_an_alarm_in_another_state_is_ignored(self) -> None:
        ignored = Ready(reason='Ignored: the alarm is in the state ok')
        for details in ({'current': 'ok'}, {'state': 'OK'}):
            self.assertEqual(ignored, self.signal(details))
        self.assertIsInstance(self.signal({'current': 'ALARM'}), PassOn)

    def test_the_signal_url_is_an_attribute(self) -> None:
        context = Context(self.policy(), resource_name='up & on')
        handler = self.handler()

        made = handler.create(context)

        url = made.attributes['signal_url']
        begin = 'https://api:9322/orchestration/v1/signals/stack-uuid/up%20%26%20on'
        address, _, token = url.partition('?token=')
        self.assertEqual(
            (begin, 43, 'around-group-1', url),
            (address, len(token), made.physical_id, made.attributes['alarm_url']),
        )
        digest = {'signal_token_digest': bearer_tokens.digest_of(token)}
        self.assertEqual(digest, made.data)
        self.assertNotEqual(made, handler.create(context))

    def test_an_update_issues_a_missing_token(self) -> None:
        before = Context(self.policy(), resource_name='up')
        issued = self.handler().update(before)

        self.assertIn('?token=', issued.attributes['signal_url'])
        after = Context(self.policy(), resource_name='up', data=issued.data)
        self.assertEqual(Ready(), self.handler().update(after))

    def test_a_minimum_step_requires_a_percentage(self) -> None:
        error = self.assertRaises(
            exceptions.StackValidationFailed,
            ScalingPolicy().validate,
            self.policy(min_adjustment_step=1),
        )
        self.assertEqual(
            [
                'properties.min_adjustment_step: only goes with the adjustment_type '
                'percent_change_in_capacity, not with change_in_capacity'
            ],
            error.problems,
        )
