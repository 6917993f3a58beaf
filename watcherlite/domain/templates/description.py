"""The description of a template for users, see `POST /validate`."""

import json
from collections.abc import Collection, Mapping
from typing import Any

from watcherlite.domain.templates import constraints, parameters
from watcherlite.domain.templates import environment as environments
from watcherlite.domain.templates.definitions import ParameterDefinition
from watcherlite.domain.templates.formats import CFN
from watcherlite.domain.templates.template import Template

_RANGES = {
    constraints.LENGTH: {'min': 'MinLength', 'max': 'MaxLength'},
    constraints.RANGE: {'min': 'MinValue', 'max': 'MaxValue'},
    constraints.MODULO: {'step': 'Step', 'offset': 'Offset'},
}
#: The description of a template without one, as clients know it.
NO_DESCRIPTION = 'No description'
_VALUES = {
    constraints.VALUES: 'AllowedValues',
    constraints.PATTERN: 'AllowedPattern',
    constraints.CUSTOM: 'CustomConstraint',
}


def describe(
    template: Template,
    given: Mapping[str, Any] | None = None,
    environment: Mapping[str, Any] | None = None,
) -> dict[str, Any]:
    """Return the description of a template.

    :param given: parameters, which override those of the environment; all are optional
    """
    known = parameters.given_values(template, given or {}, environment or {})
    found: dict[str, Any] = {
        'Description': template.description or NO_DESCRIPTION,
        'Parameters': {
            name: _parameter(parameter, known.get(name))
            for name, parameter in template.parameters.items()
        },
    }
    if template.groups:
        found['ParameterGroups'] = [dict(group) for group in template.groups]
    return found


def describe_environment(
    template: Template, environment: Mapping[str, Any], files: Collection[str]
) -> dict[str, Any]:
    """Return an environment with all sections; hidden values are masked.

    Files that resources name as their types are registered as such.
    """
    found = _masked(environments.complete(environment), template.hidden)
    types = {one.type for one in template.resources.values()} & {*files}
    found[environments.REGISTRY] = {
        **{name: name for name in sorted(types)},
        **found[environments.REGISTRY],
    }
    return found


def _masked(environment: dict[str, Any], hidden: frozenset[str]) -> dict[str, Any]:
    found = dict(environment)
    for section in (environments.PARAMETERS, environments.DEFAULTS):
        if found.get(section):
            found[section] = {
                name: parameters.MASK if name in hidden else value
                for name, value in found[section].items()
            }
    return found


def _parameter(parameter: ParameterDefinition, value: Any) -> dict[str, Any]:
    found: dict[str, Any] = {
        'Type': CFN.types[parameter.type],
        'Description': parameter.description,
        'NoEcho': 'true' if parameter.hidden else 'false',
        'Label': parameter.label or parameter.name,
    }
    if parameter.default is not None:
        found['Default'] = _plain(parameter.default)
    if value is not None:
        found['Value'] = parameters.MASK if parameter.hidden else _plain(value)
    if parameter.tags:
        found['Tags'] = list(parameter.tags)
    descriptions = []
    for rule in parameter.constraints:
        if rule.kind in _VALUES:
            found[_VALUES[rule.kind]] = rule.settings['value']
        else:
            names = _RANGES[rule.kind]
            found |= {names[key]: setting for key, setting in rule.settings.items()}
        if rule.description:
            descriptions.append(rule.description)
    if descriptions:
        found['ConstraintDescription'] = ' '.join(descriptions)
    return found


def _plain(value: Any) -> Any:
    return json.dumps(value) if isinstance(value, dict) else value
