"""The policy that distributes requests over the nodes of a cluster."""

import datetime
import logging
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, ClassVar
from urllib import parse

from watcherlite import exceptions
from watcherlite.domain.clusters import Node
from watcherlite.domain.outcomes import Retry, public_text
from watcherlite.plugins.base import LoadBalancer, Policy, PolicyContext
from watcherlite.plugins.policies import balancing_schema, sizes
from watcherlite.plugins.policies.balancing_schema import HAPROXY

LOG = logging.getLogger(__name__)

#: In the data of a node that receives requests: its id at the load balancer.
MEMBER = 'lb_member'
#: In the data of a cluster: uuid of the policy -> the address of the load balancer.
SHOWN = 'loadbalancers'
# In the same place, while the load balancer is being changed
PENDING_SINCE = 'pending_since'
DRIVER = 'driver'
#: The data of a driver that is shown with the binding.
IDS = ('loadbalancer', 'listener', 'pool', 'healthmonitor', 'preexisting')
#: The possible paths to the address of a node, and to its port; `url` is that of its
#: health check.
ADDRESSES = (
    'attributes.address',
    'attributes.ip',
    'metadata.address',
    'attributes.first_address',
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
#: Seconds until a driver whose service is unavailable is called again.
_UNAVAILABLE = 10.0


class LoadBalance(Policy):
    """Remove nodes from the load balancer before they are deleted; add new ones.

    Membership is recorded in the data of the nodes. A driver receives all members in
    each call, so calls can be repeated. It is called again later while it changes the
    load balancer.
    """

    description = 'The distribution of requests over the nodes of a cluster.'
    priority = 500
    blocking = True
    before = _SHRINKING
    after = _SHRINKING | _CHANGING
    schema = balancing_schema.SCHEMA
    support_status: ClassVar = (
        {'version': '1.0', 'status': 'SUPPORTED', 'since': '2016.04'},
        {'version': '1.1', 'status': 'SUPPORTED', 'since': '2018.01'},
        {'version': '1.2', 'status': 'SUPPORTED', 'since': '2020.02'},
        {'version': '1.3', 'status': 'SUPPORTED', 'since': '2020.03'},
    )

    def attach(self, context: PolicyContext) -> Mapping[str, Any] | Retry:
        """Create the load balancer with the healthy nodes."""
        self._set_members(context, context.nodes)
        name: str | None = None
        try:
            name = self._choose_driver(context)
            data = self._apply(context, name)
        except exceptions.ServiceUnavailable as error:
            return _delay(context, error)
        except Exception:
            # The policy is not attached: the marks would never be removed.
            self._clean_up(context, name)
            raise
        if isinstance(data, Retry):
            return data
        self._show(context, dict(data))
        return {
            DRIVER: name,
            'loadbalancer': _name(context),
            'preexisting': False,
            **{key: data[key] for key in IDS if key in data},
        }

    def detach(self, context: PolicyContext) -> Retry | None:
        """Delete the load balancer."""
        try:
            driver = context.driver(self._choose_driver(context))
            delayed = driver.remove(_name(context))
        except exceptions.ServiceUnavailable as error:
            return _delay(context, error)
        if delayed is not None:
            return self._wait(context, delayed)
        context.save(cluster_data={SHOWN: None})
        self._delete_members(context)
        return None

    def pre_op(self, context: PolicyContext, data: dict[str, Any]) -> Retry | None:
        """Remove the nodes that are about to be deleted."""
        going = self._nodes_to_remove(context, data)
        members = {node.uuid for node in context.nodes if MEMBER in node.data}
        leaving = [uuid for uuid in going if uuid in members]
        if leaving:
            context.save(node_data={uuid: {MEMBER: None} for uuid in leaving})
        if not going:
            return None
        try:
            # When called again, they are no longer members; the driver may not know
            # yet.
            return self._update(context)
        except BaseException:
            # The action fails, the nodes are kept, and post_op is not called.
            back = [node for node in context.refresh() if node.uuid in going]
            self._set_members(context, back)
            raise

    def post_op(self, context: PolicyContext, data: dict[str, Any]) -> Retry | None:
        """Add new nodes, and remove unhealthy ones.

        If the action failed, nodes that were to be removed are added again.
        """
        nodes = context.refresh()
        if context.node is not None:
            # Concurrent actions update the membership of other nodes themselves.
            nodes = [node for node in nodes if node.uuid == context.node.uuid]
        self._set_members(context, nodes)
        return self._update(context)

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

    def _clean_up(self, context: PolicyContext, name: str | None) -> None:
        """Remove the rest of a load balancer that could not be created."""
        self._delete_members(context)
        context.save(cluster_data={SHOWN: None})
        if name is None:
            return
        try:
            delayed = context.driver(name).remove(_name(context))
            problem = None if delayed is None else delayed.reason
        except Exception as error:  # the first error is raised
            problem = public_text(error)
        if problem is not None:
            LOG.warning(
                'The load balancer of policy %s and cluster %s cannot be deleted: %s; '
                'delete it manually',
                context.name,
                context.cluster.uuid,
                problem,
            )

    def _choose_driver(self, context: PolicyContext) -> str:
        """Return the name of the driver, which does not change while it is attached."""
        known = context.binding_data.get(DRIVER) or self._entry(context).get(DRIVER)
        chosen = known or context.properties.get('driver')
        if chosen is not None:
            return str(chosen)
        for name in context.load_balancers:
            if context.driver(name).is_usable():
                return name
        # Its error says what an operator has to do.
        return context.load_balancers[-1] if context.load_balancers else HAPROXY

    def _update(self, context: PolicyContext) -> Retry | None:
        """Apply the members to the load balancer of an attached policy."""
        try:
            data = self._apply(context, self._choose_driver(context))
        except exceptions.ServiceUnavailable as error:
            return _delay(context, error)
        if isinstance(data, Retry):
            return data
        if PENDING_SINCE in self._entry(context):
            self._show(context, dict(data))
        return None

    def _apply(self, context: PolicyContext, name: str) -> Mapping[str, Any] | Retry:
        """Apply the members, until they no longer change during the call.

        Actions on several nodes may run concurrently: the last call has read the
        members after all other changes, so the final state is correct.
        """
        driver: LoadBalancer = context.driver(name)
        members = self._members(context)
        data: Mapping[str, Any] = {}
        for _ in range(_ROUNDS):
            try:
                applied = driver.apply(_name(context), context.properties, members)
            except exceptions.ServiceUnavailable:
                raise
            except Exception:
                self._end_wait(context)
                raise
            if isinstance(applied, Retry):
                return self._wait(context, applied, name)
            data = applied
            known, members = members, self._members(context)
            if members == known:
                break
        return data

    def _wait(
        self, context: PolicyContext, delayed: Retry, name: str | None = None
    ) -> Retry:
        """Return the delay of a driver; raise if the change takes too long.

        :param name: of the driver, to remember it
        """
        shown, now = self._entry(context), context.now()
        if PENDING_SINCE not in shown:
            pending = {**shown, PENDING_SINCE: now.isoformat()}
            self._show(context, pending if name is None else {**pending, DRIVER: name})
            return delayed
        since = datetime.datetime.fromisoformat(shown[PENDING_SINCE])
        limit = context.properties['lb_status_timeout']
        if now - since <= datetime.timedelta(seconds=limit):
            return delayed
        self._end_wait(context)
        raise exceptions.WatcherliteError(
            f'{delayed.reason}; that takes longer than the lb_status_timeout of {limit}'
            ' seconds'
        )

    def _end_wait(self, context: PolicyContext) -> None:
        """Forget since when a change is pending."""
        shown = self._entry(context)
        if shown.pop(PENDING_SINCE, None) is not None:
            self._show(context, shown)

    def _entry(self, context: PolicyContext) -> dict[str, Any]:
        """Return the data of the load balancer in the data of the cluster."""
        every = context.cluster.data.get(SHOWN) or {}
        return dict(every.get(context.policy_uuid) or {})

    def _show(self, context: PolicyContext, data: Mapping[str, Any]) -> None:
        context.save(cluster_data={SHOWN: {context.policy_uuid: dict(data)}})

    def _members(self, context: PolicyContext) -> list[dict[str, Any]]:
        members = []
        for node in context.refresh():
            if MEMBER not in node.data:
                continue
            address = self._address(context, node)
            if address is not None:
                member = {
                    'id': node.uuid,
                    'name': node.name,
                    'address': address,
                    'port': self._port(context, node),
                }
                addresses = list(_addresses(node))
                members.append(
                    {**member, 'addresses': addresses} if addresses else member
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


def _delay(context: PolicyContext, error: exceptions.ServiceUnavailable) -> Retry:
    """Return the delay of an action whose load balancer cannot be reached."""
    LOG.warning(
        'Action %s on cluster %s is delayed by policy %s: %s',
        context.action_uuid,
        context.cluster.uuid,
        context.name,
        error,
    )
    return Retry(str(error), _UNAVAILABLE)


def _name(context: PolicyContext) -> str:
    return f'{context.cluster.uuid}-{context.policy_uuid}'


def _addresses(node: Node) -> Iterator[dict[str, str]]:
    """Yield the fixed addresses of a server, with the names or ids of networks."""
    networks = node.attributes.get('addresses')
    for network, items in (networks if isinstance(networks, Mapping) else {}).items():
        for item in items if isinstance(items, list | tuple) else ():
            address = item.get('addr') if isinstance(item, Mapping) else None
            if address and item.get('OS-EXT-IPS:type') != 'floating':
                yield {'network': str(network), 'address': str(address)}


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
