"""Names of cloud objects in properties, and their translation to ids."""

import dataclasses
import re
from collections.abc import Callable
from typing import Any, TypeVar

from watcherlite.plugins.resource_handlers.errors import ResourceFault

T = TypeVar('T')
_UUID = re.compile(r'[0-9a-f]{8}-?([0-9a-f]{4}-?){3}[0-9a-f]{12}', re.IGNORECASE)


class MissingReference(ResourceFault):
    """An object to which a property refers does not exist."""


@dataclasses.dataclass(frozen=True, slots=True)
class Reference:
    """A kind of objects to which properties refer by name or id.

    :param service: the attribute of a connection
    :param noun: of `find_<noun>` of the service
    :param uuids: their ids are UUIDs, which need no translation
    """

    service: str
    noun: str
    uuids: bool = True

    def id_of(self, connection: Any, value: Any) -> str:
        """Return the id for a name or an id.

        :raises ResourceFault: there is none, or several have this name
        """
        text = str(value)
        if self.uuids and _UUID.fullmatch(text):
            return text
        return str(self.find(connection, text).id)

    def find(self, connection: Any, value: str) -> Any:
        """Return the object of a name or an id; raises ResourceFault."""
        # Slow to import, and not needed without a cloud.
        from openstack import exceptions as cloud

        label = self.noun.replace('_', ' ')
        find = getattr(getattr(connection, self.service), f'find_{self.noun}')
        try:
            found = self._find(connection, find, value)
        except cloud.DuplicateResource:
            raise ResourceFault(
                f'Several objects of the type {label} are named {value}; use the id'
            ) from None
        if found is None:
            raise MissingReference(f'The {label} {value} does not exist')
        return found

    def _find(self, connection: Any, find: Any, value: str) -> Any:
        from openstack import exceptions as cloud

        try:
            return find(value, ignore_missing=True)
        except cloud.DuplicateResource:
            if self.service != 'network':
                raise
            # Administrators see the objects of all projects.
            project = connection.current_project_id
            return find(value, ignore_missing=True, project_id=project)

    def ids_of(self, connection: Any, value: Any) -> Any:
        """Return the id, or the list of ids, for a value of a property."""
        if value is None or value == '':
            return None
        if isinstance(value, list | tuple):
            return [self.id_of(connection, item) for item in value]
        return self.id_of(connection, value)


NETWORK = Reference('network', 'network')
SUBNET = Reference('network', 'subnet')
SUBNET_POOL = Reference('network', 'subnet_pool')
SEGMENT = Reference('network', 'segment')
PORT = Reference('network', 'port')
ROUTER = Reference('network', 'router')
SECURITY_GROUP = Reference('network', 'security_group')
QOS_POLICY = Reference('network', 'qos_policy')
FLOATING_IP = Reference('network', 'ip')
SERVER = Reference('compute', 'server')
SERVER_GROUP = Reference('compute', 'server_group')
KEYPAIR = Reference('compute', 'keypair', uuids=False)
FLAVOR = Reference('compute', 'flavor', uuids=False)
IMAGE = Reference('image', 'image')
VOLUME = Reference('block_storage', 'volume')
SNAPSHOT = Reference('block_storage', 'snapshot')
BACKUP = Reference('block_storage', 'backup')
VOLUME_TYPE = Reference('block_storage', 'type')
PROJECT = Reference('identity', 'project')
DOMAIN = Reference('identity', 'domain', uuids=False)
ROLE = Reference('identity', 'role')
GROUP = Reference('identity', 'group')
USER = Reference('identity', 'user', uuids=False)
SERVICE = Reference('identity', 'service')
LOAD_BALANCER = Reference('load_balancer', 'load_balancer')
LOAD_BALANCER_FLAVOR = Reference('load_balancer', 'flavor')
LISTENER = Reference('load_balancer', 'listener')
POOL = Reference('load_balancer', 'pool')
ZONE = Reference('dns', 'zone')
REGION = Reference('identity', 'region', uuids=False)


def missing_as_none(call: Callable[[], T]) -> T | None:
    """Return the result of a call; None: the object does not exist."""
    # Slow to import, and not needed without a cloud.
    from openstack import exceptions as cloud

    try:
        return call()
    except cloud.NotFoundException:
        return None
