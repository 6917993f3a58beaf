"""The policy that distributes requests over the nodes of a cluster."""

import logging
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, ClassVar
from urllib import parse

from watcherlite.domain.clusters import Node
from watcherlite.plugins.base import Policy, PolicyContext
from watcherlite.plugins.policies import balancing_schema, sizes

LOG = logging.getLogger(__name__)

#: In the data of a node that receives requests: its id at the load balancer.
MEMBER = 'lb_member'
#: In the data of a cluster: uuid of the policy -> the address of the load balancer.
SHOWN = 'loadbalancers'
#: The possible paths to the address of a node, and to its port; `url` is that of its
#: health check.
ADDRESSES = (
    'attributes.address',
    'attributes.ip',
    'metadata.address',
    'url.host',
    'properties.health.host',
)
PORTS = ('attributes.port', 'metadata.port', 'url.port', 'properties.health.port')

_SHRINKING = frozenset(
    {
        sizes.DEL_NODES,
        sizes.SCALE_IN,
        sizes.RESIZE,
        sizes.REPLACE_NODES,
        sizes.NODE_DELETE,
    }
)
#: The same for actions that change or check nodes: their addresses may change.
_CHANGING = frozenset(
    {
        sizes.ADD_NODES,
        sizes.SCALE_OUT,
        sizes.CHECK,
        sizes.RECOVER,
        sizes.UPDATE,
        sizes.NODE_CREATE,
        sizes.NODE_CHECK,
        sizes.NODE_RECOVER,
        sizes.NODE_UPDATE,
    }
)
#: The maximum number of calls of a driver because members have changed.
_ROUNDS = 10


class LoadBalance(Policy):
    """Remove nodes from the load balancer before they are deleted; add new ones.

    Membership is recorded in the data of the nodes. A driver receives all members in
    each call, so calls can be repeated.
    """

    description = 'The distribution of requests over the nodes of a cluster.'
    priority = 500
    before = _SHRINKING
    after = _SHRINKING | _CHANGING
    schema = balancing_schema.SCHEMA
    support_status: ClassVar = (
        {'version': '1.0', 'status': 'SUPPORTED', 'since': '2016.04'},
        {'version': '1.1', 'status': 'SUPPORTED', 'since': '2018.01'},
        {'version': '1.2', 'status': 'SUPPORTED', 'since': '2020.02'},
        {'version': '1.3', 'status': 'SUPPORTED', 'since': '2020.03'},
    )

    def attach(self, context: PolicyContext) -> Mapping[str, Any]:
        """Create the load balancer with the healthy nodes."""
        self._set_members(context, context.nodes)
        try:
            data = self._apply(context)
        except BaseException:
            # The policy is not attached: the marks would never be removed.
            self._delete_members(context)
            raise
        context.save(cluster_data={SHOWN: {context.policy_uuid: dict(data)}})
        return {
            'driver': context.properties['driver'],
            'loadbalancer': _name(context),
            'preexisting': False,
        }

    def detach(self, context: PolicyContext) -> None:
        context.driver(context.properties['driver']).remove(_name(context))
        context.save(cluster_data={SHOWN: None})
        self._delete_members(context)

    def pre_op(self, context: PolicyContext, data: dict[str, Any]) -> None:
        """Remove the nodes that are about to be deleted."""
        going = self._nodes_to_remove(context, data)
        members = {node.uuid for node in context.nodes if MEMBER in node.data}
        leaving = [uuid for uuid in going if uuid in members]
        if leaving:
            context.save(node_data={uuid: {MEMBER: None} for uuid in leaving})
        if not going:
            return
        try:
            # When called again, they are no longer members; the driver may not know
            # yet.
            self._apply(context)
        except BaseException:
            # The action fails, the nodes are kept, and post_op is not called.
            back = [node for node in context.refresh() if node.uuid in going]
            self._set_members(context, back)
            raise

    def post_op(self, context: PolicyContext, data: dict[str, Any]) -> None:
        """Add new nodes, and remove unhealthy ones.

        If the action failed, nodes that were to be removed are added again.
        """
        nodes = context.refresh()
        if context.node is not None:
            # Concurrent actions update the membership of other nodes themselves.
            nodes = [node for node in nodes if node.uuid == context.node.uuid]
        self._set_members(context, nodes)
        self._apply(context)

    def _nodes_to_remove(
        self, context: PolicyContext, data: dict[str, Any]
    ) -> list[str]:
        """Return the nodes to remove; select them if no policy has."""
        if context.action_type == sizes.REPLACE_NODES:
            return list(context.inputs['candidates'])
        count = -sizes.change(context, data)
        if count <= 0:
            return []
        if context.node is not None:
            return [context.node.uuid]
        decided = data.get(sizes.DELETION) or {}
        candidates = decided.get('candidates') or context.inputs.get('candidates')
        if candidates:
            return list(candidates)
        uuids = sizes.victims(context, count, decided)
        data[sizes.DELETION] = {**decided, 'count': len(uuids), 'candidates': uuids}
        return uuids

    def _set_members(self, context: PolicyContext, nodes: Iterable[Node]) -> None:
        """Record which of these nodes are members: the healthy ones."""
        changes: dict[str, Mapping[str, Any]] = {}
        for node in nodes:
            fit = node.active and self._address(context, node) is not None
            if fit != (MEMBER in node.data):
                changes[node.uuid] = {MEMBER: node.uuid if fit else None}
        if changes:
            context.save(node_data=changes)

    def _delete_members(self, context: PolicyContext) -> None:
        members = [node for node in context.refresh() if MEMBER in node.data]
        context.save(node_data={node.uuid: {MEMBER: None} for node in members})

    def _apply(self, context: PolicyContext) -> Mapping[str, Any]:
        """Apply the members, until they no longer change during the call.

        Actions on several nodes may run concurrently: the last call has read the
        members after all other changes, so the final state is correct.
        """
        driver = context.driver(context.properties['driver'])
        members = self._members(context)
        data: Mapping[str, Any] = {}
        for _ in range(_ROUNDS):
            data = driver.apply(_name(context), context.properties, members)
            known, members = members, self._members(context)
            if members == known:
                break
        return data

    def _members(self, context: PolicyContext) -> list[dict[str, Any]]:
        members = []
        for node in context.refresh():
            if MEMBER not in node.data:
                continue
            address = self._address(context, node)
            if address is not None:
                members.append(
                    {
                        'id': node.uuid,
                        'name': node.name,
                        'address': address,
                        'port': self._port(context, node),
                    }
                )
        return members

    def _address(self, context: PolicyContext, node: Node) -> str | None:
        named = context.properties['pool'].get('member_address')
        found = _first_value(node, ADDRESSES if named is None else (named,))
        if isinstance(found, str) and found:
            return found
        LOG.warning(
            'Node %s (%s) of cluster %s receives no requests by policy %s: its '
            'address is in none of %s',
            node.name,
            node.uuid,
            context.cluster.uuid,
            context.name,
            ', '.join(ADDRESSES) if named is None else named,
        )
        return None

    def _port(self, context: PolicyContext, node: Node) -> int:
        pool = context.properties['pool']
        named = pool.get('member_port')
        found = _first_value(node, PORTS if named is None else (named,))
        text = str(found)
        if found is None or isinstance(found, bool) or not text.isdecimal():
            return int(pool['protocol_port'])
        return int(text)


def _name(context: PolicyContext) -> str:
    return f'{context.cluster.uuid}-{context.policy_uuid}'


def _first_value(node: Node, places: Sequence[str]) -> Any:
    """Return the first of these paths that a node has."""
    whole = {
        'attributes': node.attributes,
        'metadata': node.metadata,
        'properties': node.properties,
        'data': node.data,
        'url': _url(node),
    }
    for place in places:
        found: Any = whole
        for part in place.split('.'):
            found = found.get(part) if isinstance(found, Mapping) else None
        if found is not None:
            return found
    return None


def _url(node: Node) -> Mapping[str, Any]:
    health = node.properties.get('health')
    text = health.get('url') if isinstance(health, Mapping) else None
    try:
        parts = parse.urlsplit(text if isinstance(text, str) else '')
        return {'host': parts.hostname, 'port': parts.port}
    except ValueError:
        # It has no valid port.
        return {}
