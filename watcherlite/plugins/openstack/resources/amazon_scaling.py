"""Groups of instances that alarms resize, with the names and properties of AWS."""

import dataclasses
from collections.abc import Mapping, Sequence
from typing import Any, ClassVar

from watcherlite.domain import groups
from watcherlite.domain.groups import Pace
from watcherlite.domain.resource_results import (
    Expansion,
    Member,
    PassOn,
    Property,
    Ready,
)
from watcherlite.plugins.base import NestedContext, ResourceContext
from watcherlite.plugins.openstack.resources import fields
from watcherlite.plugins.openstack.resources.amazon import PAIRS
from watcherlite.plugins.openstack.resources.renamed_context import (
    RenamedContext,
    renaming,
)
from watcherlite.plugins.resource_handlers import auto_scaling_group as native
from watcherlite.plugins.resource_handlers import group_batches, scaling_policy

_COOLDOWN = {**fields.INTEGER, 'minimum': 0}
_IGNORED = 'Accepted and ignored.'
_GROUP = renaming(
    {
        'MinSize': 'min_size',
        'MaxSize': 'max_size',
        'DesiredCapacity': 'desired_capacity',
        'Cooldown': 'cooldown',
    }
)


class AutoScalingGroup(native.AutoScalingGroup):
    """Create between `MinSize` and `MaxSize` instances of a launch configuration."""

    description = 'A number of identical instances, changed by alarms.'
    sizes: ClassVar[tuple[str, str, str]] = ('MinSize', 'MaxSize', 'DesiredCapacity')
    properties: ClassVar[Mapping[str, Property]] = {
        'LaunchConfigurationName': Property(
            fields.TEXT,
            'The value of get_resource of an AWS::AutoScaling::LaunchConfiguration.',
            required=True,
            updatable=True,
        ),
        'MinSize': Property(
            group_batches.COUNT,
            'The minimum number of instances.',
            required=True,
            updatable=True,
        ),
        'MaxSize': Property(
            group_batches.COUNT,
            'The maximum number of instances.',
            required=True,
            updatable=True,
        ),
        'DesiredCapacity': Property(
            group_batches.COUNT,
            'The number of instances after every update.',
            updatable=True,
        ),
        'Cooldown': Property(
            _COOLDOWN,
            'Seconds after a scaling during which it is not scaled again.',
            updatable=True,
        ),
        'VPCZoneIdentifier': Property(
            {**fields.TEXTS, 'maxItems': 1}, 'The name or id of the subnet, in a list.'
        ),
        'Tags': Property(PAIRS, 'The metadata of the instances.', updatable=True),
        'AvailabilityZones': Property({'type': 'array'}, _IGNORED),
        'HealthCheckGracePeriod': Property(fields.INTEGER, _IGNORED),
        'HealthCheckType': Property(fields.one_of('EC2', 'ELB'), _IGNORED),
    }

    def definition(self, context: NestedContext) -> Mapping[str, Any]:
        found = super().definition(context)
        subnets = context.properties.get('VPCZoneIdentifier')
        if not subnets:
            return found
        return {**found, 'properties': {**found['properties'], 'SubnetId': subnets[0]}}

    def pace(self, context: NestedContext) -> Pace | None:
        name = group_batches.AWS_SCALING_UPDATE
        given = group_batches.policies(context, (name,)).get(name)
        return None if given is None else group_batches.pace(given, name)

    def expand(self, context: NestedContext, members: Sequence[Member]) -> Expansion:
        return super().expand(RenamedContext(context, _GROUP), members)

    def adopted(self, context: NestedContext, members: Sequence[Member]) -> Expansion:
        return super().adopted(RenamedContext(context, _GROUP), members)

    def adjust(
        self,
        context: NestedContext,
        members: Sequence[Member],
        details: Mapping[str, Any],
    ) -> Expansion:
        return super().adjust(RenamedContext(context, _GROUP), members, details)


_POLICY = renaming(
    {
        'AutoScalingGroupName': 'auto_scaling_group_id',
        'AdjustmentType': 'adjustment_type',
        'ScalingAdjustment': 'scaling_adjustment',
        'MinAdjustmentStep': 'min_adjustment_step',
        'Cooldown': 'cooldown',
    }
)
_PERCENT = 'PercentChangeInCapacity'
#: Type of an adjustment -> that of OS::Heat::ScalingPolicy.
_ADJUSTMENTS = {
    'ChangeInCapacity': groups.CHANGE,
    'ExactCapacity': groups.EXACT,
    _PERCENT: groups.PERCENT,
}


class ScalingPolicy(scaling_policy.ScalingPolicy):
    """Change the size of a group when it is signalled."""

    steps: ClassVar[tuple[str, str]] = ('AdjustmentType', 'MinAdjustmentStep')
    percent: ClassVar[str] = _PERCENT
    properties: ClassVar[Mapping[str, Property]] = {
        'AutoScalingGroupName': Property(
            {'type': 'string', 'minLength': 1},
            'The group: its value of get_resource.',
            required=True,
        ),
        'AdjustmentType': Property(
            {'enum': list(_ADJUSTMENTS)},
            'The meaning of `ScalingAdjustment`: a number of instances to add, the new '
            'number of instances, or a percentage.',
            required=True,
            updatable=True,
        ),
        'ScalingAdjustment': Property(
            fields.INTEGER, 'The amount of the change.', required=True, updatable=True
        ),
        'MinAdjustmentStep': Property(
            {**fields.INTEGER, 'minimum': 0},
            'The minimum number of instances by which a percentage changes the size.',
            updatable=True,
        ),
        'Cooldown': Property(
            _COOLDOWN,
            'Seconds after a scaling by this policy during which it is ignored.',
            updatable=True,
        ),
    }
    attributes: ClassVar[Mapping[str, str]] = {
        'AlarmUrl': 'The URL for signals, with a token, which is its only credential.'
    }

    def reference(self, context: ResourceContext) -> str:
        """Return the URL."""
        return str(context.attributes.get('AlarmUrl') or context.resource_name)

    def issue(self, context: ResourceContext) -> Ready:
        """Return the URL with a new token, and the digest of the token."""
        issued = super().issue(context)
        url = (issued.attributes or {}).get('alarm_url')
        return dataclasses.replace(issued, attributes={'AlarmUrl': url})

    def signal(
        self, context: ResourceContext, details: Mapping[str, Any]
    ) -> Ready | PassOn:
        return super().signal(RenamedContext(context, _native_policy), details)


def _native_policy(properties: Mapping[str, Any]) -> dict[str, Any]:
    """Return the properties of an OS::Heat::ScalingPolicy."""
    kind = _ADJUSTMENTS[properties['AdjustmentType']]
    return {**_POLICY(properties), 'adjustment_type': kind}
