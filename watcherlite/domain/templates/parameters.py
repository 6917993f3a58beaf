"""The values of the parameters of a stack."""

import json
from collections.abc import Collection, Mapping
from typing import Any

from watcherlite import exceptions
from watcherlite.domain.documents.json_values import kind
from watcherlite.domain.documents.markup import path_text
from watcherlite.domain.templates.definitions import InvalidValue, ParameterDefinition
from watcherlite.domain.templates.template import Template

#: Replaces hidden values.
MASK = '******'
#: Sections of an environment; the later one overrides the earlier one.
_SECTIONS = ('parameter_defaults', 'parameters')


def given_values(
    template: Template, given: Mapping[str, Any], environment: Mapping[str, Any]
) -> dict[str, Any]:
    """Return the given values of the declared parameters of a template.

    Null values count as not given.

    :param given: overrides `parameters` of the environment, which override
        `parameter_defaults`
    """
    found: dict[str, Any] = {}
    for values in (*(environment.get(name) or {} for name in _SECTIONS), given):
        for name, value in values.items():
            if name in template.parameters and value is not None:
                found[name] = value
    return found


def values(
    template: Template,
    given: Mapping[str, Any],
    environment: Mapping[str, Any],
    pseudo: Mapping[str, Any],
) -> dict[str, Any]:
    """Return the values of all parameters of a template, converted to their types.

    :param pseudo: the values of pseudo parameters such as `OS::stack_name`
    :raises UnknownUserParameter, UserParameterMissing: this is the only problem
    :raises StackValidationFailed: with all problems, without hidden values
    """
    unknown: list[str] = []
    for names in (environment.get('parameters') or {}, given):
        for name in names:
            if name not in template.parameters:
                unknown.append(
                    _problem(
                        name, f'The Parameter ({name}) was not defined in template.'
                    )
                )
    missing: list[str] = []
    wrong: list[str] = []
    found: dict[str, Any] = dict(pseudo)
    known = given_values(template, given, environment)
    for name, parameter in template.parameters.items():
        value = known.get(name, parameter.default)
        if value is None:
            text = f'The Parameter ({name}) was not provided.'
            missing.append(_problem(name, text))
            continue
        try:
            found[name] = parameter.fitted(value)
        except InvalidValue as error:
            text = f"Parameter '{name}' is invalid: {error}"
            wrong.append(_problem(name, text))
    unknown = list(dict.fromkeys(unknown))
    kinds: list[tuple[list[str], type[exceptions.StackValidationFailed]]] = [
        (unknown, exceptions.UnknownUserParameter),
        (missing, exceptions.UserParameterMissing),
        (wrong, exceptions.StackValidationFailed),
    ]
    present = [raised for problems, raised in kinds if problems]
    if present:
        one = present[0] if len(present) == 1 else exceptions.StackValidationFailed
        raise one([*unknown, *missing, *wrong])
    return found


def check_immutable(
    template: Template, before: Mapping[str, Any], after: Mapping[str, Any]
) -> None:
    """Refuse changes of immutable parameters.

    :param template: the template of the update
    :param before: the present values; new parameters may have any value
    :raises ImmutableParameterModified: with the names
    """
    names = [
        name
        for name, parameter in template.parameters.items()
        if parameter.immutable and name in before and before[name] != after.get(name)
    ]
    if names:
        raise exceptions.ImmutableParameterModified(
            'The following parameters are immutable and may not be updated: '
            f'{", ".join(names)}; give them the values that they have'
        )


def display_values(
    template: Template, values: Mapping[str, Any], hidden: Collection[str]
) -> dict[str, str]:
    """Return values as texts for users; hidden ones are masked."""
    return {
        name: MASK if name in hidden else _text(template.parameters.get(name), value)
        for name, value in values.items()
    }


def _text(parameter: ParameterDefinition | None, value: Any) -> str:
    if parameter is not None and parameter.type == 'comma_delimited_list':
        return ','.join(value)
    if isinstance(value, (dict, list)):
        return json.dumps(value)
    return str(value)


def check_mapping(section: str, value: Any) -> dict[str, Any]:
    """Return the parameters of a request as a mapping; raises StackValidationFailed."""
    if value is None:
        return {}
    if not isinstance(value, Mapping):
        raise exceptions.StackValidationFailed(
            f'{section}: this is {kind(value)}; it must be a mapping of parameters'
        )
    return dict(value)


def _problem(name: str, text: str) -> str:
    return f'{path_text(("parameters", str(name)))}: {text}'
