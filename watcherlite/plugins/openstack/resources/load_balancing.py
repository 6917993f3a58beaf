"""Load balancers of octavia, with their listeners, pools, members and monitors."""

import contextlib
import dataclasses
from collections.abc import Collection, Iterator, Mapping
from typing import Any, ClassVar

from watcherlite import exceptions
from watcherlite.domain.resource_results import (
    Property,
    Ready,
    ResourceInProgress,
    Result,
)
from watcherlite.plugins.base import ResourceContext
from watcherlite.plugins.openstack.resources import fields, references
from watcherlite.plugins.openstack.resources.cloud_resource import (
    CloudResource,
    record_of,
)
from watcherlite.plugins.openstack.resources.fields import OWN, field
from watcherlite.plugins.openstack.resources.neutron_resource import (
    ADMIN_STATE_UP,
    CIDR,
    IP_ADDRESS,
    NAME,
)

_PORT: Mapping[str, Any] = {'type': 'integer', 'minimum': 1, 'maximum': 65535}
_SECONDS: Mapping[str, Any] = {'type': 'integer', 'minimum': 0}
_DESCRIPTION = field(fields.TEXT, 'The description.', default='', updatable=True)
_PROJECT = field(
    fields.TEXT,
    'The id of the project that owns it; for administrators.',
    sent='project_id',
)


class OctaviaResource(CloudResource):
    """An object of octavia, which is immutable while its load balancer changes."""

    service = 'load_balancer'
    settled = frozenset({'ACTIVE'})
    waits_for_deletion = True

    def status_of(self, record: Mapping[str, Any]) -> str:
        return str(record.get('provisioning_status') or '').upper()

    def make(self, connection: Any, body: Mapping[str, Any]) -> Any:
        with _waiting_for_others():
            return super().make(connection, body)

    def change(self, connection: Any, physical_id: str, body: dict[str, Any]) -> Any:
        with _waiting_for_others():
            return super().change(connection, physical_id, body)


class LoadBalancer(OctaviaResource):
    """A load balancer."""

    description = 'A load balancer.'
    noun = 'load_balancer'
    properties: ClassVar[Mapping[str, Property]] = {
        'name': NAME,
        'description': _DESCRIPTION,
        'provider': field(fields.TEXT, 'The provider.'),
        'vip_address': field(IP_ADDRESS, 'The address.'),
        'vip_subnet': field(
            fields.TEXT,
            'The name or id of the subnet of its address.',
            required=True,
            sent='vip_subnet_id',
            reference=references.SUBNET,
        ),
        'admin_state_up': ADMIN_STATE_UP,
        'tenant_id': _PROJECT,
        'flavor': field(
            fields.TEXT,
            'The name or id of the flavor.',
            sent='flavor_id',
            reference=references.LOAD_BALANCER_FLAVOR,
        ),
        'availability_zone': field(fields.TEXT, 'The availability zone.'),
    }
    attributes: ClassVar[Mapping[str, str]] = {
        'vip_address': 'The address.',
        'vip_port_id': 'The id of the port of the address.',
        'vip_subnet_id': 'The id of the subnet of the address.',
        'pools': 'Its pools.',
        'flavor_id': 'The id of the flavor.',
    }


class Listener(OctaviaResource):
    """A port on which a load balancer listens."""

    description = 'A port on which a load balancer listens.'
    noun = 'listener'
    properties: ClassVar[Mapping[str, Property]] = {
        'name': NAME,
        'description': _DESCRIPTION,
        'protocol_port': field(_PORT, 'The port.', required=True),
        'protocol': field(
            fields.one_of('TCP', 'HTTP', 'HTTPS', 'TERMINATED_HTTPS', 'PROXY', 'UDP'),
            'The protocol.',
            required=True,
        ),
        'loadbalancer': field(
            fields.TEXT,
            'The name or id of the load balancer.',
            required=True,
            sent='loadbalancer_id',
            reference=references.LOAD_BALANCER,
        ),
        'default_pool': field(
            fields.TEXT,
            'The name or id of the default pool.',
            updatable=True,
            sent='default_pool_id',
            reference=references.POOL,
        ),
        'admin_state_up': ADMIN_STATE_UP,
        'default_tls_container_ref': field(
            fields.TEXT,
            'The URL of the certificate, for TERMINATED_HTTPS.',
            updatable=True,
        ),
        'sni_container_refs': field(
            fields.TEXTS, 'The URLs of further certificates.', updatable=True
        ),
        'connection_limit': field(
            {**fields.INTEGER, 'minimum': -1},
            'The maximum number of connections; -1 is any.',
            default=-1,
            updatable=True,
        ),
        'tenant_id': _PROJECT,
        'allowed_cidrs': field(
            fields.items(CIDR),
            'The networks of its clients; the default is any.',
            updatable=True,
        ),
    }
    attributes: ClassVar[Mapping[str, str]] = {
        'loadbalancers': 'The load balancers.',
        'default_pool_id': 'The id of the default pool.',
    }

    def problems(self, values: Mapping[str, Any]) -> Collection[str]:
        terminated = values.get('protocol') == 'TERMINATED_HTTPS'
        if terminated and 'default_tls_container_ref' not in values:
            return [
                'properties.default_tls_container_ref: is required for TERMINATED_HTTPS'
            ]
        return ()


class MemberPool(OctaviaResource):
    """A pool of members."""

    description = 'A pool of members.'
    noun = 'pool'
    properties: ClassVar[Mapping[str, Property]] = {
        'name': NAME,
        'description': _DESCRIPTION,
        'admin_state_up': ADMIN_STATE_UP,
        'session_persistence': field(
            fields.mapping(
                {
                    'type': fields.one_of('SOURCE_IP', 'HTTP_COOKIE', 'APP_COOKIE'),
                    'cookie_name': fields.TEXT,
                },
                ['type'],
            ),
            'How the requests of a client find the same member: its `type`, and the '
            '`cookie_name` for APP_COOKIE.',
            updatable=True,
        ),
        'lb_algorithm': field(
            fields.one_of(
                'ROUND_ROBIN', 'LEAST_CONNECTIONS', 'SOURCE_IP', 'SOURCE_IP_PORT'
            ),
            'The choice of a member for a request.',
            required=True,
            updatable=True,
        ),
        'listener': field(
            fields.TEXT,
            'The name or id of the listener whose default pool it is, or',
            sent='listener_id',
            reference=references.LISTENER,
        ),
        'loadbalancer': field(
            fields.TEXT,
            'the name or id of the load balancer.',
            sent='loadbalancer_id',
            reference=references.LOAD_BALANCER,
        ),
        'protocol': field(
            fields.one_of('TCP', 'HTTP', 'HTTPS', 'TERMINATED_HTTPS', 'PROXY', 'UDP'),
            'The protocol.',
            required=True,
        ),
        'tls_enabled': field(
            fields.FLAG,
            'Whether the connections to members use TLS.',
            default=False,
            updatable=True,
        ),
    }
    attributes: ClassVar[Mapping[str, str]] = {
        'healthmonitor_id': 'The id of the health monitor.',
        'listeners': 'The listeners.',
        'members': 'The members.',
    }

    def problems(self, values: Mapping[str, Any]) -> Collection[str]:
        problems = []
        if 'listener' not in values and 'loadbalancer' not in values:
            problems.append(
                'properties.listener: one of listener and loadbalancer is required'
            )
        persistence = values.get('session_persistence') or {}
        named = bool(persistence.get('cookie_name'))
        if persistence.get('type') == 'APP_COOKIE' and not named:
            problems.append(
                'properties.session_persistence.cookie_name: is required for APP_COOKIE'
            )
        if persistence.get('type') == 'SOURCE_IP' and named:
            problems.append(
                'properties.session_persistence.cookie_name: is not for SOURCE_IP'
            )
        return problems


class HealthMonitor(OctaviaResource):
    """The checks of the members of a pool."""

    description = 'The checks of the members of a pool.'
    noun = 'health_monitor'
    properties: ClassVar[Mapping[str, Property]] = {
        'admin_state_up': ADMIN_STATE_UP,
        'delay': field(
            _SECONDS, 'Seconds between two checks.', required=True, updatable=True
        ),
        'expected_codes': field(
            fields.TEXT,
            'The HTTP statuses of healthy members, for example `200,202` or `200-204`.',
            updatable=True,
        ),
        'http_method': field(
            fields.one_of(
                'GET',
                'HEAD',
                'POST',
                'PUT',
                'DELETE',
                'TRACE',
                'OPTIONS',
                'CONNECT',
                'PATCH',
            ),
            'The HTTP method.',
            updatable=True,
        ),
        'max_retries': field(
            {'type': 'integer', 'minimum': 1, 'maximum': 10},
            'The number of successful checks of a healthy member.',
            required=True,
            updatable=True,
        ),
        'max_retries_down': field(
            {'type': 'integer', 'minimum': 1, 'maximum': 10},
            'The number of failed checks of an unhealthy member.',
            updatable=True,
        ),
        'pool': field(
            fields.TEXT,
            'The name or id of the pool.',
            required=True,
            sent='pool_id',
            reference=references.POOL,
        ),
        'timeout': field(
            _SECONDS,
            'The timeout of a check in seconds.',
            required=True,
            updatable=True,
        ),
        'type': field(
            fields.one_of('PING', 'TCP', 'HTTP', 'HTTPS', 'UDP-CONNECT'),
            'The kind of the checks.',
            required=True,
        ),
        'url_path': field(fields.TEXT, 'The path of HTTP requests.', updatable=True),
        'tenant_id': _PROJECT,
    }
    attributes: ClassVar[Mapping[str, str]] = {'pools': 'The pools.'}


class PoolMember(OctaviaResource):
    """A member of a pool; its physical id has the id of the pool, too."""

    description = 'A member of a pool.'
    noun = 'member'
    properties: ClassVar[Mapping[str, Property]] = {
        'pool': field(
            fields.TEXT, 'The name or id of the pool.', required=True, sent=OWN
        ),
        'address': field(IP_ADDRESS, 'The address.', required=True),
        'protocol_port': field(_PORT, 'The port.', required=True),
        'monitor_address': field(IP_ADDRESS, 'The address for checks.'),
        'monitor_port': field(_PORT, 'The port for checks.'),
        'weight': field(
            {'type': 'integer', 'minimum': 0, 'maximum': 256},
            'Its share of the requests, relative to others.',
            default=1,
            updatable=True,
        ),
        'admin_state_up': ADMIN_STATE_UP,
        'subnet': field(
            fields.TEXT,
            'The name or id of the subnet of the address.',
            sent='subnet_id',
            reference=references.SUBNET,
        ),
        'tags': field(fields.TEXTS, 'The tags.', updatable=True),
    }

    def reference(self, context: ResourceContext) -> str:
        """Return the id of the member."""
        physical_id = context.physical_id or ''
        return physical_id.partition(':')[2] or context.resource_name

    def get(self, connection: Any, physical_id: str) -> Any:
        pool, _, member = physical_id.partition(':')
        service = connection.load_balancer
        found = references.missing_as_none(lambda: service.get_member(member, pool))
        return None if found is None else _Member(pool, found)

    def change(self, connection: Any, physical_id: str, body: dict[str, Any]) -> Any:
        pool, _, member = physical_id.partition(':')
        with _waiting_for_others():
            changed = connection.load_balancer.update_member(member, pool, **body)
        return _Member(pool, changed)

    def destroy(self, connection: Any, context: ResourceContext) -> None:
        pool, _, member = str(context.physical_id).partition(':')
        connection.load_balancer.delete_member(member, pool, ignore_missing=True)

    def _create(self, context: ResourceContext, connection: Any) -> Result:
        pool = references.POOL.id_of(connection, context.properties['pool'])
        body = self.body(context, connection)
        self.marker.add(body, context)
        context.fence()
        with _waiting_for_others():
            made = connection.load_balancer.create_member(pool, **body)
        return self._created(context, connection, _Member(pool, made))

    def _find(self, context: ResourceContext, connection: Any) -> Result:
        pool = references.POOL.id_of(connection, context.properties['pool'])
        for found in connection.load_balancer.members(pool, name=context.physical_name):
            if self.marker.matches(record_of(found), context):
                return ResourceInProgress({'step': 'wait'}, 0.0, f'{pool}:{found.id}')
        return None

    def _ready(self, connection: Any, found: Any) -> Ready:
        ready = super()._ready(connection, found)
        show = dict((ready.attributes or {}).get('show') or {})
        return dataclasses.replace(ready, attributes={'show': show})


class _Member:
    """A member with the id of its pool."""

    def __init__(self, pool: str, member: Any) -> None:
        self.id = f'{pool}:{member.id}'
        self._member = member

    def to_dict(self, **options: Any) -> dict[str, Any]:
        """Return the record of the member."""
        record: dict[str, Any] = self._member.to_dict(**options)
        return record


@contextlib.contextmanager
def _waiting_for_others() -> Iterator[None]:
    """Delay a request that octavia refuses while the load balancer changes."""
    # Slow to import, and not needed without a cloud.
    from openstack import exceptions as cloud

    try:
        yield
    except cloud.ConflictException as error:
        raise exceptions.ServiceUnavailable(
            f'the load balancer is being changed: {error}'
        ) from error
