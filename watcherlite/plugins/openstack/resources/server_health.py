"""The health of servers that are nodes of clusters."""

import threading
import time
import uuid
from collections.abc import Callable, Mapping
from typing import Any, ClassVar

from watcherlite import exceptions
from watcherlite.domain.resource_results import Ready, Result
from watcherlite.domain.service_notifications import (
    ResourceFailure,
    ServiceNotification,
)
from watcherlite.plugins.base import ResourceContext
from watcherlite.plugins.openstack.models.lists import ServiceLists
from watcherlite.plugins.openstack.resources.cloud_resource import CloudResource
from watcherlite.plugins.openstack.resources.markers import KEY
from watcherlite.plugins.resource_handlers.errors import ResourceFault

#: A server exists, but does not work.
STOPPED = 'SHUTOFF'
#: The entry of the metadata by which Senlin names the node of a server.
NODE_KEY = 'cluster_node_id'
#: Seconds for which the answer of nova about hypervisors is used.
MAX_AGE = 5.0
#: Hypervisors with uuids, and the servers on one of them.
_MICROVERSION = '2.53'
#: States and statuses of hypervisors that do not work.
_BAD = frozenset({'down', 'disabled'})
#: Prefix of the event types of notifications that are not versioned.
_UNVERSIONED = 'compute.'
_DATA = 'nova_object.data'
_FAILURES = (
    'instance.delete.end',
    'instance.pause.end',
    'instance.power_off.end',
    'instance.rebuild.error',
    'instance.shutdown.end',
    'instance.soft_delete.end',
)


class HypervisorHealth:
    """The servers whose hypervisor does not work, for all nodes of a process.

    One request reads all hypervisors, and one more each that does not work.

    :param connect: returns a connection with the rights of an administrator
    """

    def __init__(
        self,
        connect: Callable[[], Any],
        monotonic: Callable[[], float] = time.monotonic,
    ) -> None:
        self._connect = connect
        self._monotonic = monotonic
        self._lock = threading.Lock()
        self._read_at: float | None = None
        self._problems: Mapping[str, str] = {}

    def problem_of(self, server: str) -> str | None:
        """Return what is wrong with the hypervisor of a server, by its id.

        :raises WatcherliteError: nova does not tell
        """
        # The others wait for the one that asks nova.
        with self._lock:
            now = self._monotonic()
            if self._read_at is None or now - self._read_at >= MAX_AGE:
                self._problems = self._read()
                self._read_at = now
            return self._problems.get(server)

    def _read(self) -> Mapping[str, str]:
        nova = ServiceLists(self._connect(), 'compute')
        hypervisors = nova.pages(
            '/os-hypervisors/detail', 'hypervisors', microversion=_MICROVERSION
        )
        found = {}
        for one in hypervisors:
            problem = next(
                (text for text in (one['state'], one['status']) if text in _BAD), None
            )
            if problem is None:
                continue
            answer = nova.get(
                f'/os-hypervisors/{one["id"]}', {'with_servers': 'true'}, _MICROVERSION
            )
            text = f'its hypervisor {one["hypervisor_hostname"]} is {problem}'
            for server in answer['hypervisor'].get('servers') or ():
                found[str(server['uuid'])] = text
        return found


class ServerHealth(CloudResource):
    """The checks of the health policy of clusters, for resources that are servers."""

    failure_events: ClassVar = (
        *_FAILURES,
        *(f'{_UNVERSIONED}{name}' for name in _FAILURES),
    )

    def check_health(self, context: ResourceContext) -> Result:
        """Check that the server exists and runs: Senlin counts SHUTOFF as a failure."""
        result = self.check(context)
        if isinstance(result, Ready):
            status = ((result.attributes or {}).get('show') or {}).get('status')
            if str(status).upper() == STOPPED:
                raise ResourceFault(
                    f'{self._label(context)} {context.physical_id} has the status '
                    f'{STOPPED}'
                )
        return result

    def check_host(self, context: ResourceContext) -> Result:
        """Check that nova counts the hypervisor of the server as up and enabled."""
        region = self.region_of(context)
        hypervisors = self.clouds.keep(
            (HypervisorHealth, region),
            lambda: HypervisorHealth(lambda: self.clouds.service_connection(region)),
        )
        try:
            problem = hypervisors.problem_of(str(context.physical_id))
        except exceptions.WatcherliteError as error:
            raise exceptions.StateUnknown(str(error)) from None
        if problem is not None:
            raise ResourceFault(
                f'{self._label(context)} {context.physical_id}: {problem}'
            )
        return None

    @classmethod
    def failure_in(cls, notification: ServiceNotification) -> ResourceFailure | None:
        """Return the node in the metadata of the server of a notification."""
        data = notification.payload.get(_DATA, notification.payload)
        if not isinstance(data, Mapping):
            return None
        metadata = data.get('metadata')
        server = data.get('uuid') or data.get('instance_id')
        if not isinstance(metadata, Mapping) or not isinstance(server, str):
            return None
        node = metadata.get(KEY) or metadata.get(NODE_KEY)
        if not isinstance(node, str) or not _is_uuid(node):
            return None
        event = notification.event_type.removeprefix(_UNVERSIONED)
        return ResourceFailure(node, server, f'Nova reports {event} of server {server}')


def _is_uuid(text: str) -> bool:
    """Return whether a text of the metadata, which users write, is a uuid."""
    try:
        return str(uuid.UUID(text)) == text
    except ValueError:
        return False
