"""The definition of a stack from a request, and from an update of a definition."""

from collections.abc import Mapping
from typing import Any

from watcherlite import exceptions
from watcherlite.domain.documents.json_values import kind
from watcherlite.domain.stacks import Definition, StackRequest
from watcherlite.domain.templates import environment as environments
from watcherlite.domain.templates import formats
from watcherlite.domain.templates.environment import (
    DEFAULTS,
    ENCRYPTED,
    PARAMETERS,
    REGISTRY,
)


def build_definition(new: StackRequest) -> Definition:
    """Return the definition in a request.

    A request to adopt has a template and an environment in the document that it
    adopts; those of the request itself override them.

    :raises StackValidationFailed: there is no template, or a part is not a mapping
    """
    adopted = mapping_at('adopt_stack_data', new.adopt)
    template = new.template if new.template is not None else adopted.get('template')
    if template is None:
        raise exceptions.StackValidationFailed('template: it is missing')
    if not isinstance(template, Mapping):
        raise exceptions.StackValidationFailed(
            f'template: this is {kind(template)}; it must be a mapping'
        )
    return Definition(
        template=template,
        environment=_merge_environments(
            environments.load(adopted.get('environment')),
            environments.load(new.environment),
        ),
        files={**_files(adopted.get('files')), **_files(new.files)},
        parameters=mapping_at('parameters', new.parameters),
    )


def merge_update(before: Definition, new: StackRequest) -> Definition:
    """Return the definition of a stack after an update.

    An `existing` update is merged into the definition. Parameters that it clears, or
    that its template does not declare, are dropped.

    :raises StackValidationFailed: see `build_definition`
    """
    if not new.existing:
        return build_definition(new)
    dropped = set(new.clear_parameters)
    template = before.template
    if new.template is not None:
        template = new.template
        dropped |= _undeclared(before, template)
    environment = environments.load(new.environment)
    given = environment.get(PARAMETERS) or {}
    kept = dict(before.environment)
    kept[PARAMETERS] = _without(kept.get(PARAMETERS) or {}, dropped)
    # The new environment overrides the parameters of earlier requests.
    parameters = _without(before.parameters, {*dropped, *given})
    changed = build_definition(
        StackRequest(new.name, template, environment, new.files, new.parameters)
    )
    return Definition(
        template=changed.template,
        environment=_merge_environments(kept, environment),
        files={**before.files, **changed.files},
        parameters={**parameters, **changed.parameters},
    )


def mapping_at(place: str, value: Any) -> dict[str, Any]:
    """Return a mapping of a request, empty for None; raises StackValidationFailed."""
    if value is None:
        return {}
    if not isinstance(value, Mapping):
        raise exceptions.StackValidationFailed(
            f'{place}: this is {kind(value)}; it must be a mapping'
        )
    return dict(value)


def _merge_environments(
    before: Mapping[str, Any], after: Mapping[str, Any]
) -> dict[str, Any]:
    merged = {**before, **after}
    for key in (PARAMETERS, DEFAULTS, REGISTRY):
        if key in before and key in after:
            merged[key] = {**before[key], **after[key]}
    if REGISTRY in before and REGISTRY in after:
        inner = [e[REGISTRY].get('resources') or {} for e in (before, after)]
        if any(inner):
            merged[REGISTRY]['resources'] = {**inner[0], **inner[1]}
    if ENCRYPTED in before and ENCRYPTED in after:
        names = [*before[ENCRYPTED], *after[ENCRYPTED]]
        merged[ENCRYPTED] = list(dict.fromkeys(names))
    return {key: value for key, value in merged.items() if value not in (None, {}, [])}


def _undeclared(before: Definition, template: Mapping[str, Any]) -> set[str]:
    """Return the parameters with a value that a template does not declare.

    These are all of them if its section is invalid, which validation reports.
    """
    names = set(formats.mapping_section(template, PARAMETERS))
    given = {*before.parameters, *(before.environment.get(PARAMETERS) or ())}
    return given - names


def _without(values: Mapping[str, Any], names: set[str]) -> dict[str, Any]:
    return {name: value for name, value in values.items() if name not in names}


def _files(value: Any) -> dict[str, str]:
    files = mapping_at('files', value)
    problems = [
        f'files.{name}: this is {kind(text)}; it must be text'
        for name, text in files.items()
        if not isinstance(text, str)
    ]
    if problems:
        raise exceptions.StackValidationFailed(problems)
    return files
