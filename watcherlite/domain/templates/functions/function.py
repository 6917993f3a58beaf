"""Functions of templates, and the shapes of their arguments."""

import dataclasses
import enum
from collections.abc import Callable
from typing import Any

from watcherlite.domain.documents.json_values import kind
from watcherlite.domain.templates.nodes import Referent
from watcherlite.domain.templates.scope import Scope

#: Returns the problem of arguments that are not evaluated, or None.
Shape = Callable[[Any], str | None]


def any_shape(written: Any) -> str | None:
    """Accept all arguments: they are validated after the evaluation."""
    return None


def value_shape(usage: str) -> Shape:
    """Return the shape of one value, which is no list."""

    def check(written: Any) -> str | None:
        if not isinstance(written, list):
            return None
        return f'its argument is {kind(written)}; write {usage}'

    return check


def list_shape(usage: str, least: int, most: int | None = None) -> Shape:
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
            desired = f'{least} or more' if most is None else f'{least} to {most}'
            desired = str(least) if least == most else desired
            return f'it has {count} arguments, not {desired}; write {usage}'
        return None

    return check


def name_shape(usage: str) -> Shape:
    """Return the shape of a name, or a function for it."""

    def check(written: Any) -> str | None:
        if (isinstance(written, str) and written) or _is_function(written):
            return None
        return f'its argument is {kind(written)}, not a name; write {usage}'

    return check


def path_shape(usage: str, least: int) -> Shape:
    """Return the shape of a list that starts with a name.

    :param least: minimum length of the list; 1 also allows the name alone
    """
    as_list = list_shape(usage, least)

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


def mapping_shape(
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


def choice_shape(function: str, *allowed: str) -> Shape:
    """Return the shape of one of several constants."""

    def check(written: Any) -> str | None:
        if isinstance(written, str) and written in allowed:
            return None
        known = ', '.join(allowed)
        return f'Incorrect arguments to "{function}" should be one of: {known}'

    return check


class Operator(enum.Enum):
    """An operator on conditions, which the compiler evaluates as far as needed."""

    IF = 'if'
    NOT = 'not'
    AND = 'and'
    OR = 'or'


@dataclasses.dataclass(frozen=True, slots=True)
class Function:
    """A function of templates.

    :param shape: validates its arguments before they are evaluated
    :param call: evaluates it; None: it is an operator
    :param operator: see `Operator`
    :param since: the first version of its format with the function; '': the first one
    :param refers: the kind that its first argument names, or None
    :param pure: the result depends only on the arguments
    :param rewrite: returns the canonical form of its arguments
    :param otherwise: the function if its argument is not the name of a resource
    """

    name: str
    description: str
    shape: Shape
    call: Callable[[Any, Scope], Any] | None = None
    operator: Operator | None = None
    since: str = ''
    refers: Referent | None = None
    pure: bool = True
    rewrite: Callable[[Any], Any] | None = None
    otherwise: 'Function | None' = None
