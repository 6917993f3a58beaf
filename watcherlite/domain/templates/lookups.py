"""The functions that look something up: parameters, resources, files."""

from typing import Any

from watcherlite.domain.json_values import kind
from watcherlite.domain.templates.scope import Scope, Unfit
from watcherlite.domain.templates.texts import as_list


def get_param(given: Any, scope: Scope) -> Any:
    """Return a parameter, or what is at a path in it; empty text if nothing is."""
    name, *path = [given] if isinstance(given, str) else as_list(given, 'its path', 1)
    if not isinstance(name, str) or name not in scope.parameters:
        raise Unfit('there is no parameter of that name; name one of the template')
    value = scope.parameters[name]
    for step in path:
        try:
            value = _inside(value, step)
        except (LookupError, TypeError, ValueError, OverflowError):
            return ''
    return scope.made(value)


def _inside(value: Any, step: Any) -> Any:
    if isinstance(value, dict):
        return value[step] if isinstance(step, str) else value[str(step)]
    if isinstance(value, list):
        return value[int(step)]
    raise KeyError(step)


def get_resource(given: Any, scope: Scope) -> Any:
    """Return what a resource is called."""
    if not isinstance(given, str):
        raise Unfit(f'its argument is {kind(given)}; it must be the name of a resource')
    return scope.made(scope.references.reference(given))


def get_attr(given: Any, scope: Scope) -> Any:
    """Return an attribute of a resource, or what is at a path in it."""
    name, *path = [given] if isinstance(given, str) else as_list(given, 'its path', 1)
    if not isinstance(name, str):
        raise Unfit(f'it begins with {kind(name)}; it must be the name of a resource')
    if any(step is None for step in path):
        return None
    for step in path:
        if not isinstance(step, (str, int, float)):
            raise Unfit(f'a step of its path is {kind(step)}; it must be text')
    # Without an attribute it gives all of them.
    return scope.made(scope.references.attribute(name, path or ['show']))


def get_file(given: Any, scope: Scope) -> str:
    """Return the text of a file that came with the template."""
    if not isinstance(given, str):
        raise Unfit(f'its argument is {kind(given)}; it must be the name of a file')
    text = scope.files.get(given)
    if not isinstance(text, str):
        raise Unfit('there is no file of that name; send its text in files')
    scope.spend(len(text))
    return text
