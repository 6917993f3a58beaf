"""A resource that does nothing, in place of another one."""

from collections.abc import Mapping
from typing import Any

from watcherlite.domain.resource_results import KEEP, Ready
from watcherlite.plugins.base import ResourceContext, ResourceHandler


class Nothing(ResourceHandler):
    """Is nothing, whatever its properties; an environment puts it in the way.

    Every attribute of it is null, and no change of its properties changes it.
    """

    description = 'Nothing; it takes any properties, and each attribute is null.'
    allows_undeclared = True
    idempotent = True
    replaces_failed = False
    modified_by_signals = False

    def attribute_names(self, properties: Mapping[str, Any]) -> None:
        """Return None: it has any attribute."""

    def decide(
        self, before: Mapping[str, Any], after: Mapping[str, Any], failed: bool
    ) -> str:
        """Return KEEP."""
        return KEEP

    def create(self, context: ResourceContext) -> Ready:
        """Do nothing."""
        return Ready(physical_id=context.resource_uuid)

    def check(self, context: ResourceContext) -> Ready:
        """Do nothing."""
        return Ready()

    def delete(self, context: ResourceContext) -> None:
        """Do nothing."""
