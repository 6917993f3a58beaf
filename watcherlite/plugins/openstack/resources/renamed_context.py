"""Contexts for handlers whose properties have other names."""

from collections.abc import Callable, Mapping
from typing import Any

from watcherlite.plugins.base import ResourceContext


class RenamedContext:
    """A context with the properties of another type.

    :param rename: returns the properties of that type
    """

    def __init__(
        self,
        context: ResourceContext,
        rename: Callable[[Mapping[str, Any]], Mapping[str, Any]],
    ) -> None:
        self._context = context
        self.properties: Mapping[str, Any] = rename(context.properties)
        self.before: Mapping[str, Any] = rename(context.before)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._context, name)


def renaming(
    names: Mapping[str, str],
) -> Callable[[Mapping[str, Any]], Mapping[str, Any]]:
    """Return the function that renames properties; others keep their names."""

    def rename(properties: Mapping[str, Any]) -> Mapping[str, Any]:
        return {names.get(name, name): value for name, value in properties.items()}

    return rename
