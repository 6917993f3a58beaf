"""The functions of templates that read parameters, resources and files."""

from typing import Any

from watcherlite.domain.documents.json_values import kind
from watcherlite.domain.templates.functions.text_functions import as_list
from watcherlite.domain.templates.scope import EvaluationError, Scope


def get_param(given: Any, scope: Scope) -> Any:
    """Return a parameter, or the part at a path in it; '' if it does not exist."""
    name, *path = [given] if isinstance(given, str) else as_list(given, 'its path', 1)
    if not isinstance(name, str) or name not in scope.parameters:
        raise EvaluationError(
            'there is no parameter of that name; name one of the template'
        )
    value = scope.parameters[name]
    for step in path:
        try:
            value = _get_item(value, step)
        except (LookupError, TypeError, ValueError, OverflowError):
            return ''
    return scope.copy(value)


def _get_item(value: Any, step: Any) -> Any:
    if isinstance(value, dict):
        return value[step] if isinstance(step, str) else value[str(step)]
    if isinstance(value, list):
        return value[int(step)]
    raise KeyError(step)


def get_resource(given: Any, scope: Scope) -> Any:
    """Return the reference of a resource."""
    if not isinstance(given, str):
        raise EvaluationError(
            f'its argument is {kind(given)}; it must be the name of a resource'
        )
    return scope.copy(scope.references.reference(given))


def get_attr(given: Any, scope: Scope) -> Any:
    """Return an attribute of a resource, or the part at a path in it."""
    name, *path = [given] if isinstance(given, str) else as_list(given, 'its path', 1)
    if not isinstance(name, str):
        raise EvaluationError(
            f'it begins with {kind(name)}; it must be the name of a resource'
        )
    if any(step is None for step in path):
        return None
    for step in path:
        if not isinstance(step, (str, int, float)):
            raise EvaluationError(
                f'a step of its path is {kind(step)}; it must be text'
            )
    return scope.copy(scope.references.attribute(name, path))


def get_file(given: Any, scope: Scope) -> str:
    """Return the text of a file of the stack."""
    if not isinstance(given, str):
        raise EvaluationError(
            f'its argument is {kind(given)}; it must be the name of a file'
        )
    text = scope.files.get(given)
    if not isinstance(text, str):
        raise EvaluationError('there is no file of that name; send its text in files')
    scope.spend(len(text))
    return text


def resource_facade(given: Any, scope: Scope) -> Any:
    """Return a part of the resource of the parent that the stack is."""
    if scope.facade is None:
        raise EvaluationError(
            'the stack is not a resource of another one; use the template as the type '
            'of a resource'
        )
    return scope.copy(scope.facade[given])
