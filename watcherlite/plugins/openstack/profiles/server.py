"""The profile type `os.nova.server`."""

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any, ClassVar

from watcherlite import exceptions
from watcherlite.domain import placement, resource_results
from watcherlite.domain.resource_results import (
    REPLACE,
    UPDATE,
    Operation,
    Property,
    Result,
)
from watcherlite.domain.service_notifications import (
    ResourceFailure,
    ServiceNotification,
)
from watcherlite.plugins.base import CloudClient, ResourceContext, ResourceHandler
from watcherlite.plugins.openstack import errors
from watcherlite.plugins.openstack.profiles import server_properties, server_references
from watcherlite.plugins.openstack.profiles.node_server import SHOWN, NodeServer
from watcherlite.plugins.openstack.profiles.server_operations import OPERATIONS
from watcherlite.plugins.openstack.resources.cloud_resource import record_of
from watcherlite.plugins.openstack.resources.references import missing_as_none
from watcherlite.plugins.openstack.resources.renamed_context import RenamedContext
from watcherlite.plugins.openstack.resources.servers import Server

if TYPE_CHECKING:
    from openstack.connection import Connection


class ServerProfile(CloudClient, ResourceHandler):
    """A server, with the properties and operations of Senlin."""

    description = 'A server of nova.'
    in_templates = False
    profile_type = 'os.nova.server'
    idempotent = True
    modified_by_signals = False
    blocking = True
    service = 'compute'
    failure_events = Server.failure_events
    properties: ClassVar[Mapping[str, Property]] = server_properties.PROPERTIES
    operations: ClassVar[Mapping[str, Operation]] = {
        name: operation.declared for name, operation in OPERATIONS.items()
    }
    attributes: ClassVar[Mapping[str, str]] = {
        **{
            name: text
            for name, text in Server.attributes.items()
            if name != 'os_collect_config'
        },
        **dict.fromkeys(SHOWN, 'As nova has it.'),
        'attached_volumes': 'The ids of its volumes.',
        'flavor': 'The flavor.',
        'image': 'The id of the image; null without one.',
        'security_groups': 'The names of its security groups.',
    }

    def validate(self, properties: Mapping[str, Any]) -> None:
        problems = list(server_properties.problems(properties))
        if problems:
            raise exceptions.Invalid('; '.join(problems))

    def verify(
        self,
        connect: Callable[[str | None], 'Connection'],
        properties: Mapping[str, Any],
    ) -> None:
        given = properties.get('context') or {}
        with errors.translated(self.service, 'the profile'):
            connection = connect(given.get(placement.REGION))
            problems = list(server_references.problems(connection, properties))
        if problems:
            raise exceptions.Invalid('; '.join(problems))

    def read_properties(
        self,
        connect: Callable[[str | None], 'Connection'],
        physical_id: str,
        given: Mapping[str, Any],
    ) -> Mapping[str, Any]:
        desired = given.get('context')
        region = desired.get(placement.REGION) if isinstance(desired, Mapping) else None
        with errors.translated(self.service, f'server {physical_id}'):
            connection = connect(region)
            get = connection.compute.get_server
            server = missing_as_none(lambda: get(physical_id))
            if server is None:
                raise exceptions.NotFound(f'The server {physical_id} does not exist')
            return server_references.read(connection, record_of(server))

    def decide(
        self, before: Mapping[str, Any], after: Mapping[str, Any], failed: bool
    ) -> str:
        """Replace a server that cannot be rebuilt: one without an image."""
        decided = super().decide(before, after, failed)
        changed = set(resource_results.changed(before, after))
        rebuilds = not server_properties.REBUILDING.isdisjoint(changed)
        has_images = bool(before.get('image') and after.get('image'))
        if decided == UPDATE and rebuilds and not has_images:
            return REPLACE
        return decided

    def create(self, context: ResourceContext) -> Result:
        return self._server().create(_native(context))

    def find(self, context: ResourceContext) -> Result:
        return self._server().find(_native(context))

    def adopt(self, context: ResourceContext) -> Result:
        return self._server().adopt(_native(context))

    def check(self, context: ResourceContext) -> Result:
        return self._server().check(_native(context))

    def check_health(self, context: ResourceContext) -> Result:
        return self._server().check_health(_native(context))

    def check_host(self, context: ResourceContext) -> Result:
        return self._server().check_host(_native(context))

    @classmethod
    def failure_in(cls, notification: ServiceNotification) -> ResourceFailure | None:
        return Server.failure_in(notification)

    def update(self, context: ResourceContext) -> Result:
        return self._server().update(_native(context))

    def delete(self, context: ResourceContext) -> Result:
        return self._server().delete(_native(context))

    def on_cluster_joined(self, context: ResourceContext) -> Result:
        return self._server().on_cluster_joined(_native(context))

    def on_cluster_left(self, context: ResourceContext) -> Result:
        return self._server().on_cluster_left(_native(context))

    def operate(
        self, context: ResourceContext, operation: str, parameters: Mapping[str, Any]
    ) -> Result:
        return self._server().operate(_native(context), operation, parameters)

    def poll(self, context: ResourceContext, operation: str, token: Any) -> Result:
        return self._server().poll(_native(context), operation, token)

    def _server(self) -> NodeServer:
        server = NodeServer(self.options)
        server.clouds = self.clouds
        return server


def _native(context: ResourceContext) -> RenamedContext:
    """Return the context with the properties of an OS::Nova::Server."""
    return RenamedContext(context, server_properties.native)
