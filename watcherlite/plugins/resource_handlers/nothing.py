"""A resource without effect, as a replacement for another one."""

from collections.abc import Mapping
from typing import Any

from watcherlite.domain.resource_results import KEEP, Ready
from watcherlite.plugins.base import ResourceContext, ResourceHandler


class Nothing(ResourceHandler):
    """Do nothing, with any properties; an environment maps other types to it.

    All attributes are null, and changes of properties have no effect.
    """

    description = (
        'A resource without effect; it accepts any properties, and all attributes '
        'are null.'
    )
    allows_undeclared = True
    idempotent = True
    replaces_failed = False
    modified_by_signals = False

    def attribute_names(self, properties: Mapping[str, Any]) -> None:
        """Return None: it has any attribute."""

    def decide(
        self, before: Mapping[str, Any], after: Mapping[str, Any], failed: bool
    ) -> str:
        return KEEP

    def create(self, context: ResourceContext) -> Ready:
        return Ready(physical_id=context.resource_uuid)

    def check(self, context: ResourceContext) -> Ready:
        return Ready()

    def delete(self, context: ResourceContext) -> None:
        """Do nothing."""
