"""Relations between cloud objects, which have no id of their own."""

import dataclasses
from collections.abc import Mapping
from typing import Any

from watcherlite.domain.resource_results import ResourceInProgress, Result
from watcherlite.plugins.base import ResourceContext
from watcherlite.plugins.openstack.resources.cloud_resource import CloudResource


@dataclasses.dataclass(frozen=True, slots=True)
class Link:
    """A relation that exists.

    :param id: composed of the ids of its objects
    """

    id: str
    record: Mapping[str, Any] = dataclasses.field(default_factory=dict)

    def to_dict(self, **options: Any) -> dict[str, Any]:
        """Return the record, as objects of openstacksdk do."""
        return {**self.record, 'id': self.id}


class LinkResource(CloudResource):
    """A resource that is a relation: it is found by its objects, and needs no mark."""

    def link_id(self, context: ResourceContext, connection: Any) -> str:
        """Return the id that it has, or would have."""
        raise NotImplementedError

    def join(self, context: ResourceContext, connection: Any) -> Link:
        """Establish the relation."""
        raise NotImplementedError

    def _is_to_be_named(
        self, context: ResourceContext, record: Mapping[str, Any]
    ) -> bool:
        return False

    def _create(self, context: ResourceContext, connection: Any) -> Result:
        context.fence()
        return self._created(context, connection, self.join(context, connection))

    def _find(self, context: ResourceContext, connection: Any) -> Result:
        desired = self.link_id(context, connection)
        if self.get(connection, desired) is None:
            return None
        return ResourceInProgress({'step': 'wait'}, 0.0, desired)
