"""Shapes: validation of the arguments of functions before they are evaluated."""

from collections.abc import Callable
from typing import Any

from watcherlite.domain.json_values import kind

#: Returns the problem of arguments that are not evaluated, or None.
Shape = Callable[[Any], str | None]


def anything(written: Any) -> str | None:
    """Accept everything: the evaluated argument is validated."""
    return None


def a_list(usage: str, least: int, most: int | None = None) -> Shape:
    """Return the shape of a list with a number of elements.

    :param usage: an example for the message
    """

    def check(written: Any) -> str | None:
        if isinstance(written, dict) and len(written) == 1:
            return None  # a function that may give one
        if not isinstance(written, list):
            return f'its arguments are {kind(written)}, not a list; write {usage}'
        count = len(written)
        if count < least or (most is not None and count > most):
            wanted = f'{least} or more' if most is None else f'{least} to {most}'
            wanted = str(least) if least == most else wanted
            return f'it has {count} arguments, not {wanted}; write {usage}'
        return None

    return check


def a_name(usage: str) -> Shape:
    """Return the shape of a name, or a function for it."""

    def check(written: Any) -> str | None:
        if (isinstance(written, str) and written) or _is_function(written):
            return None
        return f'its argument is {kind(written)}, not a name; write {usage}'

    return check


def a_path(usage: str, least: int) -> Shape:
    """Return the shape of a list that starts with a name.

    :param least: elements of the list; 1 allows the name alone, too
    """
    as_list = a_list(usage, least)

    def check(written: Any) -> str | None:
        if least == 1 and isinstance(written, str) and written:
            return None
        problem = as_list(written)
        if problem or not isinstance(written, list):
            return problem
        first = written[0]
        if (isinstance(first, str) and first) or _is_function(first):
            return None
        return f'the first argument is {kind(first)}, not a name; write {usage}'

    return check


def a_mapping(
    usage: str, required: tuple[str, ...], optional: tuple[str, ...] = ()
) -> Shape:
    """Return the shape of a mapping with these keys."""

    def check(written: Any) -> str | None:
        if not isinstance(written, dict):
            return f'its arguments are {kind(written)}, not a mapping; write {usage}'
        missing = [key for key in required if key not in written]
        known = (*required, *optional)
        unknown = sorted(str(key) for key in written if key not in known)
        if missing:
            return f'{", ".join(missing)} is missing; write {usage}'
        if unknown:
            return f'there is no {", ".join(unknown)}; known are {", ".join(known)}'
        return None

    return check


def _is_function(written: Any) -> bool:
    return isinstance(written, dict) and len(written) == 1
