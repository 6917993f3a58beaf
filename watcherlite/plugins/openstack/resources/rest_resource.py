"""The base of resource types of services that openstacksdk only connects to.

It authenticates and finds their endpoints in the catalog, but has no methods for their
objects: they are requested by path here.
"""

from collections.abc import Iterator, Mapping
from typing import Any, ClassVar

from watcherlite.plugins.base import ResourceContext
from watcherlite.plugins.openstack.resources.cloud_resource import CloudResource
from watcherlite.plugins.openstack.resources.links import Link
from watcherlite.plugins.openstack.resources.references import missing_as_none


class RestResource(CloudResource):
    """A resource that is one object of such a service.

    :cvar path: of its objects, below the endpoint of the service
    :cvar version: of the API, in its paths
    :cvar key: of its id
    :cvar wrapper: the key of an object in bodies; empty: the body is the object
    :cvar listing: the key of the objects in a list; empty: the body is the list
    :cvar update_method: of the request that updates an object
    """

    path: ClassVar[str]
    version: ClassVar[str] = ''
    key: ClassVar[str] = 'id'
    wrapper: ClassVar[str] = ''
    listing: ClassVar[str] = ''
    update_method: ClassVar[str] = 'PUT'

    def make(self, connection: Any, body: Mapping[str, Any]) -> Link:
        return self._object(
            self.request(connection, 'POST', self.path, self.wrapped(body))
        )

    def get(self, connection: Any, physical_id: str) -> Any:
        path = f'{self.path}/{physical_id}'
        return missing_as_none(
            lambda: self._object(self.request(connection, 'GET', path))
        )

    def change(self, connection: Any, physical_id: str, body: dict[str, Any]) -> Any:
        path = f'{self.path}/{physical_id}'
        wrapped = self.wrapped(body)
        return self._object(self.request(connection, self.update_method, path, wrapped))

    def destroy(self, connection: Any, context: ResourceContext) -> None:
        path = f'{self.path}/{context.physical_id}'
        missing_as_none(lambda: self.request(connection, 'DELETE', path))

    def search(self, connection: Any, filters: Mapping[str, Any]) -> Iterator[Link]:
        """Yield all objects: not every service filters them."""
        found = self.request(connection, 'GET', self.path)
        listed = found[self.listing] if self.listing else found
        for item in listed:
            yield Link(str(item[self.key]), item)

    def wrapped(self, body: Mapping[str, Any]) -> Any:
        """Return the body of a request for an object."""
        return {self.wrapper: dict(body)} if self.wrapper else dict(body)

    def request(self, connection: Any, method: str, path: str, body: Any = None) -> Any:
        """Return the body of a response; raise the exceptions of openstacksdk."""
        # Slow to import, and not needed without a cloud.
        from openstack import exceptions as cloud

        given: dict[str, Any] = {} if body is None else {'json': body}
        proxy = self.proxy(connection)
        # As in the catalog: the discovery of versions would cost further requests.
        endpoint = str(proxy.get_endpoint(skip_discovery=True) or '').rstrip('/')
        if endpoint:
            given['endpoint_override'] = endpoint
        # Some catalogs have the version in the endpoint.
        if self.version and not endpoint.endswith(f'/{self.version}'):
            path = f'/{self.version}{path}'
        response = proxy.request(path, method, **given)
        cloud.raise_from_response(response)
        return response.json() if response.content else None

    def _object(self, body: Any) -> Link:
        record = body[self.wrapper] if self.wrapper else body
        return Link(str(record[self.key]), record)
