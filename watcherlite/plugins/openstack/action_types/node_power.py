"""The action type that switches a bare metal node on or off."""

import urllib.parse
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, ClassVar

from watcherlite import exceptions
from watcherlite.domain.outcomes import Failed, Outcome, Skipped
from watcherlite.plugins import base
from watcherlite.plugins.openstack import errors
from watcherlite.plugins.openstack.action_types.cloud_action import (
    GOAL,
    NAME,
    STEP,
    CloudAction,
    Goal,
)

if TYPE_CHECKING:
    from openstack.baremetal.v1.node import Node

BAREMETAL, COMPUTE = 'baremetal', 'compute'
ON, OFF = 'on', 'off'
_OPPOSITE = {ON: OFF, OFF: ON}
#: The keys of the goal.
NODE, STATE = 'node', 'state'
#: The state of a node by the power state that ironic reports.
_STATES = {
    'power on': ON,
    'rebooting': ON,
    'soft reboot': ON,
    'power off': OFF,
    'soft power off': OFF,
}
#: The key of `extra` of a node with the uuid of its hypervisor.
HYPERVISOR = 'compute_node_id'


class ChangeNodePowerState(CloudAction['Node']):
    """Switch a bare metal node on or off by ironic."""

    description = 'Switches a bare metal node on or off through ironic.'
    service = BAREMETAL
    is_cloud_wide = True
    schema: ClassVar[Mapping[str, Any]] = {
        'type': 'object',
        'properties': {
            'resource_id': {
                **NAME,
                'pattern': '^[A-Za-z0-9._~-]+$',
                'description': 'the node: its uuid or name',
            },
            'resource_name': {**NAME, 'description': 'its name, for readers'},
            'state': {'type': 'string', 'enum': [ON, OFF]},
        },
        'required': ['resource_id', 'state'],
        'additionalProperties': False,
    }

    def goal(self, context: base.ActionContext) -> Goal:
        inputs = context.inputs
        return {NODE: inputs['resource_id'], STATE: inputs['state']}

    def read(self, context: base.ActionContext, goal: Goal) -> 'Node | None':
        cloud = self.connect(context)
        try:
            with errors.translated(BAREMETAL, f'Node {goal[NODE]}'):
                node: Node = cloud.baremetal.get_node(goal[NODE])
        except exceptions.NotFound:
            return None
        return node

    def check(self, context: base.ActionContext, goal: Goal) -> Outcome | None:
        node = self.read(context, goal)
        if node is None:
            return Skipped(f'Node {goal[NODE]} not found')
        if self.is_running(node, goal) or self.is_continued(node, goal):
            return None
        if self.has_effect(node, goal):
            return Skipped(f'Node {goal[NODE]} is already {goal[STATE]}')
        return self._check_unused(context, node, goal)

    def has_effect(self, node: 'Node', goal: Goal) -> bool:
        return node.target_power_state is None and _state(node) == goal[STATE]

    def is_running(self, node: 'Node', goal: Goal) -> bool:
        return _STATES.get(node.target_power_state or '') == goal[STATE]

    def outputs(self, node: 'Node', goal: Goal) -> dict[str, Any]:
        return {'power_state': node.power_state}

    def send(self, context: base.ActionContext, node: 'Node', goal: Goal) -> None:
        refused = self._check_unused(context, node, goal)
        if refused is not None:
            # Servers were placed on the host since it was checked.
            raise exceptions.Conflict(refused.reason)
        with errors.translated(BAREMETAL, f'Node {goal[NODE]}'):
            self.connect(context).baremetal.set_node_power_state(
                node.id, f'power {goal[STATE]}'
            )

    def advance(
        self, context: base.ActionContext, node: 'Node', token: Mapping[str, Any]
    ) -> Outcome:
        if node.target_power_state is not None:
            return self.wait(token, token[STEP])
        goal = token[GOAL]
        text = f'Node {goal[NODE]} is in power state {node.power_state}'
        if node.last_error:
            text = f'{text}: {errors.clean(node.last_error)}'
        return Failed(text)

    def on_missing(self, goal: Goal) -> Outcome:
        return Failed(f'Node {goal[NODE]} not found')

    def revert(self, context: base.ActionContext) -> Outcome:
        """Return the node to the opposite state."""
        goal = self.goal(context)
        return self.change(context, {**goal, STATE: _OPPOSITE[goal[STATE]]})

    def _check_unused(
        self, context: base.ActionContext, node: 'Node', goal: Goal
    ) -> Failed | None:
        """Return Failed for a compute host with servers that would be switched off."""
        uuid = (node.extra or {}).get(HYPERVISOR)
        if goal[STATE] != OFF or not uuid:
            return None
        place = urllib.parse.quote(str(uuid), safe='')
        compute = self.connect(context).compute
        with errors.translated(COMPUTE, f'Hypervisor {uuid}'):
            response = compute.get(
                f'/os-hypervisors/{place}?with_servers=true', microversion='2.53'
            )
        if response.status_code == 404:
            return None
        if response.status_code != 200:
            return Failed(
                f'The servers of hypervisor {uuid} cannot be read: the compute service '
                f'answers {response.status_code}'
            )
        found = response.json()['hypervisor']
        count = len(found.get('servers') or ())
        if not count:
            return None
        return Failed(
            f'Compute node {found["hypervisor_hostname"]} has {count} servers and is '
            'not switched off'
        )


def _state(node: 'Node') -> str | None:
    return _STATES.get(node.power_state or '')
