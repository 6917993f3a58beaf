"""The load balancer driver that uses octavia.

Each call reads what exists and makes the next change, if there is one. Octavia changes
one thing of a load balancer at a time, so a call that has requested a change returns a
Retry. Objects are found by their name, which contains the uuids of cluster and policy:
a repeated creation finds what an earlier one has requested.
"""

import contextlib
import dataclasses
import ipaddress
import logging
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from watcherlite import exceptions
from watcherlite.domain.outcomes import Retry
from watcherlite.plugins.base import CloudClient, LoadBalancer
from watcherlite.plugins.openstack import errors

LOG = logging.getLogger(__name__)

SERVICE = 'load-balancer'
#: Seconds until a load balancer that is being changed is read again.
DELAY = 1.0
#: The weight of each member: all get the same share of the requests.
WEIGHT = 1
_ACTIVE, _ERROR = 'ACTIVE', 'ERROR'
_DELETING = 'PENDING_DELETE'
_HTTP = frozenset({'HTTP', 'HTTPS'})
#: What octavia says about a request for a load balancer that is being changed.
_IMMUTABLE = 'immutable'
_MAX_NAME = 255


class Octavia(CloudClient, LoadBalancer):
    """Creates load balancers in octavia with the authority of the cluster's user."""

    description = 'Creates load balancers in octavia.'

    def is_usable(self) -> bool:
        """Return whether the catalog of the cloud has octavia for this user."""
        if not self.clouds.is_configured:
            return False
        try:
            with errors.translated(SERVICE, 'The load balancer'):
                config = self._connect().config
                return config.get_session_endpoint(SERVICE) is not None
        except exceptions.Forbidden:
            return False

    def apply(
        self,
        name: str,
        properties: Mapping[str, Any],
        members: Sequence[Mapping[str, Any]],
    ) -> Mapping[str, Any] | Retry:
        """Make the next change; return the addresses and ids if there is none."""
        with self._translated(name):
            try:
                return self._objects(name).converge(members)
            except _Changing as change:
                return Retry(str(change), DELAY)

    def remove(self, name: str) -> Retry | None:
        """Delete what this driver has created for a cluster."""
        with self._translated(name):
            try:
                self._objects(name).remove()
            except _Changing as change:
                return Retry(str(change), DELAY)
        return None

    def _connect(self) -> Any:
        return self.clouds.connection_for(self.credential)

    def _objects(self, name: str) -> '_Objects':
        return _Objects(self, self._connect(), name)

    @contextlib.contextmanager
    def _translated(self, name: str) -> Iterator[None]:
        with errors.translated(SERVICE, f'load balancer {name}'):
            yield


class _Changing(Exception):
    """Octavia changes the load balancer; the next call continues."""


@dataclasses.dataclass(frozen=True, slots=True)
class _Subnet:
    """A subnet of neutron.

    :param networks: the id and the name of its network; others may overlap with it
    """

    id: str
    addresses: ipaddress.IPv4Network | ipaddress.IPv6Network
    networks: frozenset[str]

    def contains(self, address: Any) -> bool:
        """Return whether a text is an address of the subnet."""
        try:
            return ipaddress.ip_address(str(address)) in self.addresses
        except ValueError:
            return False


class _Objects:
    """The objects of one load balancer.

    :param driver: with the properties of the policy
    :param name: of the objects that the driver creates
    """

    def __init__(self, driver: LoadBalancer, connection: Any, name: str) -> None:
        self._driver = driver
        self._octavia = connection.load_balancer
        self._network = connection.network
        self._name = name
        self._vip: Mapping[str, Any] = driver.properties['vip']
        self._pool: Mapping[str, Any] = driver.properties['pool']

    @property
    def _is_shared(self) -> bool:
        """Return whether the load balancer belongs to others."""
        return bool(self._driver.properties.get('loadbalancer') or self._pool.get('id'))

    def converge(self, members: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
        """Make the next change; return the data of the load balancer if there is none.

        :raises _Changing: a change was requested, or is in progress
        """
        balancer = self._find_balancer() or self._create_balancer()
        self._check_active(balancer)
        listener = None
        if self._pool.get('id'):
            pool = self._existing('pool', self._pool['id'])
        else:
            listener = self._own('listeners') or self._create_listener(balancer)
            pool = self._own('pools') or self._create_pool(listener)
        monitor = pool.health_monitor_id or self._create_monitor(pool)
        self._set_members(pool, members)
        found = {
            'vip_address': balancer.vip_address,
            'loadbalancer': balancer.id,
            'listener': None if listener is None else listener.id,
            'pool': pool.id,
            'healthmonitor': monitor,
            'preexisting': self._is_shared,
        }
        return {key: value for key, value in found.items() if value is not None}

    def remove(self) -> None:
        """Delete the next object; return if none is left.

        :raises _Changing: a deletion was requested, or is in progress
        """
        if self._is_shared:
            self._remove_from_shared()
            return
        balancer = self._own('load_balancers')
        if balancer is None:
            return
        status = balancer.provisioning_status
        if status not in (_ACTIVE, _ERROR):
            doing = 'deleted' if status == _DELETING else 'changed'
            raise _Changing(f'The load balancer {balancer.id} is being {doing}')
        with self._requesting(f'The load balancer {balancer.id} is being deleted'):
            self._octavia.delete_load_balancer(balancer.id, cascade=True)

    def _remove_from_shared(self) -> None:
        try:
            balancer = self._find_balancer()
        except exceptions.NotFound:
            return
        if balancer is not None and balancer.provisioning_status != _ERROR:
            self._check_active(balancer)
        monitor = self._own('health_monitors')
        if monitor is not None:
            with self._requesting(f'The health monitor {monitor.id} is being deleted'):
                self._octavia.delete_health_monitor(monitor.id)
        if self._pool.get('id'):
            self._set_members(self._existing('pool', self._pool['id']), ())
            return
        pool = self._own('pools')
        if pool is not None:
            with self._requesting(f'The pool {pool.id} is being deleted'):
                self._octavia.delete_pool(pool.id)
        listener = self._own('listeners')
        if listener is not None:
            with self._requesting(f'The listener {listener.id} is being deleted'):
                self._octavia.delete_listener(listener.id)

    # the objects

    def _find_balancer(self) -> Any:
        """Return the load balancer; None: it is to be created."""
        named = self._driver.properties.get('loadbalancer')
        if named:
            return self._existing('load_balancer', named)
        if self._pool.get('id'):
            pool = self._existing('pool', self._pool['id'])
            return self._existing('load_balancer', pool.loadbalancers[0]['id'])
        return self._own('load_balancers')

    def _existing(self, noun: str, named: str) -> Any:
        """Return an object that the policy names by its name or id."""
        found = getattr(self._octavia, f'find_{noun}')(named, ignore_missing=True)
        if found is None:
            raise exceptions.NotFound(
                f'Octavia has no {noun.replace("_", " ")} {named}, which the policy '
                'names'
            )
        return found

    def _own(self, nouns: str) -> Any:
        """Return the object of this kind that the driver has created, or None."""
        found = getattr(self._octavia, nouns)(name=self._name)
        return next((one for one in found if one.name == self._name), None)

    def _check_active(self, balancer: Any) -> None:
        status = balancer.provisioning_status
        if status == _ERROR:
            raise exceptions.WatcherliteError(
                f'The load balancer {balancer.id} has the provisioning status ERROR'
            )
        if status != _ACTIVE:
            raise _Changing(f'The load balancer {balancer.id} is {status}')

    def _create_balancer(self) -> Any:
        given = self._driver.properties
        body = {
            'name': self._name,
            'vip_address': self._vip.get('address'),
            'vip_subnet_id': self._subnet_id(self._vip.get('subnet')),
            'vip_network_id': self._network_id(self._vip.get('network')),
            'admin_state_up': self._vip['admin_state_up'],
            'availability_zone': given.get('availability_zone'),
            'flavor_id': given.get('flavor_id'),
        }
        if not body['vip_subnet_id'] and not body['vip_network_id']:
            raise exceptions.Invalid(
                'vip.subnet or vip.network is required for the driver octavia'
            )
        return self._create('load_balancer', body)

    def _create_listener(self, balancer: Any) -> Any:
        return self._create(
            'listener',
            {
                'name': self._name,
                'loadbalancer_id': balancer.id,
                'protocol': self._vip['protocol'],
                'protocol_port': self._vip['protocol_port'],
                'connection_limit': self._vip['connection_limit'],
                'admin_state_up': self._vip['admin_state_up'],
            },
        )

    def _create_pool(self, listener: Any) -> Any:
        persistence = dict(self._pool['session_persistence'])
        body = {
            'name': self._name,
            'listener_id': listener.id,
            'protocol': self._pool['protocol'],
            'lb_algorithm': self._pool['lb_method'],
            'admin_state_up': self._pool['admin_state_up'],
        }
        if persistence['type'] != 'NONE':
            body['session_persistence'] = persistence
        return self._create('pool', body)

    def _create_monitor(self, pool: Any) -> Any:
        """Create the health monitor of the policy; return None if it has none."""
        given = self._driver.properties.get('health_monitor')
        if given is None:
            return None
        if given.get('id'):
            return self._existing('health_monitor', given['id']).id
        body = {
            'name': self._name,
            'pool_id': pool.id,
            **{
                key: given[key]
                for key in ('type', 'delay', 'timeout', 'max_retries', 'admin_state_up')
            },
        }
        if given['type'] in _HTTP:
            body |= {
                key: given[key]
                for key in ('http_method', 'url_path', 'expected_codes')
                if given.get(key) is not None
            }
        return self._create('health_monitor', body)

    def _create(self, noun: str, body: Mapping[str, Any]) -> Any:
        """Request an object, and raise _Changing."""
        given = {key: value for key, value in body.items() if value is not None}
        with self._requesting(f'The {noun.replace("_", " ")} is being created'):
            getattr(self._octavia, f'create_{noun}')(**given)

    @contextlib.contextmanager
    def _requesting(self, change: str) -> Iterator[None]:
        """Request a change in a `with` block, and raise _Changing after it."""
        # Slow to import, and not needed without a cloud.
        from openstack import exceptions as sdk

        self._driver.fence()
        try:
            yield
        except sdk.ConflictException as error:
            if _IMMUTABLE not in str(error).lower():
                raise
            raise _Changing('The load balancer is being changed') from None
        raise _Changing(change)

    # members

    def _set_members(self, pool: Any, members: Sequence[Mapping[str, Any]]) -> None:
        """Request the members, unless they are those of the pool."""
        subnet = self._member_subnet() if members else None
        desired = {}
        for member in members:
            body = self._member(member, subnet)
            if body is not None:
                desired[(body['address'], body['protocol_port'])] = body
        present = {
            (one.address, one.protocol_port): one
            for one in self._octavia.members(pool.id)
        }
        if self._pool.get('id'):
            self._change_shared_pool(pool, present, desired)
        elif present.keys() != desired.keys():
            # One request, whatever their number: each makes the load balancer
            # immutable for some seconds.
            with self._requesting(f'The members of pool {pool.id} are being changed'):
                self._put_members(pool, list(desired.values()))

    def _put_members(self, pool: Any, members: Sequence[Mapping[str, Any]]) -> None:
        from openstack import exceptions as sdk

        response = self._octavia.put(
            f'/lbaas/pools/{pool.id}/members', json={'members': members}
        )
        sdk.raise_from_response(response)

    def _change_shared_pool(
        self, pool: Any, present: Mapping[Any, Any], desired: Mapping[Any, Any]
    ) -> None:
        """Add or remove one member of a pool that has members of others."""
        for key, body in desired.items():
            if key not in present:
                with self._requesting(f'A member is being added to pool {pool.id}'):
                    self._octavia.create_member(pool.id, **body)
        for key, one in present.items():
            if key not in desired and self._name in (one.tags or ()):
                with self._requesting(f'A member of pool {pool.id} is being removed'):
                    self._octavia.delete_member(one.id, pool.id)

    def _member_subnet(self) -> '_Subnet | None':
        """Return the subnet of members; None: the policy names none."""
        found = self._find_subnet(self._pool.get('subnet'))
        if found is None:
            return None
        network = self._network.get_network(found.network_id)
        return _Subnet(
            str(found.id),
            ipaddress.ip_network(found.cidr),
            frozenset({network.id, network.name}),
        )

    def _member(
        self, member: Mapping[str, Any], subnet: '_Subnet | None'
    ) -> dict[str, Any] | None:
        """Return the member of a node; None: it has no address on the subnet."""
        address = member['address']
        if subnet is not None:
            address = self._address_on(member, subnet)
        if address is None:
            LOG.warning(
                'Node %s (%s) receives no requests by load balancer %s: it has no '
                'address on subnet %s',
                member['name'],
                member['id'],
                self._name,
                self._pool['subnet'],
            )
            return None
        body = {
            'name': str(member['name'])[:_MAX_NAME],
            'address': address,
            'protocol_port': int(member['port']),
            'weight': WEIGHT,
            'admin_state_up': True,
            'tags': [self._name],
        }
        return body if subnet is None else {**body, 'subnet_id': subnet.id}

    def _address_on(self, member: Mapping[str, Any], subnet: '_Subnet') -> str | None:
        """Return the address of a node on a subnet."""
        known = member.get('addresses') or ()
        if not known or self._pool.get('member_address'):
            address = member['address']
            return str(address) if subnet.contains(address) else None
        for one in known:
            if one['network'] in subnet.networks and subnet.contains(one['address']):
                return str(one['address'])
        return None

    def _find_subnet(self, named: str | None) -> Any:
        if named is None:
            return None
        found = self._network.find_subnet(named, ignore_missing=True)
        if found is None:
            raise exceptions.NotFound(f'Neutron has no subnet {named}')
        return found

    def _subnet_id(self, named: str | None) -> str | None:
        found = self._find_subnet(named)
        return None if found is None else str(found.id)

    def _network_id(self, named: str | None) -> str | None:
        if named is None:
            return None
        found = self._network.find_network(named, ignore_missing=True)
        if found is None:
            raise exceptions.NotFound(f'Neutron has no network {named}')
        return str(found.id)
