"""Profile types: each resource handler is one.

`Local::Process` is `local.process`, version 1.0. Nested stacks are not profile
types; the type of nodes that are stacks is `os.heat.stack`, see `stack_profile`.
"""

import dataclasses
import re
from collections.abc import Collection, Iterable, Mapping
from typing import Any

from watcherlite import exceptions
from watcherlite.domain.clusters import Node
from watcherlite.domain.resource_results import Operation
from watcherlite.engine.clusters.stack_profile import StackBackend, StackProfile
from watcherlite.engine.stacks.handlers import ResourceHandlers
from watcherlite.plugins import schemas, specs
from watcherlite.plugins.base import NestedHandler, ResourceHandler

#: The version of all profile types.
VERSION = '1.0'
#: The type, and the name of the handler, of nodes that are stacks.
STACK = 'os.heat.stack'
SUPPORT_STATUS = {VERSION: [{'status': 'SUPPORTED', 'since': '2026.11'}]}

_NO_ID = '00000000-0000-0000-0000-000000000000'
_WORD = re.compile(r'(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])')


@dataclasses.dataclass(frozen=True, slots=True)
class ProfileType:
    """A type of profile.

    :param handler: name of the resource handler
    :param declared: its class
    """

    name: str
    handler: str
    declared: type[ResourceHandler]

    @property
    def full_name(self) -> str:
        """Return its name with the version: `local.process-1.0`."""
        return f'{self.name}-{VERSION}'

    def schema(self) -> dict[str, Any]:
        """Return the schema of the properties for clients."""
        declared = self.declared.properties
        spec = {
            'properties': {name: dict(one.schema) for name, one in declared.items()},
            'required': [name for name, one in declared.items() if one.required],
        }
        shown = specs.describe_schema(spec)
        for name, one in declared.items():
            shown[name]['updatable'] = one.updatable
            if one.description:
                shown[name]['description'] = one.description
        return shown

    def operations(self) -> dict[str, Any]:
        """Return the operations of the type for clients."""
        return {
            name: _operation(operation)
            for name, operation in sorted(self.declared.operations.items())
        }


@dataclasses.dataclass(frozen=True, slots=True)
class CheckedSpec:
    """The validated spec of a profile.

    :param type: as clients write it: `local.process-1.0`
    :param properties: with their defaults
    """

    type: str
    handler: str
    properties: Mapping[str, Any]


class ProfileTypes:
    """The installed profile types.

    :param stacks: None: nodes cannot be stacks
    """

    def __init__(
        self, handlers: ResourceHandlers, stacks: StackBackend | None = None
    ) -> None:
        self._handlers = handlers
        self._stacks = stacks

    def all(self) -> dict[str, ProfileType]:
        """Return all types by their names, without the version."""
        found = {STACK: ProfileType(STACK, STACK, StackProfile)}
        types = self._handlers.resource_types().items()
        for entry, declared in sorted(
            types, key=lambda item: (item[1].in_templates, item[0])
        ):
            if issubclass(declared, NestedHandler):
                continue
            name = declared.profile_type or name_of(entry)
            found.setdefault(name, ProfileType(name, entry, declared))
        return found

    def find(self, name: str, version: str | None = None) -> ProfileType:
        """Return a type by its name, with or without the version.

        :raises NotFound: there is none
        """
        desired = f'{name}-{version}' if version else name
        bare, dash, given = desired.rpartition('-')
        if not dash:
            bare, given = desired, VERSION
        found = self.all().get(bare)
        if found is None or given != VERSION:
            known = ', '.join(sorted(one.full_name for one in self.all().values()))
            raise exceptions.NotFound(
                f"The profile_type '{desired}' could not be found. "
                f'Known types: {known}.'
            )
        return found

    def check(self, spec: Any) -> CheckedSpec:
        """Return the validated spec of a profile.

        :raises NotFound: the type does not exist
        :raises Invalid: with all invalid properties
        """
        if not isinstance(spec, Mapping):
            raise exceptions.Invalid('The provided spec is not a map.')
        found = self.find(*versioned_type(spec))
        given = properties_of(spec)
        handler = self.make(found.handler)
        declared = handler.properties
        if not handler.allows_undeclared:
            required = [name for name, one in declared.items() if one.required]
            check_items(given, declared, required)
        fitted = self.fit(handler, given)
        return CheckedSpec(found.full_name, found.handler, fitted)

    def make(self, handler: str) -> ResourceHandler:
        """Return a handler; raises PluginNotFound or PluginError."""
        if handler != STACK:
            return self._handlers.make_resource_handler(handler)
        if self._stacks is None:
            raise exceptions.PluginError('This process cannot create stacks')
        return StackProfile(stacks=self._stacks)

    def fit(
        self,
        handler: ResourceHandler,
        given: Mapping[str, Any],
        node: Node | None = None,
        check: bool = True,
    ) -> dict[str, Any]:
        """Return the validated properties of a profile for one of its nodes.

        `%index%`, `%name%` and `%id%` are replaced by those of the node, so that nodes
        of one profile can differ. The placement of the node by a policy is its property
        `placement`, if the type has one.

        :param node: None: of no particular node
        :param check: whether the handler must allow them; False for an existing
            resource
        :raises Invalid: with all invalid properties
        """
        filled: dict[str, Any] = fill_placeholders(given, node)
        placement = node.data.get('placement') if node is not None else None
        if placement and 'placement' in handler.properties:
            filled['placement'] = placement
        try:
            fitted = self._handlers.fit_properties(handler, filled)
        except exceptions.Invalid:
            if check:
                raise
            return filled
        if check:
            handler.validate(fitted)
        return fitted


def versioned_type(spec: Mapping[str, Any]) -> tuple[str, str]:
    """Return the type and the version of the spec of a profile or policy.

    :raises Invalid: they are missing, or a key is unknown
    """
    for key in ('type', 'version'):
        if key not in spec:
            raise exceptions.Invalid(
                f"The '{key}' key is missing from the provided spec map."
            )
    unknown = sorted(set(spec) - {'type', 'version', 'properties', 'description'})
    if unknown:
        raise exceptions.Invalid(f"Unrecognizable spec item '{unknown[0]}'")
    return str(spec['type']), str(spec['version'])


def properties_of(spec: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return the properties of the spec of a profile or policy; raises Invalid."""
    properties = spec.get('properties')
    if not isinstance(properties, Mapping | None):
        raise exceptions.Invalid('The properties of a spec are a map.')
    return properties or {}


def check_items(
    given: Mapping[str, Any], known: Collection[str], required: Iterable[str]
) -> None:
    """Raise Invalid for the unknown and the missing properties of a spec.

    With the texts of Senlin, and for all of them.
    """
    names = sorted(str(key) for key in given)
    wrong = [f"Unrecognizable spec item '{key}'" for key in names if key not in known]
    wrong += [
        f"Required spec item '{key}' not provided"
        for key in required
        if key not in given
    ]
    if len(wrong) > schemas.MAX_PROBLEMS:
        more = len(wrong) - schemas.MAX_PROBLEMS
        wrong = [*wrong[: schemas.MAX_PROBLEMS], f'and {more} more problems']
    if wrong:
        raise exceptions.Invalid('; '.join(wrong))


def name_of(entry_point: str) -> str:
    """Return the name of the profile type of a resource handler.

    `OS::Heat::RandomString` is `os.heat.random_string`.
    """
    parts = (_WORD.sub('_', part).lower() for part in entry_point.split('::'))
    return '.'.join(parts)


def fill_placeholders(value: Any, node: Node | None) -> Any:
    """Replace the placeholders in a value by the values of a node, see `fit`."""
    if isinstance(value, str):
        for name, text in _own(node).items():
            value = value.replace(f'%{name}%', text)
        return value
    if isinstance(value, Mapping):
        return {key: fill_placeholders(inner, node) for key, inner in value.items()}
    if isinstance(value, list | tuple):
        return [fill_placeholders(inner, node) for inner in value]
    return value


def _own(node: Node | None) -> dict[str, str]:
    if node is None:
        return {'index': '1', 'name': 'node', 'id': _NO_ID}
    return {'index': str(node.index), 'name': node.name, 'id': node.uuid}


def operation_parameters(
    handler: ResourceHandler | type[ResourceHandler],
    operation: str,
    given: Mapping[str, Any] | None,
) -> dict[str, Any]:
    """Return the validated parameters of an operation with their defaults.

    :raises Invalid: the operation does not exist, or a parameter is invalid
    """
    declared = handler.operations.get(operation)
    if declared is None:
        known = ', '.join(sorted(handler.operations)) or 'none'
        raise exceptions.Invalid(
            f"The requested operation '{operation}' is not supported by the profile "
            f'type (supported: {known}).'
        )
    properties = declared.schema.get('properties') or {}
    filled = {k: v['default'] for k, v in properties.items() if 'default' in v}
    filled |= given or {}
    label = f'The schema of the operation {operation}'
    errors = schemas.first_errors(schemas.validator_of(declared.schema, label), filled)
    if errors:
        raise exceptions.Invalid('; '.join(schemas.problems(errors, 'params')))
    return filled


def _operation(operation: Operation) -> dict[str, Any]:
    parameters = specs.describe_schema(operation.schema)
    for shown in parameters.values():
        # The parameters of a call cannot be updated.
        del shown['updatable']
    return {'description': operation.description, 'parameters': parameters}
