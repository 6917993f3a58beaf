"""Marks on cloud objects, by which their creation is recognised after a crash.

An object carries the uuid of the resource that created it from its first request on. So
a worker that takes over from a lost one finds it, and creates no second one.
"""

from collections.abc import Mapping
from typing import Any, Protocol

from watcherlite.plugins.base import ResourceContext

#: The key of the uuid of the resource in the metadata of an object.
KEY = 'watcherlite_resource'


class Marker(Protocol):
    """A kind of mark."""

    def add(self, body: dict[str, Any], context: ResourceContext) -> None:
        """Add the mark to a request that creates an object."""

    def filters(
        self, body: Mapping[str, Any], context: ResourceContext
    ) -> dict[str, Any]:
        """Return the filters of a list that contains the marked object.

        :param body: of the request that created it, without the mark
        """

    def matches(self, record: Mapping[str, Any], context: ResourceContext) -> bool:
        """Return whether an object has the mark."""


class DescriptionMarker:
    """The description of objects whose resource type has no such property."""

    def add(self, body: dict[str, Any], context: ResourceContext) -> None:
        body['description'] = f'{KEY}:{context.resource_uuid}'

    def filters(
        self, body: Mapping[str, Any], context: ResourceContext
    ) -> dict[str, Any]:
        return {'description': f'{KEY}:{context.resource_uuid}'}

    def matches(self, record: Mapping[str, Any], context: ResourceContext) -> bool:
        return record.get('description') == f'{KEY}:{context.resource_uuid}'


class NameMarker:
    """A unique name, which the object keeps until its creation is durable."""

    def add(self, body: dict[str, Any], context: ResourceContext) -> None:
        body['name'] = context.physical_name

    def filters(
        self, body: Mapping[str, Any], context: ResourceContext
    ) -> dict[str, Any]:
        return {'name': context.physical_name}

    def matches(self, record: Mapping[str, Any], context: ResourceContext) -> bool:
        return record.get('name') == context.physical_name


class MetadataMarker:
    """An entry of the metadata.

    :param attribute: the metadata; None: properties of the object itself
    """

    def __init__(self, attribute: str | None = 'metadata') -> None:
        self._attribute = attribute

    def add(self, body: dict[str, Any], context: ResourceContext) -> None:
        if self._attribute is None:
            body[KEY] = context.resource_uuid
            return
        known = body.get(self._attribute) or {}
        body[self._attribute] = {**known, KEY: context.resource_uuid}

    def filters(
        self, body: Mapping[str, Any], context: ResourceContext
    ) -> dict[str, Any]:
        return {'name': body['name']}

    def matches(self, record: Mapping[str, Any], context: ResourceContext) -> bool:
        known = record if self._attribute is None else record.get(self._attribute)
        return (known or {}).get(KEY) == context.resource_uuid
