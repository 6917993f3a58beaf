"""The description of a template for users, see `POST /validate`."""

import json
from collections.abc import Mapping
from typing import Any

from watcherlite import exceptions
from watcherlite.domain.templates import constraints, document, parameters
from watcherlite.domain.templates import environment as environments
from watcherlite.domain.templates.definitions import ParameterDefinition
from watcherlite.domain.templates.environment import Registry
from watcherlite.domain.templates.scope import MAX_SHOWN, EvaluationBudget
from watcherlite.domain.templates.template import Template, load

#: The names of the types of parameters in the API.
_TYPES = {
    'string': 'String',
    'number': 'Number',
    'boolean': 'Boolean',
    'json': 'Json',
    'comma_delimited_list': 'CommaDelimitedList',
}
_RANGES = {
    constraints.LENGTH: {'min': 'MinLength', 'max': 'MaxLength'},
    constraints.RANGE: {'min': 'MinValue', 'max': 'MaxValue'},
    constraints.MODULO: {'step': 'Step', 'offset': 'Offset'},
}
#: Maximum number of nested templates in a description.
MAX_NESTED = 1000
_VALUES = {
    constraints.VALUES: 'AllowedValues',
    constraints.PATTERN: 'AllowedPattern',
    constraints.CUSTOM: 'CustomConstraint',
}


def describe(
    template: Template,
    given: Mapping[str, Any] | None = None,
    environment: Mapping[str, Any] | None = None,
    files: Mapping[str, str] | None = None,
    nested: int = 0,
    limit: int = document.MAX_BYTES,
) -> dict[str, Any]:
    """Return the body of the response to `POST /validate`.

    :param given: parameters, which override those of the environment; all are optional
    :param nested: the number of levels of nested templates to include
    :param limit: the maximum size of a nested template, in bytes
    :raises StackValidationFailed: a nested template is invalid
    """
    around = dict(environment or {})
    known = parameters.given_values(template, given or {}, around)
    found: dict[str, Any] = {
        'Description': template.description,
        'Parameters': {
            name: _parameter(parameter, known.get(name))
            for name, parameter in template.parameters.items()
        },
        'Environment': _masked(around, template.hidden),
    }
    if template.groups:
        found['ParameterGroups'] = [dict(group) for group in template.groups]
    if nested > 0:
        inner = _Nesting(files or {}, limit).described(template, around, nested)
        if inner:
            found['NestedParameters'] = inner
    return found


def _masked(environment: dict[str, Any], hidden: frozenset[str]) -> dict[str, Any]:
    found = dict(environment)
    for section in ('parameters', 'parameter_defaults'):
        if found.get(section):
            found[section] = {
                name: parameters.MASK if name in hidden else value
                for name, value in found[section].items()
            }
    return found


def _parameter(parameter: ParameterDefinition, value: Any) -> dict[str, Any]:
    found: dict[str, Any] = {
        'Type': _TYPES[parameter.type],
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


class _Nesting:
    """Describes the templates of resources."""

    def __init__(self, files: Mapping[str, str], limit: int) -> None:
        self._files = files
        self._limit = limit
        self._loaded: dict[str, Template] = {}
        self._left = MAX_NESTED
        self._shown = EvaluationBudget(
            MAX_SHOWN,
            'the nested templates have more than {} characters together; ask without '
            'show_nested',
        )

    def described(
        self, template: Template, around: Mapping[str, Any], levels: int
    ) -> dict[str, Any]:
        """Return the descriptions by the name of the resource."""
        registry = Registry(around)
        found: dict[str, Any] = {}
        for name, resource in template.resources.items():
            handler = registry.type_of(name, resource.type)
            if handler not in self._files:
                continue
            self._left -= 1
            if self._left < 0:
                raise exceptions.StackValidationFailed(
                    f'there are more than {MAX_NESTED} nested templates; ask without '
                    'show_nested'
                )
            # An estimate of the size of a description.
            self._shown.spend(len(self._files[handler]))
            inner = self._load(name, handler)
            inherited = environments.nested(around, name)
            described = describe(inner, {}, inherited)
            del described['Environment']
            further = self.described(inner, inherited, levels - 1) if levels > 1 else {}
            if further:
                described['NestedParameters'] = further
            found[name] = {'Type': handler, **described}
        return found

    def _load(self, resource: str, name: str) -> Template:
        if name not in self._loaded:
            try:
                text = self._files[name]
                self._loaded[name] = load(document.parse(text, name, self._limit))
            except exceptions.TemplateInvalid as error:
                problems = [f'resources.{resource}: {one}' for one in error.problems]
                raise exceptions.TemplateInvalid(problems) from None
        return self._loaded[name]
