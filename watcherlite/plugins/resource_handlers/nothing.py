"""A resource that is nothing, in the place of one that is not wanted."""

from collections.abc import Mapping
from typing import Any

from watcherlite.domain.handling import KEEP, Ready
from watcherlite.plugins.base import ResourceContext, ResourceHandler


class Nothing(ResourceHandler):
    """Is nothing, whatever its properties; an environment puts it in the way.

    Every attribute of it is null, and no change of its properties changes it.
    """

    description = 'Nothing; it takes any properties, and each attribute is null.'
    accepts_any = True
    idempotent = True
    replaces_failed = False
    modified_by_signals = False

    def attribute_names(self, properties: Mapping[str, Any]) -> None:
        """Return None: it has any, as what it stands in for may have."""

    def decide(
        self, before: Mapping[str, Any], after: Mapping[str, Any], failed: bool
    ) -> str:
        """Keep it: there is nothing to change, and nothing to replace."""
        return KEEP

    def create(self, context: ResourceContext) -> Ready:
        """Make nothing."""
        return Ready(physical_id=context.resource_uuid)

    def check(self, context: ResourceContext) -> Ready:
        """Find nothing, as it should be."""
        return Ready()

    def delete(self, context: ResourceContext) -> None:
        """Delete nothing."""
