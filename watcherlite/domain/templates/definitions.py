"""The declarations of a template: resources and outputs."""

import dataclasses
from collections.abc import Mapping
from typing import Any

from watcherlite.domain.templates.nodes import Node, Static
from watcherlite.domain.templates.parameter_definitions import ParameterDefinition

__all__ = ['OutputDefinition', 'ParameterDefinition', 'ResourceDefinition']

DELETE, RETAIN = 'Delete', 'Retain'
_NOTHING = Static(None)


@dataclasses.dataclass(frozen=True, slots=True)
class ResourceNodes:
    """The compiled parts of a resource.

    :param condition: None: it has no condition
    :param external_id: None: it is constant
    """

    properties: Node = _NOTHING
    metadata: Node = _NOTHING
    update_policy: Node = _NOTHING
    condition: Node | None = None
    external_id: Node | None = None


_NO_NODES = ResourceNodes()


@dataclasses.dataclass(frozen=True, slots=True)
class ResourceDefinition:
    """One resource, as declared; `properties` and so on are not evaluated.

    :param depends_on: names of resources, in addition to references
    :param deletion_policy: DELETE or RETAIN
    :param external_id: the id of an existing resource, which is not created
    """

    name: str
    type: str
    properties: Mapping[str, Any] = dataclasses.field(default_factory=dict)
    metadata: Mapping[str, Any] = dataclasses.field(default_factory=dict)
    depends_on: tuple[str, ...] = ()
    deletion_policy: str = DELETE
    update_policy: Mapping[str, Any] = dataclasses.field(default_factory=dict)
    condition: Any = None
    description: str = ''
    external_id: str | None = None
    nodes: ResourceNodes = dataclasses.field(
        default=_NO_NODES, repr=False, compare=False
    )


@dataclasses.dataclass(frozen=True, slots=True)
class OutputDefinition:
    """One output, as declared.

    :param value: not evaluated
    """

    key: str
    value: Any
    description: str = ''
    condition: Any = None
    node: Node = dataclasses.field(default=_NOTHING, repr=False, compare=False)
    condition_node: Node | None = dataclasses.field(
        default=None, repr=False, compare=False
    )
